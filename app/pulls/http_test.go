package pulls_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/apptest/browser"
)

var queryCount = regexp.MustCompile(`desc="(\d+) queries"`)

// queries is how many statements an answer took.
func queries(t *testing.T, r *apptest.Response) int {
	t.Helper()
	m := queryCount.FindStringSubmatch(r.Header.Get("Server-Timing"))
	if m == nil {
		t.Fatalf("Server-Timing %q", r.Header.Get("Server-Timing"))
	}
	n, err := strconv.Atoi(m[1])
	check(t, err)
	return n
}

// form is what the browser would send from the form at action: its fields as
// they are.
func form(r *apptest.Response, action string) url.Values {
	v := url.Values{}
	r.Find(`form[action="` + action + `"]`).First().Find("input[name], textarea[name]").Each(func(_ int, s *selection) {
		if kind, _ := s.Attr("type"); kind == "checkbox" {
			return
		}
		name, _ := s.Attr("name")
		value, _ := s.Attr("value")
		if s.Is("textarea") {
			value = s.Text()
		}
		v.Add(name, value)
	})
	return v
}

// All of it in a browser without JavaScript: comparing, opening, reading,
// merging.
func TestPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("fast", "make it fast\n\nBecause it was slow.", "a.txt", lines(1, 59)+"faster\n")
	b.push("fast")
	compare := b.ada.Get("/ada/engine/compare/main...fast").OK()
	in := form(compare, "/ada/engine/pulls")
	if in.Get("title") != "make it fast" || in.Get("body") != "Because it was slow." {
		t.Fatalf("suggested %v", in)
	}
	in.Set("title", "")
	refused := b.ada.PostForm("/ada/engine/pulls", in).Want(http.StatusUnprocessableEntity)
	if kept := form(refused, "/ada/engine/pulls"); kept.Get("body") != "Because it was slow." || kept.Get("idempotency_key") != in.Get("idempotency_key") {
		t.Errorf("kept %v of %v", kept, in)
	}
	in.Set("title", "Fast <b>")
	// A double click makes one.
	for range 2 {
		if to := b.ada.PostForm("/ada/engine/pulls", in).Want(http.StatusSeeOther).Location(); to != "/ada/engine/pull/1" {
			t.Fatalf("opened at %s", to)
		}
	}
	// The first look takes up what has arrived in the inbox.
	b.ada.Get("/ada/engine/pull/1").OK()
	page := b.ada.Get("/ada/engine/pull/1").OK().Has("Fast &lt;b&gt;").Has("There are no conflicts with main.")
	if n := queries(t, page); n > 12 {
		t.Errorf("conversation: %d queries", n)
	}
	b.ada.Get("/ada/engine/pulls").OK().Has("Fast &lt;b&gt;")
	b.ada.Get("/ada/engine/compare/main...fast").OK().Has("View #1")
	b.ada.Get("/ada/engine/pull/1/commits").OK().Has("make it fast")
	files := b.ada.Get("/ada/engine/pull/1/files").OK().Has("faster")
	if n := queries(t, files); n > 10 {
		t.Errorf("files: %d queries", n)
	}
	b.ada.Get("/ada/engine/pull/1.diff").OK().Has("+faster")
	b.ada.Get("/ada/engine/pull/1.patch").OK().Has("Subject: [PATCH] make it fast")
	b.Anon().Get("/ada/engine/pull/1").OK().Has("People with write access")
	b.ada.Get("/ada/engine/pull/1?method=rebase").OK().Has("Rebase and merge")
	squash := b.ada.Get("/ada/engine/pull/1?method=squash").OK()
	in = form(squash, "/ada/engine/pull/1/merge")
	if in.Get("title") != "Fast <b> (#1)" || in.Get("message") != "Because it was slow." || in.Get("method") != "squash" {
		t.Errorf("suggested for squashing %v", in)
	}
	stale := url.Values{}
	for k, v := range in {
		stale[k] = v
	}
	stale.Set("sha", strings.Repeat("1", 40))
	stale.Set("title", "My own words")
	b.ada.PostForm("/ada/engine/pull/1/merge", stale).Want(http.StatusConflict).Has("Head branch was modified").Has("My own words")
	in = form(b.ada.Get("/ada/engine/pull/1?method=squash").OK(), "/ada/engine/pull/1/merge")
	b.ada.PostForm("/ada/engine/pull/1/merge", in).Want(http.StatusSeeOther)
	b.ada.Get("/ada/engine/pull/1").OK().Has("Merged").Has("Delete branch")
	b.ada.Post("/ada/engine/pull/1/branch/delete").Want(http.StatusSeeOther)
	if tip := b.remoteTip("refs/heads/fast"); tip != "" {
		t.Errorf("branch is still at %s", tip)
	}
	b.ada.Get("/ada/engine/pull/1").OK().Has("Restore branch")
	b.ada.Post("/ada/engine/pull/1/branch/restore").Want(http.StatusSeeOther)
	if tip := b.remoteTip("refs/heads/fast"); tip != b.git("rev-parse", "fast") {
		t.Errorf("branch is at %q", tip)
	}
	b.ada.Get("/ada/engine/pull/1/files").OK().Has("faster")
}

