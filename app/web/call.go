package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/go-chi/chi/v5"
)

// maxAnswer is how much of an operation's answer Call takes.
const maxAnswer = 4 << 20

// Answer is what an operation of the API answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Call runs an operation of the API within this process, with the credential
// of the request: its rights, its scopes and its hourly limit hold. path is
// below /api/v3 and escaped; in, unless nil, is sent as JSON.
func (c *Ctx) Call(method, path string, in any, accept string) (*Answer, error) {
	var body []byte
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = b
	}
	a, err := c.call(method, APIPrefix+path, body, accept)
	if err != nil {
		return nil, err
	}
	// A repository that was renamed is found under its old name.
	switch to := a.Header.Get("Location"); a.Status {
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if strings.HasPrefix(to, APIPrefix+"/") {
			return c.call(method, to, body, accept)
		}
	}
	return a, nil
}

func (c *Ctx) call(method, uri string, body []byte, accept string) (*Answer, error) {
	u, err := url.ParseRequestURI(uri)
	if err != nil {
		return nil, err
	}
	// The router takes a request that it has routed already for its own.
	ctx := context.WithValue(c.Context(), chi.RouteCtxKey, (*chi.Context)(nil))
	r := (&http.Request{Method: method, URL: u, Host: c.kit.host, RemoteAddr: c.R.RemoteAddr, Proto: c.R.Proto,
		ProtoMajor: c.R.ProtoMajor, ProtoMinor: c.R.ProtoMinor, Header: http.Header{}, RequestURI: uri,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body))}).WithContext(ctx)
	for _, name := range []string{"Authorization", "User-Agent", "X-Forwarded-For"} {
		if v := c.R.Header.Values(name); len(v) > 0 {
			r.Header[name] = v
		}
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	w := &answerWriter{header: http.Header{}}
	c.kit.mux.ServeHTTP(w, r)
	if w.over {
		return nil, fault.New(fault.TooLarge, "The answer is larger than 4 MB.")
	}
	return &Answer{Status: max(w.status, http.StatusOK), Header: w.header, Body: w.body.Bytes()}, nil
}

// answerWriter keeps an answer, up to a limit.
type answerWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
	over   bool
}

func (w *answerWriter) Header() http.Header { return w.header }

func (w *answerWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *answerWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.body.Len()+len(b) > maxAnswer {
		w.over = true
		return 0, io.ErrShortWrite
	}
	return w.body.Write(b)
}
