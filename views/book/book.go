// Package book is the storybook: one page that shows every component of
// views/ui and views/layout in every state, in every theme. It is served at
// /-/ui in development only.
package book

import (
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/static"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// Policy is the Content-Security-Policy that the pages are made for.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Story is one part of the book.
type Story struct {
	Key   string
	Title string
	About string
	Show  templ.Component
}

// Stories are all parts of the book in order; now is when it is looked at.
func Stories(now time.Time) []Story {
	return []Story{
		{"colour", "Colour", "Tokens by their Tailwind names.", colours()},
		{"type", "Type and icons", "Six sizes, three weights, one set of icons.", typography()},
		{"buttons", "Buttons", "One primary button in a form, at the left.", buttons()},
		{"forms", "Forms", "Label above, hint below, error in place of the hint.", forms()},
		{"composer", "Composer", "Write and Preview; Ctrl-Enter sends.", composers()},
		{"states", "States, badges and labels", "Always an icon and a word, never colour alone.", states()},
		{"navigation", "Navigation", "Tabs, menus, pages of a list.", navigation()},
		{"lists", "Lists and tables", "j and k move, x chooses, Enter opens.", lists(now)},
		{"thread", "Thread", "Events as small lines, comments as cards.", thread(now)},
		{"code", "Code", "Line numbers select; copying takes the code alone.", code()},
		{"diff", "Diff", "Unified and split, word by word.", diffs()},
		{"markdown", "Markdown", "For reading: 16/24, at most 80 characters.", markdown()},
		{"feedback", "Messages", "Alerts, toasts, progress, empty lists.", feedback(now)},
		{"danger", "Dangerous actions", "Their own zone, with typed confirmation.", danger()},
	}
}

// Handler serves the book: /-/ui with all stories, and the frames of
// views/layout at ?frame=. The parameter theme chooses the theme, diff=cb the
// diff colours that colour-blind readers can tell apart.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		p := layout.Props{
			Title: "Components", Theme: q.Get("theme"), DiffCB: q.Get("diff") == "cb", Path: r.URL.RequestURI(),
			Version: "1.0.0", RequestID: "0198f2a1-7c3d", NoIndex: true, Viewer: viewer(),
		}
		page, status := frame(p, q.Get("frame"))
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", Policy)
		w.WriteHeader(status)
		_ = page.Render(r.Context(), w) // the reader has gone; nothing to do
	})
}

// Server is the book with the files it needs, for a server of its own.
func Server() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(static.Prefix, static.Handler())
	mux.Handle(link.Book(), Handler())
	mux.Handle("GET "+link.Palette(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = paletteOptions(r.URL.Query().Get("q")).Render(r.Context(), w)
	}))
	mux.Handle("POST "+link.Preview(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = ui.Text(r.FormValue("text")).Render(r.Context(), w)
	}))
	mux.Handle(link.Drafts(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	mux.Handle("/{$}", http.RedirectHandler(link.Book(), http.StatusFound))
	return mux
}

// Frames are the keys of the frames that Handler shows.
func Frames() []string {
	return []string{"repo", "account", "settings", "auth", "admin", "404", "500", "landing", "stranger"}
}

func viewer() *layout.Viewer {
	return &layout.Viewer{ID: 1, Name: "ada", DisplayName: "Ada Lovelace", Admin: true, Unread: 3}
}
