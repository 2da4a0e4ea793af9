package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/git/gittest"
)

func TestCompareAcrossRepositories(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	base := w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("a", "a\n")}})
	fork, err := repo.store.Init(ctx, 4712, "main")
	if err != nil {
		t.Fatal(err)
	}
	if err := fork.CopyObjects(ctx, repo, OID(base)); err != nil {
		t.Fatal(err)
	}
	if err := fork.UpdateRefs(ctx, []RefUpdate{{"refs/heads/main", "", OID(base)}}); err != nil {
		t.Fatal(err)
	}
	fw := gittest.At(t, fork.Path)
	head := OID(fw.Commit(gittest.Commit{Message: "from the fork", Files: []gittest.File{gittest.Text("b", "b\n")}}))
	main := OID(w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("c", "c\n")}}))
	if _, err := repo.Commit(ctx, head); !errors.Is(err, ErrNotFound) {
		t.Fatalf("the fork's commit is visible: %v", err)
	}
	both, err := repo.Borrowing(fork)
	if err != nil {
		t.Fatal(err)
	}
	files, err := both.DiffFiles(ctx, DiffOptions{Base: main, Head: head, MergeBase: true})
	if err != nil || len(files) != 1 || files[0].Name() != "b" {
		t.Errorf("%+v %v", files, err)
	}
	commits, err := both.Log(ctx, head, LogOptions{Exclude: []OID{main}})
	if err != nil || len(commits) != 1 {
		t.Errorf("%v %v", commits, err)
	}
	if err := repo.CopyObjects(ctx, fork, head); err != nil {
		t.Fatal(err)
	}
	if err := repo.UpdateRefs(ctx, []RefUpdate{{"refs/pull/1/head", repo.ZeroOID(), head}}); err != nil {
		t.Fatal(err)
	}
	w.Git("fsck", "--connectivity-only")
	if err := repo.CopyObjects(ctx, fork, head); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := repo.CopyObjects(ctx, fork, OID(strings.Repeat("5", 40))); !errors.Is(err, ErrNotFound) {
		t.Errorf("nothing: %v", err)
	}
	grow(fw, 60)
	tip := OID(fw.Git("rev-parse", "main"))
	if err := repo.CopyObjects(ctx, fork, tip); err != nil { // many: as a pack
		t.Fatal(err)
	}
	if packs, _ := filepath.Glob(filepath.Join(repo.Path, "objects/pack/*.pack")); len(packs) != 1 {
		t.Errorf("packs: %q", packs)
	}
	if n, err := repo.CommitCount(ctx, tip); err != nil || n != 62 {
		t.Errorf("%d commits %v", n, err)
	}
}

func TestQuarantine(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	base := OID(w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("a", "a\n")}}))
	dir := filepath.Join(t.TempDir(), "a:b\"c") // what must be quoted for git
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	q, err := repo.Quarantined(dir)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := q.EditTree(ctx, mustTree(t, repo, base), []Change{{Path: "new", OID: blob(t, q, "new\n")}})
	if err != nil {
		t.Fatal(err)
	}
	commit, err := q.CommitTree(ctx, CommitSpec{Tree: tree, Parents: []OID{base}, Message: "m"})
	if err != nil {
		t.Fatal(err)
	}
	files, err := q.Diff(ctx, DiffOptions{Base: base, Head: commit})
	if err != nil || len(files) != 1 || files[0].Additions != 1 {
		t.Errorf("%+v %v", files, err)
	}
	if ok, err := repo.Has(ctx, commit); ok || err != nil {
		t.Errorf("seen outside: %v %v", ok, err)
	}
	if err := q.UpdateRefs(ctx, []RefUpdate{{"refs/heads/main", base, commit}}); err == nil {
		t.Error("a ref moved to an object in quarantine")
	}
}

func mustTree(t *testing.T, repo *Repository, rev OID) OID {
	t.Helper()
	tree, err := repo.TreeOf(t.Context(), rev)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestContributorsAndFiles(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	show := func(rev string) string {
		t.Helper()
		list, err := repo.Contributors(ctx, OID(rev))
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range list {
			out = append(out, fmt.Sprintf("%s <%s> %d", c.Name, c.Email, c.Commits))
		}
		return strings.Join(out, ", ")
	}
	first := branchy(w)
	same(t, "all", show(first), "Ada Author <ada@example.org> 37, Sid <sid@example.org> 12")
	second := w.Commit(gittest.Commit{Parents: []string{first}, Author: "Sidney <SID@example.org>", Files: []gittest.File{gittest.Text("q", "q")}})
	same(t, "more", show(second), "Ada Author <ada@example.org> 37, Sidney <SID@example.org> 13")
	same(t, "fewer", show(first), "Ada Author <ada@example.org> 37, Sid <sid@example.org> 12")

	paths, more, err := repo.Files(ctx, OID(second), 0)
	if err != nil || more {
		t.Fatal(err)
	}
	same(t, "files", strings.Join(paths, "\n"), w.Git("ls-tree", "-r", "--name-only", second))
	if paths, more, err = repo.Files(ctx, OID(second), 3); err != nil || !more || len(paths) != 3 {
		t.Errorf("limited: %q %v %v", paths, more, err)
	}
}
