package live

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/gitfor/gitfor/db/model"
)

const (
	writeTimeout = 10 * time.Second
	// keepAlive is how often an idle line is used, so that proxies keep it.
	keepAlive = 50 * time.Second
	// maxWaiting bounds what waits for a socket that takes nothing.
	maxWaiting = 64
	// buffer is the size of a socket's buffers: messages are short, and most
	// sockets are idle.
	buffer = 512
)

// socket is one tab. It has one goroutine, which reads; another writes while
// there is something to write.
type socket struct {
	hub    *Hub
	ws     *websocket.Conn
	viewer *model.Viewer
	ctx    context.Context
	cancel context.CancelFunc
	topics map[string]bool
	out    [][]byte // under hub.mu
	busy   bool
}

// request is what a page sends.
type request struct {
	Subscribe   []string `json:"subscribe"`
	Unsubscribe []string `json:"unsubscribe"`
	Since       int64    `json:"since"`
	Age         int64    `json:"age"`
}

// small gives websocket buffers that fit its messages instead of the server's.
type small struct{ http.ResponseWriter }

// Hijack takes the connection over.
func (w small) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if n := rw.Reader.Buffered(); n > 0 {
		// The answer is out already, and the client was quick.
		early := make([]byte, n)
		if _, err := io.ReadFull(rw.Reader, early); err != nil {
			return nil, nil, err
		}
		conn = &begun{Conn: conn, early: early}
	}
	return conn, bufio.NewReadWriter(bufio.NewReaderSize(conn, buffer), bufio.NewWriterSize(conn, buffer)), nil
}

// begun is a connection of which something was read already.
type begun struct {
	net.Conn
	early []byte
}

// Read gives what was read already first.
func (c *begun) Read(b []byte) (int, error) {
	if len(c.early) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.early)
	if c.early = c.early[n:]; len(c.early) == 0 {
		c.early = nil
	}
	return n, nil
}

// Serve answers a WebSocket handshake and returns; the socket goes on by
// itself, so that nothing of the request is kept. hosts are origins that may
// connect beside the request's own.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, v *model.Viewer, hosts ...string) {
	ws, err := websocket.Accept(small{w}, r, &websocket.AcceptOptions{OriginPatterns: hosts, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // Accept has answered
	}
	ws.SetReadLimit(8 << 10)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.base == nil {
		_ = ws.CloseNow()
		return
	}
	ctx, cancel := context.WithCancel(h.base)
	s := &socket{hub: h, ws: ws, viewer: v, ctx: ctx, cancel: cancel, topics: map[string]bool{}}
	h.socks[s] = true
	go s.read()
}

func (s *socket) read() {
	defer s.gone()
	for {
		kind, text, err := s.ws.Read(s.ctx)
		if err != nil {
			return
		}
		var req request
		if kind != websocket.MessageText || json.Unmarshal(text, &req) != nil {
			_ = s.ws.Close(websocket.StatusPolicyViolation, "not understood")
			return
		}
		s.handle(req)
	}
}

func (s *socket) handle(req request) {
	s.hub.mu.Lock()
	for _, name := range req.Unsubscribe {
		s.hub.leave(s, name)
	}
	s.hub.mu.Unlock()
	if len(req.Subscribe) > maxTopics {
		req.Subscribe = req.Subscribe[:maxTopics]
	}
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	for _, name := range req.Subscribe {
		ok, present := s.hub.rules.Allow(ctx, s.viewer, name)
		if !ok {
			continue
		}
		s.hub.join(s, name, present)
		if req.Since <= 0 && req.Age <= 0 {
			continue
		}
		since := time.Now().Add(-min(time.Duration(req.Age)*time.Millisecond, time.Hour))
		if m, missed := s.hub.rules.Missed(ctx, name, req.Since, since); missed {
			if text, err := json.Marshal(m); err == nil {
				s.hub.mu.Lock()
				s.queue(text)
				s.hub.mu.Unlock()
			}
		}
	}
}

// queue sends text as soon as the socket takes it; the hub is locked. One that
// takes nothing is ended.
func (s *socket) queue(text []byte) {
	if len(s.out) >= maxWaiting {
		s.end()
		return
	}
	s.out = append(s.out, text)
	if !s.busy {
		s.busy = true
		go s.write()
	}
}

func (s *socket) write() {
	for {
		s.hub.mu.Lock()
		batch := s.out
		s.out = nil
		if len(batch) == 0 {
			s.busy = false
			s.hub.mu.Unlock()
			return
		}
		s.hub.mu.Unlock()
		for _, text := range batch {
			ctx, cancel := context.WithTimeout(s.ctx, writeTimeout)
			err := s.ws.Write(ctx, websocket.MessageText, text)
			cancel()
			if err != nil {
				s.end()
				return
			}
		}
	}
}

// end makes the socket's reader return.
func (s *socket) end() { s.cancel() }

// gone forgets the socket.
func (s *socket) gone() {
	s.cancel()
	s.hub.mu.Lock()
	delete(s.hub.socks, s)
	for name := range s.topics {
		s.hub.leave(s, name)
	}
	s.hub.mu.Unlock()
	_ = s.ws.CloseNow()
}

// Start lets sockets open and keeps idle lines in use.
func (h *Hub) Start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h.mu.Lock()
	h.base, h.stop = ctx, cancel
	h.mu.Unlock()
	go func() {
		tick := time.NewTicker(keepAlive)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				h.mu.Lock()
				for s := range h.socks {
					s.queue([]byte("{}"))
				}
				h.mu.Unlock()
			}
		}
	}()
	return nil
}

// Stop tells every tab that the server goes away; they come back by
// themselves.
func (h *Hub) Stop(ctx context.Context) error {
	h.mu.Lock()
	h.base = nil
	stop := h.stop
	socks := make([]*socket, 0, len(h.socks))
	for s := range h.socks {
		socks = append(socks, s)
	}
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range socks {
		wg.Go(func() {
			// The closing handshake waits for the other side: not for long.
			once, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			defer context.AfterFunc(once, s.cancel)()
			_ = s.ws.Close(websocket.StatusGoingAway, "restart")
			s.cancel()
		})
	}
	wg.Wait()
	if stop != nil {
		stop()
	}
	return nil
}
