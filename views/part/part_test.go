package part_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/part"
)

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func has(t *testing.T, html string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(html, p) {
			t.Errorf("%q is not in %s", p, html)
		}
	}
}

func TestPeople(t *testing.T) {
	t.Parallel()
	ada := &model.Account{ID: 7, Name: "ada", Kind: model.KindUser, DisplayName: `A "L"`}
	has(t, render(t, part.Person(ada)), `href="/ada"`, `src="/-/avatar/7"`, `title="A &#34;L&#34;"`)
	has(t, render(t, part.Person(nil)), "ghost")
	has(t, render(t, part.People([]*model.Account{ada, ada, ada}, 2)), "+1")
}

func TestReactions(t *testing.T) {
	t.Parallel()
	p := part.ReactionsProps{ID: "r", Action: "/x", ViewerID: 1, Reactions: []model.Reaction{{By: 1, Content: "+1"}, {By: 2, Content: "+1"}, {By: 2, Content: "heart"}, {By: 2, Content: "<x>"}}}
	html := render(t, part.Reactions(p))
	has(t, html, `aria-pressed="true" aria-label="2 reactions: thumbs up, yours among them"`, `aria-pressed="false" aria-label="1 reaction: heart"`)
	if strings.Contains(html, "<x>") {
		t.Error("an unknown reaction is shown")
	}
	p.ViewerID = 0
	if html := render(t, part.Reactions(p)); strings.Contains(html, "<form") || !strings.Contains(html, "2 reactions") {
		t.Errorf("strangers see %s", html)
	}
}

func TestPager(t *testing.T) {
	t.Parallel()
	has(t, render(t, part.Pager("/a/b/issues?q=x&page=2", 2, 25, 60)), `href="/a/b/issues?q=x"`, `href="/a/b/issues?page=3&amp;q=x"`, "Page 2 of 3")
	if html := render(t, part.Pager("/x", 1, 25, 25)); html != "" {
		t.Errorf("one page shows %s", html)
	}
	has(t, render(t, part.PagerMore("/x", 1, true)), `href="/x?page=2"`)
}

func TestStates(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		part.IssueState("open", "").Kind: "open", part.IssueState("closed", "not_planned").Kind: "closed-not-planned",
		part.IssueState("closed", "completed").Kind: "closed-done", part.PullState("closed", true, true).Kind: "merged",
		part.PullState("open", false, true).Kind: "draft", part.CheckState("error").Kind: "failure", part.CheckState("in_progress").Kind: "running",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
