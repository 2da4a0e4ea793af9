package codes_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/git/gittest"
	"github.com/gitfor/gitfor/db/model"
)

// runs counts the processes of git.
type runs struct {
	mu   sync.Mutex
	seen []string
}

func (r *runs) option(c *app.Config) {
	c.ObserveGit = func(_ context.Context, subcommand string, _ time.Duration) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen = append(r.seen, subcommand)
	}
}

func (r *runs) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen
	r.seen = nil
	return seen
}

func TestPagesAreCheap(t *testing.T) {
	t.Parallel()
	git := &runs{}
	s := newSite(t, git.option)
	var list []gittest.Commit
	for i := range 60 {
		list = append(list, commit("change", text("f"+string(rune('a'+i%26))+"/file.go", strings.Repeat("package x\n", i+1)), text("README.md", "# R\n")))
	}
	w := s.repo("r", list...)
	w.Git("tag", "v1", "main~3")
	w.Git("branch", "other", "main~5")
	s.push(w, "r")
	pages := []string{"", "/tree/main/fa", "/blob/main/fa/file.go", "/commits/main", "/branches", "/tags", "/find/main", "/raw/main/fa/file.go",
		"/commit/" + w.Git("rev-parse", "main~2"), "/contributors"}
	warm := map[string]bool{"": true, "/tree/main/fa": true, "/blob/main/fa/file.go": true, "/commits/main": true, "/find/main": true}
	for _, who := range []*apptest.Client{s.ann, s.Anon()} {
		for _, page := range pages {
			who.Get("/ann/r" + page).OK()
			git.take()
			r := who.Get("/ann/r" + page).OK()
			if seen := git.take(); len(seen) > 0 && warm[page] {
				t.Errorf("%s: processes %q", page, seen)
			}
			if !strings.HasPrefix(page, "/raw/") {
				if n := queries(t, r); n > 6 {
					t.Errorf("%s: %d queries", page, n)
				}
			}
		}
	}
	home := s.ann.Get("/ann/r").OK()
	if got := home.Find("#entries a[href^='/ann/r/commit/']").Length(); got != 27 {
		t.Errorf("%d last commits on a warm page", got)
	}
	rows := s.ann.HTMX("/ann/r/tree/main", "entries").OK()
	if got := rows.Find("#entries a[href^='/ann/r/commit/']").Length(); got != 27 || strings.Contains(rows.Body, "<html") {
		t.Errorf("%d last commits in the part", got)
	}
	if hrefs(t, home)["/ann/r/blob/main/README.md"] != 2 {
		t.Errorf("links %v", hrefs(t, home))
	}
}

// hrefs counts the links of a page.
func hrefs(t *testing.T, r *apptest.Response) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, part := range strings.Split(r.Body, `href="`)[1:] {
		href, _, _ := strings.Cut(part, `"`)
		out[href]++
	}
	return out
}

func TestOddNamesOnPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var files, again []gittest.File
	for _, name := range gittest.OddNames() {
		files = append(files, text("d/"+name, "content of "+name+"\n"))
		again = append(again, text("d/"+name, "changed "+name+"\n"))
	}
	w := s.repo("r", commit("odd", files...), commit("again", again...))
	found := 0
	for href := range hrefs(t, s.bob.Get("/ann/r/tree/main/d").OK()) {
		if !strings.HasPrefix(href, "/ann/r/blob/main/d/") {
			continue
		}
		for i := 0; i < len(href); i++ {
			if b := href[i]; b >= 0x7f || b <= ' ' || strings.IndexByte(`"<>#?&'`, b) >= 0 {
				t.Errorf("byte %q in link %q", b, href)
			}
		}
		path, err := url.PathUnescape(strings.TrimPrefix(href, "/ann/r/blob/main/"))
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(path, "d/")
		found++
		page := s.bob.Get(href).OK()
		if !strings.HasSuffix(name, ".md") && !strings.Contains(page.Text(".code"), "changed") {
			t.Errorf("%q: no content", name)
		}
		raw := s.bob.Get(strings.Replace(href, "/blob/", "/raw/", 1)).OK()
		if raw.Body != "changed "+name+"\n" {
			t.Errorf("raw %q: %q", name, raw.Body)
		}
		if cd := raw.Header.Get("Content-Disposition"); !strings.HasSuffix(cd, "filename*=UTF-8''"+url.PathEscape(name)) {
			t.Errorf("raw %q: %s", name, cd)
		}
		blame := s.bob.Get(strings.Replace(href, "/blob/", "/blame/", 1)).OK()
		if !strings.Contains(blame.Text(".blame"), "again") {
			t.Errorf("blame %q: no commit", name)
		}
		history := s.bob.Get(strings.Replace(href, "/blob/", "/commits/", 1)).OK()
		if !strings.Contains(history.Body, "odd") || !strings.Contains(history.Body, "again") {
			t.Errorf("history %q", name)
		}
	}
	if found != len(files) {
		t.Errorf("%d of %d files are linked", found, len(files))
	}
	for _, page := range []string{"/compare/main~1...main", "/commit/" + w.Git("rev-parse", "main"), "/find/main", "/find/main?q=latin"} {
		if strings.Contains(page, "~") {
			page = "/compare/" + w.Git("rev-parse", "main~1") + "...main"
		}
		s.bob.Get("/ann/r" + page).OK()
	}
}

