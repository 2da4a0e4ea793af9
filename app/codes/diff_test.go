package codes_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/git/gittest"
)

func TestDiffs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	long := strings.Repeat("line\n", 40)
	w := s.repo("r")
	ids := w.Commits(
		commit("one", text("a.txt", long+"x\n"+long), text("crlf", "a\r\nb\r\n"), text(".gitmodules", "[submodule \"m\"]\n\tpath = m\n\turl = ../m.git\n"),
			gittest.Submodule("m", strings.Repeat("1", 40)), text("é ü.txt", "1\n")),
		commit("two", text("a.txt", long+"y\n"+long), text("crlf", "a\nb\n"), gittest.Submodule("m", strings.Repeat("2", 40)), text("é ü.txt", "2\n")),
		gittest.Commit{Branch: "orphan", NoParent: true, Message: "elsewhere", Files: []gittest.File{text("z", "z\n")}})
	s.push(w, "r")
	address := "/ann/r/commit/" + ids[1]
	page := s.bob.Get(address).OK()
	if hrefs(t, page)["/ann/m/compare/"+strings.Repeat("1", 40)+"..."+strings.Repeat("2", 40)] == 0 {
		t.Error("the submodule's change is not linked")
	}
	if n := page.Find(".diff tr").Length(); n > 60 {
		t.Errorf("%d rows", n)
	}
	expand, ok := page.Find("a:contains(Expand)").First().Attr("hx-get")
	if !ok {
		t.Fatal("nothing expands")
	}
	if part := s.bob.HTMX(expand, "x").OK(); part.Find(".diff tr").Length() < 80 || strings.Contains(part.Body, "<html") {
		t.Errorf("%d rows when expanded", part.Find(".diff tr").Length())
	}
	if whole := s.bob.Get(expand).OK(); !strings.Contains(whole.Body, "<html") {
		t.Error("no page without htmx")
	}
	ends := s.bob.Get(address + "?w=eol").OK()
	if ends.Find("[data-diff-file=crlf] .diff").Length() > 0 || !strings.Contains(ends.Body, "Changes of line ends are left out") {
		t.Error("line ends are not left out, or the page does not say so")
	}
	s.bob.Get(address + "?diff=split").OK()
	for address, begin := range map[string]string{address + ".diff": "diff --git", address + ".patch": "From " + ids[1],
		"/ann/r/compare/" + ids[0] + "...main.patch": "From " + ids[1], "/ann/r/compare/" + ids[0] + "..main.diff": "diff --git"} {
		if r := s.bob.Get(address).OK(); !strings.HasPrefix(r.Body, begin) {
			t.Errorf("%s: %.100s", address, r.Body)
		}
	}
	// No common ancestor.
	if un := s.bob.Get("/ann/r/compare/main...orphan").OK(); !strings.Contains(un.Body, "nothing in common") {
		t.Error("no word of unrelated histories")
	}
	if w := s.bob.API(http.MethodGet, "/repos/ann/r/compare/main...orphan", nil).OK().JSON(); w["merge_base_commit"] != nil || w["status"] != "diverged" {
		t.Errorf("%v %v", w["merge_base_commit"], w["status"])
	}
}

func TestBlame(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.repo("r")
	ids := w.Commits(commit("wrote it", text("a.go", "a\nb\nc\n")), commit("formatted it", text("a.go", "a\n  b\nc\n")))
	w.Commit(commit("ignore", text(".git-blame-ignore-revs", "# format\n"+ids[1]+"\n")))
	s.push(w, "r")
	page := s.bob.Get("/ann/r/blame/main/a.go").OK()
	if strings.Contains(page.Text(".blame"), "formatted it") || !strings.Contains(page.Body, ".git-blame-ignore-revs") {
		t.Errorf("ignored commits are shown: %s", page.Text(".blame"))
	}
	page = s.bob.Get("/ann/r/blame/main/a.go?all=1").OK()
	if !strings.Contains(page.Text(".blame"), "formatted it") {
		t.Errorf("the commit is missing: %s", page.Text(".blame"))
	}
	before := ""
	for href := range hrefs(t, page) {
		if strings.HasPrefix(href, "/ann/r/blame/"+ids[0]) {
			before = href
		}
	}
	if before == "" {
		t.Fatal("no link to the blame before")
	}
	before, _, _ = strings.Cut(before, "#")
	if page := s.bob.Get(before).OK(); strings.Contains(page.Text(".blame"), "formatted it") {
		t.Error("the blame before shows the commit")
	}
	s.bob.Get("/ann/r/blame/main/none").Want(http.StatusNotFound)
}
