package web

import (
	"bytes"
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/fault"
)

// Shell puts a page's body into the frame around it.
type Shell func(c *Ctx, body templ.Component) templ.Component

// Page is an answer in HTML: the whole page, or the part of it that htmx asks
// for. A part is a component that the page is made of.
type Page struct {
	// Status is the HTTP status; 0 means 200.
	Status int
	// Shell frames the body in a whole page.
	Shell Shell
	// Body is the page without its frame.
	Body templ.Component
	// Parts are the swap targets of the page by their element ids. They are
	// closures, so what a part needs is read only when it is asked for.
	Parts map[string]func() templ.Component
}

// Render answers with a page: to a plain request the whole of it; to htmx the
// part named by HX-Target, or the body.
func (c *Ctx) Render(p Page) error {
	h := c.W.Header()
	h.Add("Vary", "HX-Request")
	h.Add("Vary", "HX-Target")
	h.Add("Vary", "Cookie")
	component := p.Body
	if !c.HTMX() {
		component = p.Shell(c, p.Body)
	} else if part, ok := p.Parts[c.Target()]; ok {
		component = part()
	}
	start := time.Now()
	var b bytes.Buffer
	if err := component.Render(c.Context(), &b); err != nil {
		return err
	}
	if c.timing == nil {
		c.timing = map[string]time.Duration{}
	}
	c.timing["render"] += time.Since(start)
	h.Set("Content-Type", "text/html; charset=utf-8")
	if p.Status == 0 || p.Status == http.StatusOK {
		c.timed(h)
		if c.R.Method == http.MethodGet || c.R.Method == http.MethodHead {
			return c.Bytes(b.Bytes())
		}
	}
	if p.Status != 0 {
		c.W.WriteHeader(p.Status)
	}
	_, err := c.W.Write(b.Bytes())
	return err
}

// ErrorPage makes the page, or the fragment, that shows a fault.
type ErrorPage func(c *Ctx, f *fault.Fault) templ.Component

// SetErrorPage sets how faults look to a browser.
func (k *Kit) SetErrorPage(p ErrorPage) { k.errorPage = p }

func (c *Ctx) errorPage(f *fault.Fault) error {
	if c.HTMX() {
		// A fragment that could not be made becomes a message at the edge
		// of the page; what is on it stays.
		c.W.Header().Set("HX-Retarget", "#toasts")
		c.W.Header().Set("HX-Reswap", "beforeend")
	}
	var b bytes.Buffer
	if err := c.kit.errorPage(c, f).Render(c.Context(), &b); err != nil {
		return err
	}
	c.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.W.WriteHeader(f.Kind.Status())
	_, err := c.W.Write(b.Bytes())
	return err
}
