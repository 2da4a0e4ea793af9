package issues_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/model"
)

// commit puts a file into the repository by the API.
func commit(t *testing.T, c *apptest.Client, path, text, message, branch string) {
	t.Helper()
	in := map[string]any{"message": message, "content": base64.StdEncoding.EncodeToString([]byte(text))}
	if branch != "" {
		in["branch"] = branch
	}
	c.API(http.MethodPut, "/repos/ada/engine/contents/"+path, in).Want(http.StatusCreated)
}

// pushed calls the subscriber with the newest push, twice as a queue may.
func pushed(t *testing.T, s *apptest.Server) {
	t.Helper()
	var row struct {
		RepoID  int64  `bun:"repo_id"`
		ActorID int64  `bun:"actor_id"`
		Data    string `bun:"data"`
	}
	err := s.DB.Events().NewRaw("SELECT repo_id, actor_id, data::text AS data FROM events.incoming WHERE type = 'git.push' ORDER BY id DESC LIMIT 1").Scan(t.Context(), &row)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.App.Issues.OnPush(t.Context(), &model.Event{EventID: "evt_x", RepoID: row.RepoID, ActorID: row.ActorID, Data: json.RawMessage(row.Data)}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCommitsClose(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	for range 3 {
		post(ada, "x", "").Want(http.StatusSeeOther)
	}
	commit(t, ada, "a", "1", "Mend it\n\nFixes #1, and see #2. Closes #99.", "")
	pushed(t, s)
	page := ada.Get("/ada/engine/issues/1").OK().Has("closed this as completed")
	if page.Find("#timeline [id^=event-]").Length() != 1 {
		t.Errorf("lines: %s", page.Text("#timeline"))
	}
	if lines := ada.Get("/ada/engine/issues/2").OK().Has("referred to this in").Find("#timeline [id^=event-]").Length(); lines != 1 {
		t.Errorf("%d lines of one commit", lines)
	}
	// What is reopened stays open when the event comes again.
	ada.Post("/ada/engine/issues/1/comments", "body", "", "do", "reopen").Want(http.StatusSeeOther)
	pushed(t, s)
	if got := ada.API(http.MethodGet, "/repos/ada/engine/issues/1", nil).OK().JSON(); got["state"] != "open" {
		t.Errorf("closed again: %v", got["state"])
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	_, ada := hub(t)
	commit(t, ada, ".github/ISSUE_TEMPLATE/bug.md", "---\nname: Bug\nabout: What is broken\ntitle: 'Bug: '\nlabels: bug\n---\n\n## What happens\n", "add", "")
	commit(t, ada, ".github/ISSUE_TEMPLATE/form.yml", `name: Form
description: With fields
labels: [question]
body:
  - type: markdown
    attributes: {value: "**Read** this <script>x</script>"}
  - type: input
    id: version
    attributes: {label: Version}
    validations: {required: true}
  - type: dropdown
    id: where
    attributes: {label: Where, options: [here, there]}
  - type: textarea
    id: log
    attributes: {label: Log, render: shell}
  - type: checkboxes
    id: sure
    attributes:
      label: Sure
      options:
        - {label: I looked, required: true}
        - label: I asked
`, "add", "")
	commit(t, ada, ".github/ISSUE_TEMPLATE/config.yml", "blank_issues_enabled: true\ncontact_links:\n  - {name: Forum, url: 'https://forum.example', about: Talk}\n  - {name: Odd, url: 'javascript:alert(1)', about: No}\n", "add", "")
	commit(t, ada, ".github/ISSUE_TEMPLATE/broken.yml", "name: [", "add", "")
	page := ada.Get("/ada/engine/issues/new").OK().Has("What is broken").Has("With fields").Has("https://forum.example").Has("Blank issue")
	if page.Find(`a[href^="javascript"]`).Length() != 0 {
		t.Error("a script as a link")
	}
	form := ada.Get("/ada/engine/issues/new?template=bug.md").OK()
	if form.Find("[name=title]").AttrOr("value", "") != "Bug: " || form.Find("textarea[name=body]").Text() != "## What happens\n" {
		t.Errorf("Markdown template: %q", form.Find("textarea[name=body]").Text())
	}
	ada.Get("/ada/engine/issues/new?template=form.yml").OK().Has("<strong>Read</strong>").Has(`name="field-version"`)
	ada.Get("/ada/engine/issues/new?template=nope.yml").Want(http.StatusNotFound)
	r := ada.Post("/ada/engine/issues/new", "template", "form.yml", "title", "filled", "field-where", "there").Want(http.StatusUnprocessableEntity)
	r.Has("This is needed.").Has("must be ticked")
	if r.Find("[name=title]").AttrOr("value", "") != "filled" || r.Find("[name=field-where] [selected]").AttrOr("value", "") != "there" {
		t.Error("the filled form is lost")
	}
	ada.Post("/ada/engine/issues/new", "template", "form.yml", "title", "filled", "field-version", "1.2", "field-where", "there", "field-log", "a```b", "field-sure", "I looked").Want(http.StatusSeeOther)
	got := ada.API(http.MethodGet, "/repos/ada/engine/issues/1", nil).OK().JSON()
	want := "### Version\n\n1.2\n\n### Where\n\nthere\n\n### Log\n\n````shell\na```b\n````\n\n### Sure\n\n- [x] I looked\n- [ ] I asked"
	if got["body"] != want {
		t.Errorf("body %q, want %q", got["body"], want)
	}
}
