package protocol

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// responseWriter moves the connection's deadlines on with each read and write,
// so that a slow transfer may last and a dead one ends.
type responseWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	wrote   bool
	moved   time.Time
}

func (h *HTTP) writer(w http.ResponseWriter) *responseWriter {
	out := &responseWriter{w: w, control: http.NewResponseController(w), stall: or(h.Stall, 2*time.Minute)}
	out.touch()
	return out
}

// touch gives the client anew the time to take something.
func (o *responseWriter) touch() {
	if now := time.Now(); now.Sub(o.moved) > o.stall/8 {
		o.moved = now
		_ = o.control.SetWriteDeadline(now.Add(o.stall))
	}
}

// Write sends p in parts that a slow client takes within the time.
func (o *responseWriter) Write(p []byte) (int, error) {
	const part = 256 << 10
	o.wrote = true
	n := 0
	for {
		o.touch()
		k, err := o.w.Write(p[n:min(len(p), n+part)])
		n += k
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// FlushError sends what is buffered.
func (o *responseWriter) FlushError() error {
	o.touch()
	return o.control.Flush()
}

// SetSize is called before the first byte when the size is known.
func (o *responseWriter) SetSize(n int64) {
	if !o.wrote {
		o.w.Header().Set("Content-Length", strconv.FormatInt(n, 10))
	}
}

// bodyReader gives the client anew the time to send something with each read.
// At the end the deadline is taken away: net/http reads on to notice that the
// client goes.
type bodyReader struct {
	io.ReadCloser
	control *http.ResponseController
	stall   time.Duration
	moved   time.Time
}

func (b *bodyReader) Read(p []byte) (int, error) {
	if now := time.Now(); now.Sub(b.moved) > b.stall/8 {
		b.moved = now
		_ = b.control.SetReadDeadline(now.Add(b.stall))
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
