package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// apiPrefix is where a server's API is.
const apiPrefix = "/api/v3"

var errNoToken = errors.New("not signed in")

// statusError is what the API refuses with.
type statusError struct {
	Status  int
	Message string
}

func (e *statusError) Error() string { return e.Message }

// client calls one server.
type client struct {
	host, user, token string
	http              *http.Client
}

// host is the server that the command is about.
func (t *tool) host() (string, error) {
	for _, s := range []string{t.hostFlag, os.Getenv("G1T_HOST")} {
		if s != "" {
			return cleanHost(s)
		}
	}
	v, err := t.store.load()
	if err != nil {
		return "", err
	}
	if h := remoteHost(v); h != "" {
		return h, nil
	}
	if v.Default == "" {
		return "", fmt.Errorf("%w: run g1t auth login --host https://your.server first", errNoToken)
	}
	return v.Default, nil
}

// client is for the server that the command is about, signed in.
func (t *tool) client() (*client, error) {
	host, err := t.host()
	if err != nil {
		return nil, err
	}
	c := newClient(host)
	if c.token = os.Getenv("G1T_TOKEN"); c.token != "" {
		return c, nil
	}
	entry, err := t.store.token(host)
	if errors.Is(err, errNoToken) {
		return nil, fmt.Errorf("%w; run g1t auth login --host %s", err, host)
	}
	c.user, c.token = entry.User, entry.Token
	return c, err
}

func newClient(host string) *client {
	// A wait for events takes up to 25 seconds.
	return &client{host: host, http: &http.Client{Timeout: 60 * time.Second, CheckRedirect: sameHost}}
}

// sameHost keeps the token from going elsewhere.
func sameHost(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("too many redirects")
	}
	if req.URL.Host != via[0].URL.Host {
		return fmt.Errorf("the server redirects to %s, where the token is not for", req.URL.Host)
	}
	return nil
}

// address is a path of the API as a whole address.
func (c *client) address(path string) (string, error) {
	if strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") {
		u, err := url.Parse(path)
		if err != nil {
			return "", err
		}
		if own, err := url.Parse(c.host); err != nil || u.Host != own.Host {
			return "", fmt.Errorf("%s is not on %s, where the token is for", path, c.host)
		}
		return path, nil
	}
	path = "/" + strings.TrimPrefix(path, "/")
	if !strings.HasPrefix(path, apiPrefix+"/") && path != apiPrefix {
		path = apiPrefix + path
	}
	return c.host + path, nil
}

// send makes a request and returns the answer whatever its status.
func (c *client) send(ctx context.Context, method, path string, body io.Reader, headers map[string]string) (*http.Response, error) {
	address, err := c.address(path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "g1t/"+version)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s does not answer: %w", c.host, errors.Unwrap(err))
	}
	return res, nil
}

// do calls the API with in as JSON, nil for none, and returns the answer's
// body and headers; a *statusError when it is refused.
func (c *client) do(ctx context.Context, method, path string, in any) (json.RawMessage, http.Header, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, nil, err
		}
		body = bytes.NewReader(b)
	}
	res, err := c.send(ctx, method, path, body, nil)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close() //nolint:errcheck // read whole below
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, nil, fmt.Errorf("the answer of %s broke off: %w", c.host, err)
	}
	if res.StatusCode >= 300 {
		return b, res.Header, refusal(res.StatusCode, b)
	}
	return b, res.Header, nil
}

// refusal puts the API's error into one line.
func refusal(status int, body []byte) *statusError {
	var doc struct {
		Message string `json:"message"`
		Errors  []struct {
			Field   string `json:"field"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	e := &statusError{Status: status, Message: http.StatusText(status)}
	if json.Unmarshal(body, &doc) == nil && doc.Message != "" {
		e.Message = doc.Message
		for _, f := range doc.Errors {
			if f.Message != "" {
				e.Message += "; " + strings.TrimSpace(f.Field+" "+f.Message)
			}
		}
	}
	switch status {
	case http.StatusUnauthorized:
		e.Message += " (the token is wrong or has ended; run g1t auth login)"
	case http.StatusNotFound:
		e.Message += " (it does not exist, or you may not see it)"
	}
	e.Message += " [HTTP " + strconv.Itoa(status) + "]"
	return e
}

// get reads the API's answer into dst and returns it as it came.
func (c *client) get(ctx context.Context, path string, dst any) (json.RawMessage, error) {
	b, _, err := c.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return b, json.Unmarshal(b, dst)
}

var nextLink = regexp.MustCompile(`<([^>]*)>;\s*rel="next"`)

// next is the address of the page after this one, "" at the last
// (RFC 8288).
func next(h http.Header) string {
	if m := nextLink.FindStringSubmatch(h.Get("Link")); m != nil {
		return m[1]
	}
	return ""
}

// list reads items page by page until there are limit of them.
func (c *client) list(ctx context.Context, path string, query url.Values, limit int) ([]json.RawMessage, error) {
	query.Set("per_page", strconv.Itoa(min(max(limit, 1), 100)))
	at := path + "?" + query.Encode()
	out := []json.RawMessage{}
	for at != "" && len(out) < limit {
		b, h, err := c.do(ctx, http.MethodGet, at, nil)
		if err != nil {
			return nil, err
		}
		var page []json.RawMessage
		if err := json.Unmarshal(b, &page); err != nil {
			return nil, err
		}
		out = append(out, page...)
		at = next(h)
	}
	return out[:min(len(out), limit)], nil
}

// decoded is each item as a T.
func decoded[T any](items []json.RawMessage) ([]T, error) {
	out := make([]T, len(items))
	for i, b := range items {
		if err := json.Unmarshal(b, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// joined is the items as one array.
func joined(items []json.RawMessage) json.RawMessage {
	b, _ := json.Marshal(items) // they came from JSON
	return b
}