func TestOddBranches(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.repo("r")
	ids := w.Commits(commit("one", text("a.txt", "first\n")), commit("two", text("a.txt", "second\n")))
	names := []string{"solve-#33_match", "🧬", "100%+done", "a/b/c", "日本語", strings.Repeat("ab", 20), "refs/heads/x", "e\u0301", "é", "x%41", "a&b=c", "latin-\xff"}
	for _, n := range names {
		w.Git("update-ref", "refs/heads/"+n, ids[0])
	}
	s.push(w, "r")
	list := hrefs(t, s.ann.Get("/ann/r/branches").OK())
	for _, n := range names {
		ref := strings.ReplaceAll(url.PathEscape(n), "%2F", "/")
		for _, page := range []string{"/tree/" + ref, "/blob/" + ref + "/a.txt", "/commits/" + ref, "/compare/" + ref, "/compare/main..." + ref,
			"/blame/" + ref + "/a.txt", "/find/" + ref} {
			r := s.ann.Get("/ann/r" + page).OK()
			if strings.HasPrefix(page, "/blob/") && !strings.Contains(r.Body, "first") {
				t.Errorf("%q: %s shows another branch", n, page)
			}
		}
		if raw := s.ann.Get("/ann/r/raw/" + ref + "/a.txt").OK(); raw.Body != "first\n" {
			t.Errorf("%q: raw %q", n, raw.Body)
		}
		s.ann.Get("/ann/r/archive/" + ref + ".zip").OK()
	}
	trees := 0
	for href := range list {
		if strings.HasPrefix(href, "/ann/r/tree/") {
			s.ann.Get(href).OK()
			trees++
		}
	}
	if trees != len(names)+1 {
		t.Errorf("%d branches are listed", trees)
	}
	s.ann.Get("/ann/r/tree/none").Want(http.StatusNotFound)
	for _, n := range names {
		s.ann.Post("/ann/r/branches/delete", "ref", url.PathEscape("refs/heads/"+n)).Want(http.StatusSeeOther)
	}
	s.fetch(w, "r")
	if got := w.Git("for-each-ref", "--format=%(refname)", "refs/heads"); got != "refs/heads/main" {
		t.Errorf("left: %s", got)
	}
	s.ann.Post("/ann/r/branches/delete", "ref", "refs/heads/main").Want(http.StatusUnprocessableEntity)
	s.ann.Post("/ann/r/branches", "name", "made #1", "from", "main").Want(http.StatusUnprocessableEntity)
	s.ann.Post("/ann/r/branches", "name", "made-#1", "from", ids[0][:10]).Want(http.StatusSeeOther)
	s.ann.Post("/ann/r/branches/rename", "ref", "made-%231", "name", "made/2").Want(http.StatusSeeOther)
	s.ann.Get("/ann/r/tree/made/2").OK()
	s.bob.Post("/ann/r/branches", "name", "mine", "from", "main").Want(http.StatusForbidden)
}

func TestSubmodulesAndLinks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := strings.Repeat("1", 40)
	modules := ""
	for path, address := range map[string]string{"sib": "../sib.git", "far": "../../org/repo", "abs": "https://example.com/x/y.git",
		"foo/bar/x": "./../ssh", "scp": "git@example.com:o/r.git", "odd": "javascript:alert(1)"} {
		modules += "[submodule \"" + path + "\"]\n\tpath = " + path + "\n\turl = " + address + "\n"
	}
	s.repo("r", commit("one", text(".gitmodules", modules), gittest.Submodule("sib", id), gittest.Submodule("far", id), gittest.Submodule("abs", id),
		gittest.Submodule("foo/bar/x", id), gittest.Submodule("scp", id), gittest.Submodule("odd", id),
		gittest.Link("README.md", "docs/README.md"), text("docs/README.md", "# Docs\n\n[foo](foo.md)\n"), text("docs/foo.md", "foo"),
		text(".github/README.md", "[up](../sub/README.md)\n"), text("sub/README.md", "sub"), gittest.Link("out", "../../../etc/passwd"),
		gittest.Link("self", "self")))
	home := s.bob.Get("/ann/r").OK()
	links := hrefs(t, home)
	for _, want := range []string{"/ann/sib/tree/" + id, "/org/repo/tree/" + id, "https://example.com/x/y", "https://example.com/o/r",
		"/ann/r/blob/main/docs/foo.md"} {
		if links[want] == 0 {
			t.Errorf("no link %s in %v", want, links)
		}
	}
	if strings.Contains(home.Body, "javascript:") && strings.Contains(home.Body, `href="javascript:`) {
		t.Error("a script is linked")
	}
	if hrefs(t, s.bob.Get("/ann/r/tree/main/foo/bar").OK())["/ann/ssh/tree/"+id] == 0 {
		t.Error("the nested submodule is not linked")
	}
	if hrefs(t, s.bob.Get("/ann/r/tree/main/.github").OK())["/ann/r/blob/main/sub/README.md"] == 0 {
		t.Error("a link out of .github is wrong")
	}
	for _, name := range []string{"out", "self"} {
		r := s.bob.Get("/ann/r/blob/main/" + name).OK()
		if strings.Contains(r.Body, "root:") {
			t.Errorf("%s was followed", name)
		}
	}
}

