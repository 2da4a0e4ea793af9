package web

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// Page is an answer in HTML: the whole page, or the part of it that htmx asks
// for. A part is a component that the page is made of.
type Page struct {
	// Status is the HTTP status; 0 means 200.
	Status int
	// Title is the page's, without the product's name.
	Title string
	// Props are what the feature knows of the frame; the kit fills in the
	// viewer and the rest.
	Props layout.Props
	// Shell frames the body in a whole page.
	Shell layout.Shell
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
	h.Add("Vary", "HX-Request, HX-Target, Cookie")
	component := p.Body
	if !c.HTMX() {
		p.Props.Title = p.Title
		component = p.Shell(c.props(p.Props), p.Body)
	} else if part, ok := p.Parts[c.Target()]; ok {
		component = part()
	}
	body, err := c.render(component)
	if err != nil {
		return err
	}
	if p.Status == 0 || p.Status == http.StatusOK {
		c.timed(h)
		if c.R.Method == http.MethodGet || c.R.Method == http.MethodHead {
			return c.Bytes(body)
		}
	}
	if p.Status != 0 {
		c.W.WriteHeader(p.Status)
	}
	_, err = c.W.Write(body)
	return err
}

// render makes the HTML into a buffer, so that a failure still can become an
// error page.
func (c *Ctx) render(component templ.Component) ([]byte, error) {
	start := time.Now()
	var b bytes.Buffer
	if err := component.Render(c.Context(), &b); err != nil {
		return nil, err
	}
	if c.timing == nil {
		c.timing = map[string]time.Duration{}
	}
	c.timing["render"] += time.Since(start)
	c.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	return b.Bytes(), nil
}

// props fills in what every page shows.
func (c *Ctx) props(p layout.Props) layout.Props {
	p.Path, p.RequestID, p.Version = c.R.URL.RequestURI(), c.RequestID, c.kit.cfg.Version
	if c.flash != "" {
		p.Flash = &layout.Flash{Kind: "info", Text: c.flash}
	}
	if c.kit.notice != nil {
		p.Announce, p.NoSignup = c.kit.notice(c.Context())
	}
	v := c.Viewer
	if !v.SignedIn() || v.User == nil {
		return p
	}
	p.Viewer = &layout.Viewer{ID: v.ID(), Name: v.Account.Name, DisplayName: v.Account.DisplayName,
		AvatarURL: Avatar(v.Account), Admin: v.Admin()}
	if c.kit.unread != nil {
		p.Viewer.Unread = c.kit.unread(c.Context(), v.ID())
	}
	p.Theme = v.User.Theme
	p.DiffCB, _ = v.Account.Settings["diff_cb"].(bool)
	return p
}

// Avatar is the address of an account's picture.
func Avatar(a *model.Account) string { return link.Avatar(a.ID) }

// SetUnread sets how the inbox badge is counted; the count must come from
// memory or one cheap query.
func (k *Kit) SetUnread(f func(ctx context.Context, accountID int64) int) { k.unread = f }

// SetNotice sets where the operator's announcement and whether sign-up is
// closed come from; both from memory.
func (k *Kit) SetNotice(f func(ctx context.Context) (announce string, noSignup bool)) { k.notice = f }

// errorPage shows a fault to a browser: a whole page, or for htmx a message at
// the edge of the page, so that what is on it stays.
func (c *Ctx) errorPage(f *fault.Fault) error {
	status := f.Kind.Status()
	component := layout.Error(c.props(layout.Props{Title: http.StatusText(status), NoIndex: true}), layout.ErrorProps{
		Status: status, Title: f.Message, Advice: advice(f)})
	if c.HTMX() {
		c.W.Header().Set("HX-Retarget", "#toasts")
		c.W.Header().Set("HX-Reswap", "beforeend")
		component = ui.Toast("danger", f.Error())
	}
	body, err := c.render(component)
	if err != nil {
		return err
	}
	c.W.WriteHeader(status)
	_, err = c.W.Write(body)
	return err
}

// advice is what a person can do about a fault.
func advice(f *fault.Fault) string {
	switch f.Kind {
	case fault.NotFound:
		return "Check the address. If it is private, sign in with an account that has access."
	case fault.Forbidden:
		return "Ask an administrator of the repository or organisation for access."
	case fault.Unavailable:
		return "Wait a moment and load the page again."
	case fault.Internal:
		return "Try again. If it happens again, tell the operator the request’s number."
	case fault.RateLimited:
		return "Wait a little before you try again."
	case fault.Invalid, fault.Conflict, fault.TooLarge, fault.BadRequest:
		return "Go back, change it and send it again."
	}
	return ""
}
