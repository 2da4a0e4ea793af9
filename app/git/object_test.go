package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/git/gittest"
)

// grow makes a history with files that git stores as deltas.
func grow(w *gittest.Repo, commits int) {
	var list []gittest.Commit
	for i := range commits {
		var text strings.Builder
		for line := range 400 {
			if line%50 == i%50 {
				fmt.Fprintf(&text, "line %d of version %d\n", line, i)
			} else {
				fmt.Fprintf(&text, "line %d\n", line)
			}
		}
		list = append(list, gittest.Commit{Files: []gittest.File{
			gittest.Text("big.txt", text.String()),
			gittest.Text(fmt.Sprintf("dir%d/sub/file%d.txt", i%7, i), fmt.Sprint("content ", i)),
		}})
	}
	w.Commits(list...)
}

// checkObjects compares every object with what git says.
func checkObjects(t *testing.T, repo *Repository, w *gittest.Repo) int {
	t.Helper()
	ctx := t.Context()
	all := lines(w.Git("cat-file", "--batch-all-objects", "--batch-check"))
	var want bytes.Buffer
	for _, line := range all {
		var id, typ string
		var size int64
		if _, err := fmt.Sscan(line, &id, &typ, &size); err != nil {
			t.Fatal(err)
		}
		info, err := repo.Info(ctx, OID(id))
		if err != nil || info.Type.String() != typ || info.Size != size {
			t.Fatalf("info of %s: %v %v, want %s", id, info, err, line)
		}
		o, err := repo.Object(ctx, OID(id), 0)
		if err != nil || int64(len(o.Data)) != size {
			t.Fatalf("object %s: %v", id, err)
		}
		if size > 0 {
			if _, err := repo.Object(ctx, OID(id), size-1); size > 1 && !errors.Is(err, ErrTooLarge) {
				t.Fatalf("object %s with a limit: %v", id, err)
			}
		}
		fmt.Fprintf(&want, "%s %s %d\n%s\n", id, typ, size, o.Data)
		short, err := repo.objects.ExpandAll(id[:11], 10)
		if err != nil || len(short) != 1 || oidFromRaw(short[0]) != OID(id) {
			t.Fatalf("short id of %s: %x %v", id, short, err)
		}
	}
	if got := w.Git("cat-file", "--batch-all-objects", "--batch"); got+"\n" != want.String() {
		t.Error("objects differ from git's")
	}
	return len(all)
}

func TestObjectsAsGit(t *testing.T) {
	t.Parallel()
	for _, format := range []ObjectFormat{SHA1, SHA256} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			store, err := NewStore(t.TempDir(), StoreOptions{CacheBytes: 1 << 16}) // small: much is read again
			if err != nil {
				t.Fatal(err)
			}
			repo, err := store.InitFormat(context.Background(), 1, "main", format)
			if err != nil {
				t.Fatal(err)
			}
			w := gittest.At(t, repo.Path)
			grow(w, 120)
			if n := checkObjects(t, repo, w); n < 400 {
				t.Errorf("only %d objects", n)
			}
			w.Git("repack", "-adfq", "--window=50", "--depth=50")
			checkObjects(t, repo, w) // the old pack is gone under us
			grow(w, 3)
			w.Git("tag", "-a", "-m", "loose object", "v1", "main")
			checkObjects(t, repo, w)
		})
	}
}

func TestObjectsThroughAlternates(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	grow(w, 10)
	fork, err := repo.store.Init(t.Context(), 9, "main")
	if err != nil {
		t.Fatal(err)
	}
	id := OID(w.Git("rev-parse", "main"))
	if _, err := fork.Commit(t.Context(), id); !errors.Is(err, ErrNotFound) {
		t.Fatalf("before: %v", err)
	}
	if err := fork.SetAlternates([]string{repo.Path + "/objects"}); err != nil {
		t.Fatal(err)
	}
	if _, err := fork.Commit(t.Context(), id); err != nil {
		t.Fatalf("after: %v", err)
	}
	checkObjects(t, fork, gittest.At(t, fork.Path))
}

func TestBlobReader(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	base := bytes.Repeat([]byte("0123456789abcdef\n"), 700_000) // 12 MB, over the limit in memory
	for i := range len(base) / 4096 {
		base[i*4096] = byte(i)
	}
	other := append([]byte("in front\n"), base...)
	a := OID(w.GitIn(base, "hash-object", "-w", "--stdin"))
	b := OID(w.GitIn(other, "hash-object", "-w", "--stdin"))
	read := func(oid OID, want []byte) {
		t.Helper()
		r, size, err := repo.BlobReader(ctx, oid)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		got, err := io.ReadAll(r)
		if err != nil || size != int64(len(want)) || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, size %d, %v", oid, len(got), size, err)
		}
	}
	read(a, base)
	read(b, other)
	w.GitIn([]byte(a+"\n"+b+"\n"), "pack-objects", "-q", repo.Path+"/objects/pack/pack")
	w.Git("prune-packed")
	read(a, base)
	read(b, other)
	r, _, err := repo.BlobReader(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil { // unread
		t.Error(err)
	}
}