func TestStarsAndWatches(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.repo("r", commit("one", text("a", "a")))
	s.bob.Post("/ann/r/star").Want(http.StatusSeeOther)
	s.bob.Post("/ann/r/star").Want(http.StatusSeeOther)
	if page := s.bob.Get("/ann/r").OK(); !strings.Contains(page.Text("#standing"), "Starred") {
		t.Errorf("buttons: %s", page.Text("#standing"))
	}
	c, ctx := s.client(s.bob), t.Context()
	if yes, _, err := c.Activity.IsStarred(ctx, "ann", "r"); err != nil || !yes {
		t.Error(yes, err)
	}
	fans, _, err := c.Activity.ListStargazers(ctx, "ann", "r", nil)
	if err != nil || len(fans) != 1 || fans[0].GetUser().GetLogin() != "bob" || fans[0].StarredAt == nil {
		t.Errorf("%v %+v", err, fans)
	}
	repo, _, err := c.Repositories.Get(ctx, "ann", "r")
	if err != nil || repo.GetStargazersCount() != 1 {
		t.Errorf("%v %d stars", err, repo.GetStargazersCount())
	}
	s.bob.Do(http.MethodDelete, "/ann/r/star", nil, "Sec-Fetch-Site", "same-origin").Want(http.StatusSeeOther)
	if yes, _, err := c.Activity.IsStarred(ctx, "ann", "r"); err != nil || yes {
		t.Error(yes, err)
	}
	s.bob.Post("/ann/r/subscription", "level", "all").Want(http.StatusSeeOther)
	sub, _, err := c.Activity.GetRepositorySubscription(ctx, "ann", "r")
	if err != nil || !sub.GetSubscribed() || sub.GetIgnored() {
		t.Errorf("%v %+v", err, sub)
	}
	s.bob.Post("/ann/r/subscription", "level", "none").Want(http.StatusSeeOther)
	if sub, _, err := c.Activity.GetRepositorySubscription(ctx, "ann", "r"); err != nil || sub != nil {
		t.Errorf("%v %+v", err, sub)
	}
	if r := s.Anon().Post("/ann/r/star"); !strings.HasPrefix(r.Want(http.StatusSeeOther).Location(), "/login") {
		t.Errorf("a stranger: %s", r.Location())
	}
}

func TestLearn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mit := "MIT License\n\nCopyright (c) 2024 Somebody\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\nof this software and associated documentation files (the \"Software\"), to deal\nin the Software without restriction, including without limitation the rights\nto use, copy, modify, merge, publish, distribute, sublicense, and/or sell\ncopies of the Software, and to permit persons to whom the Software is\nfurnished to do so, subject to the following conditions:\n\nThe above copyright notice and this permission notice shall be included in all\ncopies or substantial portions of the Software.\n\nTHE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR\nIMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,\nFITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE\nAUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER\nLIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,\nOUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE\nSOFTWARE.\n"
	s.repo("r", commit("one", text("a.go", "package a\n"), text("vendor/b.go", "package b\n"), text("x.py", "print()\n"), text("LICENSE", mit)))
	id := int64(s.ann.API(http.MethodGet, "/repos/ann/r", nil).OK().JSON()["id"].(float64))
	if err := s.App.Codes.Learn(t.Context(), &model.Event{Type: "repo.default_branch_changed", RepoID: id}); err != nil {
		t.Fatal(err)
	}
	langs := s.ann.API(http.MethodGet, "/repos/ann/r/languages", nil).OK().JSON()
	if len(langs) != 2 || langs["Go"] != 10.0 || langs["Python"] != 8.0 {
		t.Errorf("languages %v", langs)
	}
	licence, _, err := s.client(s.bob).Repositories.License(t.Context(), "ann", "r")
	if err != nil || licence.GetLicense().GetSPDXID() != "MIT" {
		t.Errorf("%v %+v", err, licence)
	}
}

func TestCostlyBudget(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.repo("r", commit("one", text("a", "a")))
	anon, refused := s.Anon(), 0
	for range 40 {
		if r := anon.Get("/ann/r/blame/main/a"); r.Status == http.StatusServiceUnavailable {
			refused++
			if r.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
	}
	if refused == 0 {
		t.Error("a stranger is never refused")
	}
	for range 40 {
		s.bob.Get("/ann/r/blame/main/a").OK()
	}
	if a, b := anon.Get("/ann/r"), s.bob.Get("/ann/r/archive/main.tar.gz"); a.Status != http.StatusOK || b.Status != http.StatusOK {
		t.Errorf("home %d, archive %d", a.Status, b.Status)
	}
	if x, y := s.bob.Get("/ann/r/archive/main.zip").Body, s.bob.Get("/ann/r/archive/main.zip").Body; x != y || len(x) == 0 {
		t.Error("two archives of one commit differ")
	}
}
