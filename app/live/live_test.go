package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/gitfor/gitfor/db/model"
)

// start serves a hub at which "open" topics may be followed, "here" ones with
// presence, and "closed" ones until allowed is false.
func start(t *testing.T) (h *Hub, url string, allowed *atomic.Bool) {
	t.Helper()
	allowed = new(atomic.Bool)
	allowed.Store(true)
	h = NewHub(Rules{
		Allow: func(_ context.Context, _ *model.Viewer, topic string) (bool, bool) {
			kind, _, _ := strings.Cut(topic, ":")
			return kind == "open" || kind == "here" || kind == "closed" && allowed.Load(), kind == "here"
		},
		Missed: func(_ context.Context, topic string, seq int64, _ time.Time) (Message, bool) {
			return Message{Topic: topic, Seq: 50, Kind: "missed"}, seq < 50
		},
	})
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var v *model.Viewer
		if name := r.URL.Query().Get("as"); name != "" {
			v = &model.Viewer{Account: &model.Account{ID: int64(len(name)), Name: name}}
		}
		h.Serve(w, r, v)
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { _ = h.Stop(context.WithoutCancel(t.Context())) })
	return h, srv.URL, allowed
}

type tab struct {
	*testing.T
	ws *websocket.Conn
}

func dial(t *testing.T, url string) tab {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.CloseNow() })
	return tab{t, ws}
}

func (c tab) send(text string) {
	c.Helper()
	if err := c.ws.Write(c.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.Fatal(err)
	}
}

func (c tab) next() string {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), 15*time.Second)
	defer cancel()
	_, text, err := c.ws.Read(ctx)
	if err != nil {
		c.Fatal(err)
	}
	return string(text)
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	h, url, allowed := start(t)
	c := dial(t, url)
	c.send(`{"subscribe":["open:1","closed:1","secret:1"]}`)
	until(t, "subscribed", func() bool { return h.Followed("closed:1") })
	if h.Followed("secret:1") {
		t.Fatal("follows a topic that is not allowed")
	}
	// The first at once, what follows within a second as one message.
	begin := time.Now()
	for i := range 5 {
		h.Publish(Message{Topic: "open:1", Seq: int64(i + 1), Kind: "x"})
	}
	if got := c.next(); got != `{"topic":"open:1","seq":1,"kind":"x"}` || time.Since(begin) > 500*time.Millisecond {
		t.Errorf("first %s after %s", got, time.Since(begin))
	}
	if got := c.next(); got != `{"topic":"open:1","seq":5,"kind":"x"}` || time.Since(begin) < 900*time.Millisecond {
		t.Errorf("second %s after %s", got, time.Since(begin))
	}
	// Access that ended.
	allowed.Store(false)
	h.Recheck(t.Context(), func(topic string) bool { return topic == "closed:1" })
	if h.Followed("closed:1") {
		t.Error("still follows what it may not see")
	}
	c.send(`{"unsubscribe":["open:1"]}`)
	until(t, "unsubscribed", func() bool { return !h.Followed("open:1") })
	// Catching up after a broken line.
	c.send(`{"subscribe":["open:2"],"since":7}`)
	if got := c.next(); got != `{"topic":"open:2","seq":50,"kind":"missed"}` {
		t.Errorf("missed: %s", got)
	}
	c.send(`nonsense`)
	if _, _, err := c.ws.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("nonsense: %v", err)
	}
	until(t, "forgotten", func() bool { return h.Sockets() == 0 && !h.Followed("open:2") })
}

func TestPresence(t *testing.T) {
	t.Parallel()
	_, url, _ := start(t)
	a, b := dial(t, url+"?as=ann"), dial(t, url+"?as=robert")
	a.send(`{"subscribe":["here:1"]}`)
	want := func(c tab, names ...string) {
		t.Helper()
		for {
			var p presence
			if err := json.Unmarshal([]byte(c.next()), &p); err != nil {
				t.Fatal(err)
			}
			if len(p.Present) == len(names) {
				return
			}
		}
	}
	want(a, "ann")
	b.send(`{"subscribe":["here:1"]}`)
	want(a, "ann", "robert")
	want(b, "ann", "robert")
	_ = b.ws.Close(websocket.StatusNormalClosure, "")
	want(a, "ann")
}

func TestOriginsAndStop(t *testing.T) {
	t.Parallel()
	h, url, _ := start(t)
	_, res, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://evil.example"}}})
	if err == nil || res == nil || res.StatusCode != http.StatusForbidden {
		t.Fatalf("a foreign origin: %v", err)
	}
	c := dial(t, url)
	until(t, "open", func() bool { return h.Sockets() == 1 })
	closed := make(chan error, 1)
	go func() { _, _, err := c.ws.Read(t.Context()); closed <- err }()
	if err := h.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-closed; websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Fatalf("stop: %v", err)
	}
}

// TestIdleSockets holds an idle socket to 20 KB, its client's half included
// in what is measured but not counted.
func TestIdleSockets(t *testing.T) { //nolint:paralleltest // it measures the heap
	h, url, _ := start(t)
	const n = 400
	before := heap()
	for i := range n {
		dial(t, url).send(fmt.Sprintf(`{"subscribe":["open:%d"]}`, i%10))
	}
	until(t, "open", func() bool { return h.Sockets() == n && h.Followed("open:9") })
	each := (heap() - before) / n
	t.Logf("%d bytes a pair of sockets", each)
	// The client's half has the library's default buffers of 4 KB twice.
	if each > 20<<10+12<<10 {
		t.Errorf("%d bytes a pair of sockets", each)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
