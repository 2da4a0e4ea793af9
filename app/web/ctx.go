package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/go-chi/chi/v5"
)

// Ctx is one request and what is known about it.
type Ctx struct {
	W http.ResponseWriter
	R *http.Request

	Door Door
	// Viewer is who the request acts for; nil for a stranger.
	Viewer *model.Viewer
	// Repo and Role are set by a repository's access check.
	Repo *model.Repo
	Role model.Role
	// Account is set by an account's access check: whose page it is.
	Account *model.Account
	// RequestID is in the log and on error pages.
	RequestID string
	// Usage is what the caller used of the hour's API requests.
	Usage Usage
	// Remote is the client's address, a trusted proxy's word considered.
	Remote string

	kit    *Kit
	origin *db.Origin
	stats  *db.Stats
	timing map[string]time.Duration
	flash  string
}

// Detached is a Ctx of no request, for code that makes the API's documents
// outside of one: it has the public address and no viewer.
func (k *Kit) Detached(ctx context.Context) *Ctx {
	r := (&http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/"}, Header: http.Header{}}).WithContext(ctx)
	return &Ctx{R: r, Door: APIDoor, kit: k}
}

// Context is the request's context.
func (c *Ctx) Context() context.Context { return c.R.Context() }

// Kit gives access to the kit's settings, such as the public address.
func (c *Ctx) Kit() *Kit { return c.kit }

// Param is a path parameter, unescaped once; "*" is the rest of the path.
func (c *Ctx) Param(name string) string {
	v := chi.URLParam(c.R, name)
	if c.R.URL.RawPath == "" {
		// The router saw the path unescaped already.
		return v
	}
	if u, err := url.PathUnescape(v); err == nil {
		return u
	}
	return v
}

// ParamInt is a path parameter that must be a positive number; anything else
// is a page that does not exist.
func (c *Ctx) ParamInt(name string) (int64, error) {
	n, err := strconv.ParseInt(c.Param(name), 10, 64)
	if err != nil || n <= 0 {
		return 0, db.ErrNotFound
	}
	return n, nil
}

// Query is a query parameter.
func (c *Ctx) Query(name string) string { return c.R.URL.Query().Get(name) }

// QueryInt is a numeric query parameter between low and high; def when it is
// absent or no number.
func (c *Ctx) QueryInt(name string, def, low, high int) int {
	n, err := strconv.Atoi(c.Query(name))
	if err != nil {
		return def
	}
	return min(max(n, low), high)
}

// HTMX says that htmx asks for a fragment.
func (c *Ctx) HTMX() bool {
	return c.R.Header.Get("HX-Request") == "true" && c.R.Header.Get("HX-Boosted") != "true" &&
		c.R.Header.Get("HX-History-Restore-Request") != "true"
}

// Target is the id of the element that htmx will replace.
func (c *Ctx) Target() string { return c.R.Header.Get("HX-Target") }

// Time adds the time until the returned function runs to a phase of the
// Server-Timing header, such as "git".
func (c *Ctx) Time(phase string) func() {
	start := time.Now()
	return func() {
		if c.timing == nil {
			c.timing = map[string]time.Duration{}
		}
		c.timing[phase] += time.Since(start)
	}
}

// Flash is the message that a redirect left for this page, shown once.
func (c *Ctx) Flash() string { return c.flash }

// Redirect sends a browser on with 303; htmx follows it as a whole page.
func (c *Ctx) Redirect(to string) error {
	if c.HTMX() {
		c.W.Header().Set("HX-Redirect", to)
		c.W.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(c.W, c.R, to, http.StatusSeeOther)
	return nil
}

// RedirectFlash is Redirect with a message for the next page.
func (c *Ctx) RedirectFlash(to, message string) error {
	c.setCookie("flash", url.QueryEscape(message), 60)
	return c.Redirect(to)
}

// Moved sends the client to a page's new address for good.
func (c *Ctx) Moved(to string) error {
	http.Redirect(c.W, c.R, to, http.StatusMovedPermanently)
	return nil
}

// ErrAnswered says that an access check has given the answer itself.
var ErrAnswered = errors.New("answered")

// MovedAway is Moved for an access check: it redirects and ends the request.
func (c *Ctx) MovedAway(to string) error {
	if c.R.Method != http.MethodGet && c.R.Method != http.MethodHead {
		http.Redirect(c.W, c.R, to, http.StatusPermanentRedirect)
		return ErrAnswered
	}
	_ = c.Moved(to)
	return ErrAnswered
}

// NoContent answers 204.
func (c *Ctx) NoContent() error {
	c.W.WriteHeader(http.StatusNoContent)
	return nil
}

// JSON answers with a document. GET answers carry an ETag, and 304 is sent
// when the client has it already.
func (c *Ctx) JSON(status int, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	h := c.W.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	c.timed(h)
	if status == http.StatusOK && (c.R.Method == http.MethodGet || c.R.Method == http.MethodHead) {
		return c.Bytes(b.Bytes())
	}
	c.W.WriteHeader(status)
	_, err := c.W.Write(b.Bytes())
	return err
}

// Text answers 200 with plain text.
func (c *Ctx) Text(s string) error {
	c.W.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := c.W.Write([]byte(s))
	return err
}

// Bytes answers 200 with b and a weak ETag of it, or 304 when the client has
// that already (RFC 9110, 13.1.2).
func (c *Ctx) Bytes(b []byte) error {
	etag := weakTag(b)
	h := c.W.Header()
	h.Set("ETag", etag)
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "private, max-age=0, must-revalidate")
	}
	for _, have := range strings.Split(c.R.Header.Get("If-None-Match"), ",") {
		if strings.TrimSpace(have) == etag {
			c.W.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	_, err := c.W.Write(b)
	return err
}

// Wants says that the Accept header prefers the media type.
func (c *Ctx) Wants(mediaType string) bool {
	return strings.Contains(c.R.Header.Get("Accept"), mediaType)
}

// URL is the public address of a root-relative path.
func (c *Ctx) URL(path string) string { return c.kit.cfg.URL + path }

// Forbid is the fault for a viewer who may see but not do this: strangers are
// asked to sign in.
func (c *Ctx) Forbid(message string) error {
	if !c.Viewer.SignedIn() {
		return fault.New(fault.Unauthorized, "Sign in first.")
	}
	return fault.New(fault.Forbidden, message)
}
