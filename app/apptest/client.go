package apptest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/gitfor/gitfor/db/model"
)

// Client is one person's browser and API token. Methods fail the test only
// when the server cannot be reached.
type Client struct {
	Account *model.Account // nil for a stranger
	Token   string
	Jar     *Jar
	// Header is sent with every request.
	Header http.Header
	s      *Server
	t      testing.TB
}

func newClient(s *Server, account *model.Account) *Client {
	return &Client{Account: account, Jar: &Jar{m: map[string]string{}}, Header: http.Header{}, s: s, t: s.t}
}

// Jar holds a client's cookies.
type Jar struct{ m map[string]string }

func (j *Jar) set(name, value string) { j.m[name] = value }

// Set sets a cookie.
func (j *Jar) Set(name, value string) { j.set(name, value) }

// Cookies is a copy of the cookies by name.
func (j *Jar) Cookies() map[string]string { return maps.Clone(j.m) }

// Clear forgets all cookies.
func (j *Jar) Clear() { clear(j.m) }

func (j *Jar) take(res *http.Response) {
	for _, c := range res.Cookies() {
		if c.MaxAge < 0 {
			delete(j.m, c.Name)
		} else {
			j.m[c.Name] = c.Value
		}
	}
}

// Get asks for a page; redirects are not followed.
func (c *Client) Get(path string) *Response { c.t.Helper(); return c.page(http.MethodGet, path, nil) }

// HTMX asks for a part of a page, the element with the id target.
func (c *Client) HTMX(path, target string) *Response {
	c.t.Helper()
	return c.page(http.MethodGet, path, nil, "HX-Request", "true", "HX-Target", target)
}

// Post sends a form of pairs of name and value, as a browser does from a page
// of the site.
func (c *Client) Post(path string, pairs ...string) *Response {
	c.t.Helper()
	return c.page(http.MethodPost, path, Form(pairs...))
}

// PostForm is Post with a form that has repeated fields.
func (c *Client) PostForm(path string, form url.Values) *Response {
	c.t.Helper()
	return c.page(http.MethodPost, path, form)
}

// Form makes a form of pairs of name and value.
func Form(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}

func (c *Client) page(method, path string, form url.Values, headers ...string) *Response {
	c.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
		headers = append(headers, "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin",
			"Origin", c.s.URL)
	}
	return c.Do(method, path, body, headers...)
}

// JSON sends a document as a page's own script does, with the session's
// cookie.
func (c *Client) JSON(path string, in any) *Response {
	c.t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.Do(http.MethodPost, path, bytes.NewReader(b), "Content-Type", "application/json",
		"Sec-Fetch-Site", "same-origin", "Origin", c.s.URL)
}

// API calls an operation below /api/v3 with the client's token; in, unless
// nil, is sent as JSON.
func (c *Client) API(method, path string, in any) *Response {
	c.t.Helper()
	var body io.Reader
	headers := []string{"Accept", "application/vnd.github+json"}
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			c.t.Fatal(err)
		}
		body = bytes.NewReader(b)
		headers = append(headers, "Content-Type", "application/json")
	}
	if c.Token != "" {
		headers = append(headers, "Authorization", "Bearer "+c.Token)
	}
	return c.Do(method, "/api/v3"+path, body, headers...)
}

// Do sends a request with the client's cookies; headers are pairs of name
// and value. Redirects are not followed.
func (c *Client) Do(method, path string, body io.Reader, headers ...string) *Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.s.URL+path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if !strings.HasPrefix(path, "/api/") {
		for name, value := range c.Jar.m {
			req.AddCookie(&http.Cookie{Name: name, Value: value})
		}
	}
	// The transport keeps connections for the next request.
	res, err := c.s.Client().Transport.RoundTrip(req)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close() //nolint:errcheck // it was read to its end
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	c.Jar.take(res)
	return &Response{Status: res.StatusCode, Header: res.Header, Body: string(b), what: method + " " + path, t: c.t}
}

// Response is an answer.
type Response struct {
	Status int
	Header http.Header
	Body   string

	what string
	t    testing.TB
	doc  *goquery.Document
}

// Want fails the test when the status is another.
func (r *Response) Want(status int) *Response {
	r.t.Helper()
	if r.Status != status {
		body := r.Body
		if len(body) > 2000 {
			body = body[:2000] + "…"
		}
		r.t.Fatalf("%s: status %d, want %d\n%s", r.what, r.Status, status, body)
	}
	return r
}

// OK is Want(200).
func (r *Response) OK() *Response { r.t.Helper(); return r.Want(http.StatusOK) }

// Location is where the answer redirects to, without the server's address.
func (r *Response) Location() string { return r.Header.Get("Location") }

// Doc is the answer's HTML.
func (r *Response) Doc() *goquery.Document {
	r.t.Helper()
	if r.doc == nil {
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(r.Body))
		if err != nil {
			r.t.Fatalf("%s: %v", r.what, err)
		}
		r.doc = doc
	}
	return r.doc
}

// Find selects in the answer's HTML.
func (r *Response) Find(selector string) *goquery.Selection {
	r.t.Helper()
	return r.Doc().Find(selector)
}

// Text is the text of what selector finds, blanks made single.
func (r *Response) Text(selector string) string {
	r.t.Helper()
	return strings.Join(strings.Fields(r.Find(selector).Text()), " ")
}

// Has fails the test when the answer does not hold the text.
func (r *Response) Has(text string) *Response {
	r.t.Helper()
	if !strings.Contains(r.Body, text) {
		r.t.Errorf("%s: no %q in %.3000s", r.what, text, r.Body)
	}
	return r
}

// Into decodes the answer's JSON.
func (r *Response) Into(dst any) *Response {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.Body), dst); err != nil {
		r.t.Fatalf("%s: %v in %.500s", r.what, err, r.Body)
	}
	return r
}

// JSON decodes the answer's JSON object.
func (r *Response) JSON() map[string]any {
	r.t.Helper()
	m := map[string]any{}
	r.Into(&m)
	return m
}
