package git

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/git/gittest"
)

// benchRepo is a packed repository of 500 commits and 1,000 files, with graph.
func benchRepo(b *testing.B) (*Repository, OID) {
	b.Helper()
	repo, w := newRepo(b)
	var files []gittest.File
	for i := range 1000 {
		files = append(files, gittest.Text(fmt.Sprintf("dir%d/file%d.txt", i%20, i), strings.Repeat(fmt.Sprintf("line of file %d\n", i), 50)))
	}
	w.Commit(gittest.Commit{Files: files})
	grow(w, 500)
	if err := repo.Maintain(b.Context(), MaintainOptions{Refs: true, Full: true, Graph: true}); err != nil {
		b.Fatal(err)
	}
	head, err := repo.Head(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return repo, head.OID
}

// bench runs f, which opens the repository anew as each request does.
func bench(b *testing.B, repo *Repository, f func(*Repository) error) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		open, err := repo.store.Open(b.Context(), repo.ID)
		if err != nil {
			b.Fatal(err)
		}
		if err := f(open); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRootTree(b *testing.B) {
	repo, head := benchRepo(b)
	bench(b, repo, func(r *Repository) error {
		_, _, err := r.TreeAt(b.Context(), head, "")
		return err
	})
}

func BenchmarkBlob(b *testing.B) {
	repo, head := benchRepo(b)
	bench(b, repo, func(r *Repository) error {
		_, _, err := r.BlobAt(b.Context(), head, "big.txt", 0)
		return err
	})
}

func BenchmarkSplitRefPath(b *testing.B) {
	repo, _ := benchRepo(b)
	bench(b, repo, func(r *Repository) error {
		_, _, err := r.SplitRefPath(b.Context(), "main/dir3/file3.txt")
		return err
	})
}

func BenchmarkThirtyCommits(b *testing.B) {
	repo, head := benchRepo(b)
	bench(b, repo, func(r *Repository) error {
		_, err := r.Log(b.Context(), head, LogOptions{})
		return err
	})
}

func BenchmarkLastCommits(b *testing.B) {
	repo, head := benchRepo(b)
	bench(b, repo, func(r *Repository) error {
		r.answers.lasts.Purge()
		_, err := r.LastCommits(b.Context(), head, "")
		return err
	})
}

func BenchmarkCommitCount(b *testing.B) {
	repo, head := benchRepo(b)
	bench(b, repo, func(r *Repository) error {
		r.answers.counts.Purge()
		_, err := r.CommitCount(b.Context(), head)
		return err
	})
}

func BenchmarkDiff(b *testing.B) {
	repo, head := benchRepo(b)
	c, err := repo.Commit(b.Context(), head)
	if err != nil {
		b.Fatal(err)
	}
	bench(b, repo, func(r *Repository) error {
		_, err := r.Diff(b.Context(), DiffOptions{Base: r.DiffBase(c), Head: head})
		return err
	})
}

func BenchmarkTenThousandRefs(b *testing.B) {
	repo, w := newRepo(b)
	id := OID(w.Commit(gittest.Commit{}))
	var updates []RefUpdate
	for i := range 10_000 {
		updates = append(updates, RefUpdate{fmt.Sprintf("refs/tags/v%d", i), "", id})
	}
	if err := repo.UpdateRefs(b.Context(), updates); err != nil {
		b.Fatal(err)
	}
	for _, packed := range []bool{false, true} {
		if packed {
			if err := repo.Maintain(b.Context(), MaintainOptions{Refs: true}); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("packed=%v", packed), func(b *testing.B) {
			bench(b, repo, func(r *Repository) error {
				refs, err := r.Tags(b.Context())
				if err == nil && len(refs) != 10_000 {
					err = fmt.Errorf("%d refs", len(refs))
				}
				return err
			})
		})
	}
}