func TestUpdateBranchAndDraft(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("topic", "one", "b.txt", "one\n")
	b.git("switch", "-q", "main")
	b.commit("main", "meanwhile", "c.txt", "c\n")
	b.push("main", "topic")
	n := b.open("topic", "main", "draft", true)
	at := fmt.Sprintf("/ada/engine/pull/%d", n)
	b.ada.Get(at).OK().Has("still a draft").Has("Update branch")
	b.ada.Post(at+"/draft", "draft", "false").Want(http.StatusSeeOther)
	b.ada.Post(at + "/update").Want(http.StatusSeeOther)
	if got := b.show("topic", "c.txt"); got != "c" {
		t.Errorf("c.txt on topic: %q", got)
	}
	p := b.pull(n)
	if p["draft"] != false || p["commits"] != 2.0 || p["changed_files"] != 1.0 {
		t.Errorf("draft %v, commits %v, files %v", p["draft"], p["commits"], p["changed_files"])
	}
	b.ada.Get(at + "/commits").OK().Has("2 rounds")
	b.ada.Get(at).OK().Has("what changed").Has("from=1&amp;round=2")
	b.ada.Get(at + "/files?from=1&round=2").OK().Has("Nothing differs")
	b.ada.Get(at + "/files?round=1").OK().Has("not the newest")
}

// TestLooks opens each page in a browser, at both widths and in both colours.
func TestLooks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ada.API(http.MethodPost, "/repos/ada/engine/issues", map[string]any{"title": "It is slow"}).Want(http.StatusCreated)
	b.commit("fast", "Count in one pass\n\nFixes #1", "count.go", "package count\n\n// Count counts words.\nfunc Count(s string) int {\n\treturn len(s)\n}\n", "a.txt", lines(1, 59)+"faster\n")
	b.commit("fast", "Say so in the notes", "NOTES.md", "# Notes\n\nIt is fast.\n")
	b.git("switch", "-q", "main")
	b.commit("main", "meanwhile", "other.txt", "x\n")
	b.commit("clash", "clash", "README.md", "# Motor\n")
	b.git("switch", "-q", "main")
	b.commit("main", "engine", "README.md", "# Engine No. 1\n")
	b.git("push", "-q", "origin", "fast", "clash", "main")
	one := b.open("fast", "main", "title", "Count words in one pass", "body", "The old way read the text **twice**.\n\n- [x] count\n- [ ] measure")
	two := b.open("clash", "main", "draft", true)
	b.commit("fast", "One more", "b.txt", "b\n")
	b.push("fast")
	b.until(one, "three commits", func(p map[string]any) bool { return p["commits"] == 3.0 })
	b.git("switch", "-q", "main")
	b.commit("next", "next", "n.txt", "n\n")
	b.push("next")
	three := b.open("next", "main", "title", "Something that is merged")
	b.merge(three, nil).OK()
	b.commit("later", "later", "later.txt", "n\n")
	b.push("later")
	tab := browser.Open(t, browser.Start(t), b.Server)
	tab.As(b.ada)
	for _, scheme := range []string{"light", "dark"} {
		tab.Scheme(scheme)
		for _, width := range []int64{1440, 390} {
			tab.Width(width)
			for name, path := range map[string]string{
				"list": "/ada/engine/pulls", "show": fmt.Sprintf("/ada/engine/pull/%d", one), "draft": fmt.Sprintf("/ada/engine/pull/%d", two),
				"merged": fmt.Sprintf("/ada/engine/pull/%d", three), "commits": fmt.Sprintf("/ada/engine/pull/%d/commits", one),
				"files": fmt.Sprintf("/ada/engine/pull/%d/files", one), "split": fmt.Sprintf("/ada/engine/pull/%d/files?diff=split", one),
				"new": "/ada/engine/compare/main...later"} {
				tab.Go(path)
				if wide := tab.Overflow(); wide != "" {
					t.Errorf("%s at %d: %s", name, width, wide)
				}
				tab.Shot(fmt.Sprintf("pull-%s-%d-%s", name, width, scheme))
			}
		}
	}
	if said := tab.Console(); len(said) > 0 {
		t.Errorf("console %q", said)
	}
}
