package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/git/gittest"
)

func TestStoreLifeCycle(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	root := t.TempDir()
	store, err := NewStore(root, StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(ctx, 300); !errors.Is(err, ErrNoRepository) {
		t.Fatalf("open of nothing: %v", err)
	}
	repo, err := store.Init(ctx, 300, "trunk/a")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "path", repo.Path, filepath.Join(root, "2c", "300.git"))
	head, err := repo.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "head", head.Name, "refs/heads/trunk/a")
	same(t, "unborn", head.OID, "")
	w := gittest.At(t, repo.Path)
	same(t, "git takes it for a bare repository", w.Git("rev-parse", "--is-bare-repository"), "true")
	w.Commit(gittest.Commit{Branch: "trunk/a"})
	if _, err := store.Init(ctx, 300, "other"); err != nil {
		t.Fatalf("second init: %v", err)
	}
	if head, err = repo.Head(ctx); err != nil || head.OID == "" {
		t.Fatalf("a second init must leave the repository alone: %v %v", head, err)
	}
	if _, err := store.Init(ctx, 301, "a..b"); err == nil {
		t.Error("a broken branch name was taken")
	}
	if err := store.Remove(300); err != nil {
		t.Fatal(err)
	}
	if store.Exists(300) {
		t.Error("it is still there")
	}
	if _, err := store.Open(ctx, 300); !errors.Is(err, ErrNoRepository) {
		t.Fatalf("open after removal: %v", err)
	}
	// A new one of the same number has none of the old one's refs.
	repo, err = store.Init(ctx, 300, "main")
	if err != nil {
		t.Fatal(err)
	}
	if refs, err := repo.Refs(ctx, "refs/"); err != nil || len(refs) > 0 {
		t.Errorf("refs of a new repository: %v %v", refs, err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "new-") || strings.HasPrefix(e.Name(), "removed-") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

func TestCommandIsConfined(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	w.Commit(gittest.Commit{})
	ctx := t.Context()
	if _, err := repo.Command(ctx, "config", "-l").Output(); err == nil || !strings.Contains(err.Error(), "not declared") {
		t.Errorf("an undeclared command: %v", err)
	}
	out, err := repo.Command(ctx, "rev-list").Revs("--all").Output()
	if err == nil {
		t.Errorf("a typed option was obeyed: %q", out)
	}
	if err := repo.Command(ctx, "archive").Revs("--output=/tmp/x").Run(); err == nil {
		t.Error("a typed option was passed to a command without end-of-options")
	}
	var ce *CommandError
	if err := repo.Command(ctx, "rev-parse", "--verify").Revs("nothing").Run(); !errors.As(err, &ce) || ce.Code != 128 || ce.Stderr == "" {
		t.Errorf("failure: %#v", err)
	}
}

func TestCommandEndsWithContext(t *testing.T) {
	t.Parallel()
	repo, _ := newRepo(t)
	ctx, cancel := context.WithCancel(t.Context())
	cmd := repo.Command(ctx, "cat-file", "--batch")
	in, err := cmd.StdinPipe() // never closed: git would wait for ever
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cancel()
	begin := time.Now()
	if err := cmd.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("wait: %v", err)
	}
	if time.Since(begin) > stopDelay/2 {
		t.Errorf("it took %v to end", time.Since(begin))
	}
}
