package protocol

import (
	"io"
	"sync"
	"time"
)

// The bands of the side-band-64k capability.
const (
	bandData     = 1
	bandProgress = 2
	bandError    = 3
)

// sideband multiplexes an answer and its progress into one stream. While it is
// held, what is said in progress waits: an HTTP/1 client reads nothing before
// it has sent its whole request.
type sideband struct {
	mu   sync.Mutex
	w    io.Writer
	max  int
	held bool
	wait []byte
	err  error
	last time.Time
}

// newSideband returns a multiplexer with pkt-lines of at most size bytes: 1000
// for side-band, 65520 for side-band-64k.
func newSideband(w io.Writer, size int) *sideband {
	return &sideband{w: w, max: size - 5, last: time.Now()}
}

// heldMost bounds the progress that waits; what comes after it is dropped.
const heldMost = 256 << 10

func (s *sideband) send(band byte, p []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held && len(s.wait)+len(p) > heldMost {
		return nil
	}
	out := s.wait
	s.wait = nil
	for len(p) > 0 {
		n := min(len(p), s.max)
		out = append(appendLength(out, n+5), band)
		out = append(out, p[:n]...)
		p = p[n:]
	}
	if s.held {
		s.wait = out
		return nil
	}
	return s.flush(out)
}

// flush writes out; the lock is held.
func (s *sideband) flush(out []byte) error {
	if s.err == nil && len(out) > 0 {
		s.last = time.Now()
		_, s.err = s.w.Write(out)
		if f, ok := s.w.(flusher); ok && s.err == nil {
			s.err = f.FlushError()
		}
	}
	return s.err
}

// flusher is what net/http's writers offer to push out what is buffered.
type flusher interface{ FlushError() error }

func (s *sideband) hold() {
	s.mu.Lock()
	s.held = true
	s.mu.Unlock()
}

func (s *sideband) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = false
	out := s.wait
	s.wait = nil
	_ = s.flush(out)
}

// end writes the flush packet that ends the stream.
func (s *sideband) end() error {
	s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush([]byte("0000"))
}

// keepAlive sends an empty packet whenever nothing was said for d, until stop
// is called: proxies and firewalls cut connections that are silent.
func (s *sideband) keepAlive(d time.Duration) (stop func()) {
	if d <= 0 {
		return func() {}
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				s.mu.Lock()
				if !s.held && time.Since(s.last) >= d {
					_ = s.flush([]byte("0005\x01"))
				}
				s.mu.Unlock()
			}
		}
	}()
	return func() { close(quit); <-gone }
}

// band is an io.Writer to one band of s.
type band struct {
	s *sideband
	n byte
}

func (b band) Write(p []byte) (int, error) {
	if err := b.s.send(b.n, p); err != nil {
		return 0, err
	}
	return len(p), nil
}
