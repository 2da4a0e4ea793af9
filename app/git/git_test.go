package git

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/git/gittest"
)

// newRepo is an empty repository of a store of its own, and a writer for it.
func newRepo(tb testing.TB) (*Repository, *gittest.Repo) {
	tb.Helper()
	store, err := NewStore(tb.TempDir(), StoreOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	repo, err := store.Init(context.Background(), 4711, "main")
	if err != nil {
		tb.Fatal(err)
	}
	return repo, gittest.At(tb, repo.Path)
}

func same[T comparable](tb testing.TB, what string, got, want T) {
	tb.Helper()
	if got != want {
		tb.Errorf("%s: got %q, want %q", what, fmt.Sprint(got), fmt.Sprint(want))
	}
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
