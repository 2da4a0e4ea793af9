package odb

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/git/gittest"
)

// packed is a repository with one pack of deltas, and its objects' ids.
func packed(t *testing.T) (objects string, ids []string) {
	t.Helper()
	w := gittest.New(t)
	var commits []gittest.Commit
	for i := range 40 {
		text := strings.Repeat("a line that stays\n", 100) + fmt.Sprint(i) + strings.Repeat("another\n", i)
		commits = append(commits, gittest.Commit{Files: []gittest.File{gittest.Text("a", text), gittest.Text(fmt.Sprint("f", i), "x")}})
	}
	w.Commits(commits...)
	w.Git("repack", "-adfq")
	for _, id := range strings.Fields(w.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
		raw, err := hex.DecodeString(id)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, string(raw))
	}
	return filepath.Join(w.Path, "objects"), ids
}

// id is what an object's data must hash to.
func id(typ Type, data []byte) string {
	h := newHash(20)
	fmt.Fprintf(h, "%s %d\x00", typ, len(data))
	h.Write(data)
	return string(h.Sum(nil))
}

func TestDamagedPacks(t *testing.T) {
	t.Parallel()
	objects, ids := packed(t)
	packs, err := filepath.Glob(filepath.Join(objects, "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	good, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(7, 0))
	damaged := filepath.Join(t.TempDir(), "objects")
	failed, wrong := 0, 0
	for range 60 {
		bad := bytes.Clone(good)
		for range 1 + rnd.IntN(20) {
			bad[12+rnd.IntN(len(bad)-12)] = byte(rnd.IntN(256))
		}
		if rnd.IntN(5) == 0 {
			bad = bad[:rnd.IntN(len(bad))]
		}
		if err := os.RemoveAll(damaged); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(damaged, os.DirFS(objects)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(damaged, "pack", filepath.Base(packs[0]))
		_ = os.Remove(path)
		if err := os.WriteFile(path, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		db, err := Open(damaged, 20, NewCache(1<<20))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range ids {
			typ, data, err := db.Get(want, 0)
			if err != nil {
				failed++
				continue
			}
			if id(typ, data) != want {
				wrong++ // a broken copy instruction has no sum of its own
			}
			if _, err := db.Info(want); err != nil {
				t.Errorf("info of an object that can be read: %v", err)
			}
		}
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
	if wrong > failed/10 {
		t.Errorf("%d objects were read wrongly, %d not at all", wrong, failed)
	}
}

func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	objects, ids := packed(t)
	db, err := Open(objects, 20, NewCache(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"", "x", strings.Repeat("0123456789", 50_000)} {
		got, err := db.Write(Blob, int64(len(content)), strings.NewReader(content))
		if err != nil || got != id(Blob, []byte(content)) {
			t.Fatalf("write: %x %v", got, err)
		}
		typ, data, err := db.Get(got, 0)
		if err != nil || typ != Blob || string(data) != content {
			t.Errorf("read: %v %d bytes, %v", typ, len(data), err)
		}
		r, info, ok, err := db.Reader(got)
		if err != nil || !ok || info.Size != int64(len(content)) {
			t.Fatalf("reader: %v %v %v", info, ok, err)
		}
		read, err := io.ReadAll(r)
		if err != nil || string(read) != content || r.Close() != nil {
			t.Errorf("stream: %d bytes, %v", len(read), err)
		}
	}
	for _, size := range []int64{0, 1, 3} {
		if _, err := db.Write(Blob, size, strings.NewReader("ab")); err == nil {
			t.Errorf("two bytes were taken for %d", size)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(objects, "tmp_*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if _, err := db.ExpandAll("0000", 10); err != nil && !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if _, err := db.ExpandAll(hex.EncodeToString([]byte(ids[0]))[:4], 0); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("over the limit: %v", err)
	}
}

func TestDelta(t *testing.T) {
	t.Parallel()
	head := func(from, to int) []byte {
		return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(from)), uint64(to))
	}
	base := []byte("0123456789")
	good := append(head(10, 8), 0x91, 2, 4, 3, 'a', 'b', 'c', 0x90, 1) // copy 2+4, insert abc, copy 0+1
	got, err := applyDelta(base, good)
	if err != nil || string(got) != "2345abc0" {
		t.Errorf("%q %v", got, err)
	}
	for _, bad := range [][]byte{nil, head(9, 1), head(10, 1), append(head(10, 1), 0), append(head(10, 5), 5, 'a'),
		append(head(10, 20), 0x91, 5, 20), append(head(10, 1), 0x91), append(head(10, 1), 2, 'a', 'b'), append(head(10, 4), 0x9f, 255, 255, 255, 255, 4)} {
		if got, err := applyDelta(base, bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%x made %q, %v", bad, got, err)
		}
	}
}

func TestCacheStaysSmall(t *testing.T) {
	t.Parallel()
	c := NewCache(10_000)
	for i := range 100 {
		c.put(cacheKey{owner: t, offset: int64(i)}, Blob, make([]byte, 500))
		c.get(cacheKey{owner: t, offset: 0})
	}
	if c.size > 10_000 || len(c.entries) != c.order.Len() {
		t.Errorf("%d bytes, %d entries", c.size, len(c.entries))
	}
	if _, _, ok := c.get(cacheKey{owner: t, offset: 0}); !ok {
		t.Error("what is used again and again is gone")
	}
	c.put(cacheKey{owner: t, offset: 1000}, Blob, make([]byte, 5000))
	if _, _, ok := c.get(cacheKey{owner: t, offset: 1000}); ok {
		t.Error("one object took half of the cache")
	}
}

func FuzzDelta(f *testing.F) {
	f.Add([]byte("0123456789"), []byte{10, 8, 0x91, 2, 4, 3, 'a', 'b', 'c', 0x90, 1})
	f.Add([]byte{}, []byte{0, 0})
	f.Add([]byte("x"), []byte{1, 0x80, 0x80, 0x04, 0x80})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		if len(delta) > 64 {
			return // a few bytes may ask for much memory, which is no fault
		}
		_, _ = applyDelta(base, delta)
	})
}
