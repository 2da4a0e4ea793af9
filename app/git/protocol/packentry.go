package protocol

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// packEntry is one answer: its first bytes in memory, the rest in a file.
type packEntry struct {
	cache *PackCache
	repo  string
	key   fetchKey
	path  string

	// under cache.mu
	readers  int
	element  *list.Element
	finished time.Time
	weight   int64
	dropped  bool
	cancel   context.CancelCauseFunc

	mu      sync.Mutex
	head    []byte
	file    *os.File
	size    int64
	done    bool
	closed  bool
	err     error
	changed chan struct{} // closed and replaced when there is more
}

// Write appends to the answer. It is for the one who makes it.
func (e *packEntry) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return 0, errAbandoned
	}
	rest := p
	if room := packHead - len(e.head); room > 0 {
		n := min(room, len(rest))
		e.head = append(e.head, rest[:n]...)
		rest = rest[n:]
	}
	if len(rest) > 0 {
		if e.file == nil {
			f, err := os.OpenFile(e.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return 0, err
			}
			e.file = f
		}
		if _, err := e.file.Write(rest); err != nil {
			return 0, err
		}
	}
	e.size += int64(len(p))
	e.wake()
	return len(p), nil
}

// copySize is the size of the buffers through which packs go.
const copySize = 256 << 10

// ReadFrom is what io.Copy uses: larger steps than its own wake the readers
// less often.
func (e *packEntry) ReadFrom(r io.Reader) (n int64, err error) {
	buf := make([]byte, copySize)
	for {
		k, rerr := r.Read(buf)
		if k > 0 {
			if _, err := e.Write(buf[:k]); err != nil {
				return n, err
			}
			n += int64(k)
		}
		if errors.Is(rerr, io.EOF) {
			return n, nil
		}
		if rerr != nil {
			return n, rerr
		}
	}
}

// wake tells the readers that something changed; e.mu is held.
func (e *packEntry) wake() {
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *packEntry) finish(err error) {
	e.mu.Lock()
	e.done, e.err = true, err
	size := e.size
	e.wake()
	e.mu.Unlock()
	e.cache.keep(e, size, err)
}

// leave ends one reader's use. The last one to go ends the work.
func (e *packEntry) leave() {
	c := e.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	e.readers--
	if e.readers > 0 {
		return
	}
	e.mu.Lock()
	done := e.done
	e.mu.Unlock()
	if !done {
		e.cancel(errAbandoned)
		c.drop(e)
	} else if e.dropped {
		e.remove()
	}
}

// remove frees the file; no reader is left and cache.mu is held. A maker that
// still writes finds the file closed and stops.
func (e *packEntry) remove() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.file != nil {
		_ = e.file.Close()
		_ = os.Remove(e.path)
	}
}

// copyTo copies the answer to w as it grows. Before the first byte it calls
// start with the whole size, or -1 while the size is not known. It reports
// whether any byte was written, so that the caller may still send an error.
func (e *packEntry) copyTo(ctx context.Context, w io.Writer, start func(size int64)) (wrote bool, err error) {
	var off int64
	var buf []byte
	for {
		e.mu.Lock()
		size, head, file, done, err, changed := e.size, e.head, e.file, e.done, e.err, e.changed
		e.mu.Unlock()
		if off == 0 && (size > 0 || done) && (err == nil || size > 0) {
			whole := int64(-1)
			if done && err == nil {
				whole = size
			}
			start(whole)
		}
		if off < size {
			wrote = true
			n, werr := copyRange(w, head, file, off, size, &buf)
			off += n
			if werr != nil {
				return true, werr
			}
			continue
		}
		if done {
			return wrote, err
		}
		if f, ok := w.(flusher); ok && wrote {
			if err := f.FlushError(); err != nil {
				return true, err
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return wrote, context.Cause(ctx)
		}
	}
}

// copyRange writes the bytes from off to size. The buffer is made when it is
// needed and kept for the next time.
func copyRange(w io.Writer, head []byte, file *os.File, off, size int64, buf *[]byte) (n int64, err error) {
	if off < int64(len(head)) {
		k, err := w.Write(head[off:])
		if err != nil || off+int64(k) >= size {
			return int64(k), err
		}
		n = int64(k)
	}
	if *buf == nil {
		*buf = make([]byte, copySize)
	}
	for off+n < size {
		part := (*buf)[:min(copySize, size-off-n)]
		if _, err := file.ReadAt(part, off+n-packHead); err != nil {
			return n, fmt.Errorf("pack cache: %w", err)
		}
		k, err := w.Write(part)
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
