package web

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/views/ui"
)

// crossOrigin is the fault for a form that another site sent.
func crossOrigin(err error) error {
	return fault.Wrap(fault.Forbidden, "This form was sent from another site, so nothing was done. Open the page here and send it again.", err)
}

// answered remembers the forms that were sent with an idempotency key, so
// that a double click makes one thing: the second waits for the first and
// gets its answer.
type answered struct {
	mu   sync.Mutex
	keys map[string]*answer
}

type answer struct {
	done     chan struct{}
	status   int
	location string
	at       time.Time
}

const answeredMax = 10_000

func newAnswered() *answered { return &answered{keys: map[string]*answer{}} }

// answeredElsewhere says that this form was sent before and its answer was
// given again.
func (c *Ctx) answeredElsewhere() bool {
	if c.Door != PageDoor || c.R.Method != http.MethodPost {
		return false
	}
	// guard has parsed the form.
	key := c.R.PostForm.Get(ui.IdempotencyField)
	if key == "" || len(key) > 100 {
		return false
	}
	key = fmt.Sprintf("%d %s %s", c.Viewer.ID(), c.R.URL.Path, key)
	return c.kit.answered.replay(c, key)
}

func (a *answered) replay(c *Ctx, key string) bool {
	a.mu.Lock()
	first, ok := a.keys[key]
	if !ok {
		first = &answer{done: make(chan struct{}), at: time.Now()}
		a.trim()
		a.keys[key] = first
		a.mu.Unlock()
		c.W = &recorder{ResponseWriter: c.W, finish: func(status int, location string) {
			a.finish(key, first, status, location)
		}}
		return false
	}
	a.mu.Unlock()
	select {
	case <-first.done:
	case <-c.Context().Done():
		return true
	}
	if first.location == "" {
		return false
	}
	_ = c.Redirect(first.location)
	return true
}

// finish keeps the answers that made something; a form that was refused may
// be sent again with the same key.
func (a *answered) finish(key string, first *answer, status int, location string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first.status, first.location = status, location
	if location == "" {
		delete(a.keys, key)
	}
	close(first.done)
}

func (a *answered) trim() {
	if len(a.keys) < answeredMax {
		return
	}
	limit := time.Now().Add(-10 * time.Minute)
	for k, v := range a.keys {
		if v.at.Before(limit) || len(a.keys) > answeredMax {
			delete(a.keys, k)
		}
	}
}

// recorder sees the answer's status and where it sends the browser.
type recorder struct {
	http.ResponseWriter
	finish func(status int, location string)
	once   sync.Once
}

func (r *recorder) WriteHeader(status int) {
	r.once.Do(func() {
		to := r.Header().Get("Location")
		if to == "" {
			to = r.Header().Get("HX-Redirect")
		}
		r.finish(status, to)
	})
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	r.once.Do(func() { r.finish(http.StatusOK, "") })
	return r.ResponseWriter.Write(b)
}

// end finishes for a handler that wrote nothing.
func (r *recorder) end() { r.once.Do(func() { r.finish(http.StatusOK, "") }) }

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
