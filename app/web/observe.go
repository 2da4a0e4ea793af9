package web

import (
	"net/http"
	"time"
)

// Observation is one answered request.
type Observation struct {
	Door    Door
	Pattern string // the route's, "" where none matched
	Method  string
	Status  int
	Took    time.Duration
	Queries int
}

// SetObserve sets who is told of each answered request.
func (k *Kit) SetObserve(f func(Observation)) { k.observe = f }

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
