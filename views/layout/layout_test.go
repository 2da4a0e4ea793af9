package layout_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/ui"
)

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestStrangersMayComeBack(t *testing.T) {
	t.Parallel()
	html := render(t, layout.Site(layout.Props{Path: "/a/b?x=1&y=2"}, ui.Text("body")))
	for _, want := range []string{`href="/login?next=%2Fa%2Fb%3Fx%3D1%26y%3D2"`, `href="/signup"`, `data-theme="system"`, "<title>gitfor</title>", `<main id="main"`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s", want)
		}
	}
	if html := render(t, layout.Site(layout.Props{NoSignup: true}, ui.Text("body"))); strings.Contains(html, "/signup") {
		t.Error("sign-up is offered while it is closed")
	}
}

func TestViewerFlashAndTheme(t *testing.T) {
	t.Parallel()
	p := layout.Props{Title: "A <b>", Theme: "dark", DiffCB: true, Flash: &layout.Flash{Kind: "success", Text: "Saved <i>"},
		Viewer: &layout.Viewer{Name: "ada", Unread: 1204}, LiveTopics: []string{"thread:1:5"}}
	html := render(t, layout.Site(p, ui.Text("body")))
	for _, want := range []string{`data-theme="dark"`, `data-diff="cb"`, "<title>A &lt;b&gt; · gitfor</title>", "Saved &lt;i&gt;", `aria-label="Inbox, 1,204 unread"`, ">1.2k<", `data-live-topic="thread:1:5"`, `action="/logout"`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(html, `href="/admin"`) {
		t.Error("administration is offered to everyone")
	}
	if html := render(t, layout.Site(layout.Props{Theme: `"><script>`}, ui.Text(""))); !strings.Contains(html, `data-theme="system"`) {
		t.Error("an unknown theme is taken as it is")
	}
}

func TestRepoShowsItsStateAndTabs(t *testing.T) {
	t.Parallel()
	r := layout.RepoProps{ID: 7, Owner: "ada", Name: "engine", Private: true, Archived: true, Active: "issues", Tabs: layout.RepoTabs("ada", "engine", map[string]int{"code": 0, "issues": 12})}
	html := render(t, layout.Repo(layout.Props{}, r, ui.Text("body")))
	for _, want := range []string{"Private", "This repository is archived", `href="/ada/engine/issues" aria-current="page"`, `data-live-topic="repo:7"`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(html, "Pull requests") {
		t.Error("a tab that is off is shown")
	}
}

// Each error says what happened, what to do, and its request.
func TestErrors(t *testing.T) {
	t.Parallel()
	for status := 400; status < 600; status++ {
		if http.StatusText(status) == "" {
			continue
		}
		html := render(t, layout.Error(layout.Props{RequestID: "req-1", Path: "/x"}, layout.ErrorProps{Status: status}))
		if !strings.Contains(html, "req-1") || !strings.Contains(html, "<h1") || !strings.Contains(html, "noindex") {
			t.Errorf("%d: %s", status, html)
		}
	}
	html := render(t, layout.Error(layout.Props{}, layout.ErrorProps{Status: 409, Title: "Taken <x>", Advice: "Choose another."}))
	if !strings.Contains(html, "Taken &lt;x&gt;") || !strings.Contains(html, "Choose another.") {
		t.Error("what the page was told is not shown")
	}
}
