package codes_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/git/gittest"
	"github.com/google/go-github/v89/github"
)

// size is the bytes of the files below a folder.
func size(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, err := d.Info()
			if err != nil {
				return err
			}
			n += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestForks(t *testing.T) {
	t.Parallel()
	var data string
	s := newSite(t, func(c *app.Config) { data = c.DataDir })
	w := s.repo("r")
	noise := make([]byte, 0, 1<<20)
	for i := range 1 << 18 {
		noise = append(noise, byte(i*i>>3), byte(i>>2), byte(i*7>>1), byte(i*13>>4))
	}
	w.Commits(commit("one", text("a", "a\n"), text("big", string(noise))), commit("two", text("a", "b\n")))
	w.Git("tag", "-a", "-m", "v1", "v1", "main")
	s.push(w, "r")
	c, ctx := s.client(s.bob), t.Context()
	fork, _, err := c.Repositories.CreateFork(ctx, "ann", "r", nil)
	if _, accepted := err.(*github.AcceptedError); err != nil && !accepted { //nolint:errorlint // its own type
		t.Fatal(err)
	}
	if fork.GetFullName() != "bob/r" || !fork.GetFork() || fork.GetParent().GetFullName() != "ann/r" {
		t.Errorf("%+v", fork)
	}
	var folder string
	matches, err := filepath.Glob(filepath.Join(data, "git", "*", "2.git"))
	if err != nil || len(matches) != 1 {
		t.Fatal(matches, err)
	}
	folder = matches[0]
	if n := size(t, folder); n > 64<<10 {
		t.Errorf("the fork takes %d bytes", n)
	}
	// It can be read and cloned, and is whole.
	s.Anon().Get("/bob/r/blob/main/a").OK()
	clone := gittest.New(t)
	clone.Git("fetch", "-q", s.URL+"/bob/r.git", "refs/*:refs/*")
	clone.Git("fsck", "--strict")
	if clone.Git("rev-parse", "v1") != w.Git("rev-parse", "v1") {
		t.Error("the tag differs")
	}
	again := s.bob.API(http.MethodPost, "/repos/ann/r/forks", nil).Want(http.StatusAccepted).JSON()
	if again["full_name"] != "bob/r" {
		t.Errorf("again: %v", again["full_name"])
	}
	if n := s.ann.API(http.MethodGet, "/repos/ann/r", nil).OK().JSON()["forks_count"]; n != 1.0 {
		t.Errorf("%v forks", n)
	}

	// The source goes on; the fork follows.
	w.Commit(commit("three", text("a", "c\n")))
	s.push(w, "r")
	home := s.bob.Get("/bob/r").OK()
	if !strings.Contains(home.Text("main"), "0 commits ahead and 1 commit behind") {
		t.Errorf("home: %.300s", home.Text("main"))
	}
	if n := queries(t, home); n > 6 {
		t.Errorf("%d queries", n)
	}
	res, _, err := c.Repositories.MergeUpstream(ctx, "bob", "r", &github.RepoMergeUpstreamRequest{Branch: github.Ptr("main")})
	if err != nil || res.GetMergeType() != "fast-forward" {
		t.Fatalf("%v %+v", err, res)
	}
	if n := size(t, folder); n > 64<<10 {
		t.Errorf("after the sync the fork takes %d bytes", n)
	}
	s.bob.API(http.MethodPut, "/repos/bob/r/contents/mine", map[string]any{"message": "mine", "content": "bQ=="}).Want(http.StatusCreated)
	w.Commit(commit("four", text("a", "d\n")))
	s.push(w, "r")
	res, _, err = c.Repositories.MergeUpstream(ctx, "bob", "r", &github.RepoMergeUpstreamRequest{Branch: github.Ptr("main")})
	if err != nil || res.GetMergeType() != "merge" {
		t.Fatalf("%v %+v", err, res)
	}
	// Across the two.
	cmp, _, err := s.client(s.ann).Repositories.CompareCommits(ctx, "ann", "r", "main", "bob:main", nil)
	if err != nil || cmp.GetAheadBy() != 2 || len(cmp.Files) != 1 || cmp.Files[0].GetFilename() != "mine" {
		t.Errorf("%v %+v", err, cmp)
	}
	page := s.ann.Get("/ann/r/compare/main...bob:main").OK()
	if !strings.Contains(page.Body, "mine") || hrefs(t, page)["/bob/r/blob/"+cmp.Commits[1].GetSHA()+"/mine"] == 0 {
		t.Errorf("compare: %v", hrefs(t, page))
	}
	// A conflict.
	sha := s.bob.API(http.MethodGet, "/repos/bob/r/contents/a", nil).OK().JSON()["sha"]
	s.bob.API(http.MethodPut, "/repos/bob/r/contents/a", map[string]any{"message": "x", "content": "eA==", "sha": sha}).OK()
	w.Commit(commit("five", text("a", "e\n")))
	s.push(w, "r")
	s.bob.API(http.MethodPost, "/repos/bob/r/merge-upstream", map[string]any{"branch": "main"}).Want(http.StatusConflict)
	s.bob.API(http.MethodPost, "/repos/bob/r/merge-upstream", map[string]any{"branch": "none"}).Want(http.StatusUnprocessableEntity)
	s.bob.Get("/ann/r/fork").OK().Has("You have a fork already")
	s.bob.Get("/ann/r/forks").OK().Has("bob/r")
}

func TestPrivateForksDoNotLeak(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.repo("r", commit("one", text("a", "a\n")))
	s.bob.API(http.MethodPost, "/repos/ann/r/forks", nil).Want(http.StatusAccepted)
	// What lies in the source but on no branch or tag is not in the pool.
	hidden := w.Commit(commit("hidden", text("secret", "s\n")))
	s.push(w, "r")
	w.Git("update-ref", "refs/heads/main", hidden+"~1")
	s.push(w, "r", "--force")
	s.bob.API(http.MethodGet, "/repos/bob/r/git/commits/"+hidden, nil).Want(http.StatusNotFound)
	// A repository that became private lends no more.
	s.ann.API(http.MethodPatch, "/repos/ann/r", map[string]any{"private": true}).OK()
	later := w.Commit(commit("private", text("p", "p\n")))
	s.push(w, "r")
	s.bob.API(http.MethodPost, "/repos/bob/r/merge-upstream", map[string]any{"branch": "main"}).Want(http.StatusUnprocessableEntity)
	s.bob.API(http.MethodGet, "/repos/bob/r/git/commits/"+later, nil).Want(http.StatusNotFound)
	s.bob.Get("/bob/r/compare/main...ann:main").Want(http.StatusNotFound)
	s.bob.Get("/bob/r").OK()
	s.bob.API(http.MethodPost, "/repos/ann/r/forks", nil).Want(http.StatusNotFound)
	// A fork of a private repository is private, and copies.
	s.ann.API(http.MethodPost, "/repos/ann/r/forks", map[string]any{"name": "copy"}).Want(http.StatusAccepted)
	if r := s.ann.API(http.MethodGet, "/repos/ann/copy", nil).OK().JSON(); r["private"] != true {
		t.Error("the fork is public")
	}
	s.ann.API(http.MethodGet, "/repos/ann/copy/git/commits/"+later, nil).OK()
	s.bob.Get("/ann/copy").Want(http.StatusNotFound)
}
