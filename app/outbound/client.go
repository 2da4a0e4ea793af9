package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ErrRedirect says that the other side wants to send us elsewhere and the
// call does not follow.
var ErrRedirect = errors.New("the answer is a redirect, which is not followed")

// MaxRedirects is how many hops a call that follows redirects takes.
const MaxRedirects = 5

// Limits bound one call.
type Limits struct {
	// Timeout is for the whole call, the body included; 0 is 10 seconds.
	Timeout time.Duration
	// Body is how many bytes of the answer are read; 0 is 64 KB. The rest
	// is not fetched.
	Body int64
	// Follow follows redirects of GET and HEAD, each hop checked anew.
	Follow bool
}

// Answer is what the other side said.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// Cut says that the body was longer than the limit.
	Cut bool
}

// Client calls through a Guard. It takes no proxy from the environment and
// keeps no cookies.
type Client struct {
	guard *Guard
	http  *http.Client
}

// NewClient makes a client.
func NewClient(g *Guard) *Client {
	c := &Client{guard: g}
	c.http = &http.Client{
		Transport: c.Transport(),
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	return c
}

// Transport is a new transport behind the guard, for libraries that bring
// their own client.
func (c *Client) Transport() *http.Transport {
	return &http.Transport{
		Proxy: nil, DialContext: c.guard.DialContext,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: 30 * time.Second, ExpectContinueTimeout: time.Second,
		MaxIdleConns: 100, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true, DisableCompression: true,
	}
}

// CheckURL says what is wrong with an address before it is kept: only http and
// https, with a host and no credentials. Whether it may be reached is decided
// when it is.
func CheckURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || len(raw) > 2048:
		return errors.New("this is no address")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("only http and https addresses can be called")
	case u.Hostname() == "":
		return errors.New("the address has no host")
	case u.User != nil:
		return errors.New("the address must not hold a user name or password")
	}
	return nil
}

// Do sends a request and reads the answer within the limits. The request's
// body must be re-readable (GetBody) where redirects are followed.
func (c *Client) Do(req *http.Request, l Limits) (*Answer, error) {
	if l.Timeout <= 0 {
		l.Timeout = 10 * time.Second
	}
	if l.Body <= 0 {
		l.Body = 64 << 10
	}
	ctx, cancel := context.WithTimeout(req.Context(), l.Timeout)
	defer cancel()
	req = req.WithContext(ctx)
	for hop := 0; ; hop++ {
		if err := CheckURL(req.URL.String()); err != nil {
			return nil, err
		}
		res, err := c.http.Do(req)
		if err != nil {
			return nil, plain(err)
		}
		next, redirected := target(res)
		if !redirected || !l.Follow {
			return read(res, l.Body)
		}
		_ = res.Body.Close()
		if hop == MaxRedirects {
			return nil, fmt.Errorf("more than %d redirects", MaxRedirects)
		}
		if req, err = hopTo(req, next); err != nil {
			return nil, err
		}
	}
}

func target(res *http.Response) (*url.URL, bool) {
	if res.StatusCode < 300 || res.StatusCode > 399 || res.StatusCode == http.StatusNotModified {
		return nil, false
	}
	u, err := res.Location()
	return u, err == nil
}

// hopTo is the request that follows a redirect: credentials go only to the
// host they were meant for.
func hopTo(req *http.Request, to *url.URL) (*http.Request, error) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		return nil, ErrRedirect
	}
	next, err := http.NewRequestWithContext(req.Context(), req.Method, to.String(), nil)
	if err != nil {
		return nil, err
	}
	next.Header = req.Header.Clone()
	if !strings.EqualFold(to.Host, req.URL.Host) || to.Scheme != req.URL.Scheme {
		next.Header.Del("Authorization")
		next.Header.Del("Cookie")
	}
	return next, nil
}

func read(res *http.Response, limit int64) (*Answer, error) {
	defer res.Body.Close() //nolint:errcheck // only read
	a := &Answer{Status: res.StatusCode, Header: res.Header}
	body, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if int64(len(body)) > limit {
		body, a.Cut = body[:limit], true
	}
	a.Body = body
	if err != nil {
		return a, plain(err)
	}
	return a, nil
}

// plain takes the address out of the errors of net/http: it is known, and may
// hold a secret.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		if u.Timeout() {
			return fmt.Errorf("timed out: %w", u.Err)
		}
		return u.Err
	}
	return err
}
