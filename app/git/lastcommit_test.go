package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/git/gittest"
)

func checkLast(t *testing.T, repo *Repository, w *gittest.Repo, rev, dir, when string) {
	t.Helper()
	fresh := *repo // finds each alone before it finds all
	fresh.answers, _ = newAnswers()
	if entries, _, err := fresh.TreeAt(t.Context(), OID(rev), dir); err == nil && len(entries) > 0 {
		path := strings.TrimPrefix(dir+"/"+entries[0].Name, "/")
		want := w.Git("--literal-pathspecs", "log", "-1", "--format=%H", rev, "--", path)
		one, err := fresh.LastCommit(t.Context(), OID(rev), path)
		if err != nil || string(one.OID) != want {
			t.Errorf("%s: alone %q is %v, want %s, %v", when, path, one, want, err)
		}
	}
	got, err := repo.LastCommits(t.Context(), OID(rev), dir)
	if err != nil {
		t.Fatal(err)
	}
	entries, _, err := repo.TreeAt(t.Context(), OID(rev), dir)
	if err != nil || len(entries) != len(got) {
		t.Fatal(len(entries), len(got), err)
	}
	for _, e := range entries {
		path := e.Name
		if dir != "" {
			path = dir + "/" + e.Name
		}
		want := w.Git("--literal-pathspecs", "log", "-1", "--format=%H", rev, "--", path)
		one, err := repo.LastCommit(t.Context(), OID(rev), path)
		if err != nil || string(one.OID) != want {
			t.Errorf("%s: alone %q is %v, want %s, %v", when, path, one, want, err)
		}
		if got[e.Name] == nil {
			t.Errorf("%s: %q has none", when, path)
		} else if string(got[e.Name].OID) != want {
			t.Errorf("%s: %q is %s, want %s", when, path, got[e.Name].OID, want)
		}
	}
}

func TestLastCommitsAsGit(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"no graph", "graph", "part", "kept"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			repo, w := newRepo(t)
			tip := branchy(w)
			w.Git("update-ref", "refs/heads/main", tip)
			switch mode {
			case "graph":
				w.Git("repack", "-adq")
				w.Git("commit-graph", "write", "--reachable", "--changed-paths")
			case "part":
				w.GitIn([]byte(w.Git("rev-parse", "main~6")), "commit-graph", "write", "--stdin-commits", "--changed-paths")
			case "kept":
				mid := w.Git("rev-parse", "main~4")
				for _, dir := range []string{"", "dir", "dir/sub"} {
					checkLast(t, repo, w, mid, dir, "before")
				}
			}
			for _, dir := range []string{"", "dir", "dir/sub"} {
				checkLast(t, repo, w, tip, dir, mode)
				checkLast(t, repo, w, tip, dir, "again")
			}
		})
	}
}

func TestLastCommitsOfTangledHistory(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ids := tangled(w, 50)
	for _, graph := range []bool{false, true} {
		if graph {
			w.Git("commit-graph", "write", "--reachable", "--changed-paths")
			repo.answers.lasts.Purge()
		}
		for _, id := range ids[30:] {
			checkLast(t, repo, w, id, "", fmt.Sprint("graph ", graph))
		}
	}
}

func TestLastCommitsEnd(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	id := w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("dir/a", "a"), gittest.Text("file", "f")}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := repo.LastCommits(ctx, OID(id), "dir"); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := repo.LastCommits(t.Context(), OID(id), "none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("none: %v", err)
	}
	if _, err := repo.LastCommits(t.Context(), OID(id), "file"); !errors.Is(err, ErrWrongType) {
		t.Errorf("a file: %v", err)
	}
}
