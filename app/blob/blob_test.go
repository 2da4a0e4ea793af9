package blob

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func open(t *testing.T, address string) *Stores {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "blobs"), address)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func random(n int) ([]byte, string) {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	h := sha256.Sum256(b)
	return b, hex.EncodeToString(h[:])
}

func read(t *testing.T, s Store, sha string) []byte {
	t.Helper()
	f, info, err := s.Open(t.Context(), sha)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil || int64(len(b)) != info.Size || info.SHA256 != sha {
		t.Fatalf("read %d bytes of %+v, %v", len(b), info, err)
	}
	return b
}

// empty fails the test when an unfinished put left a file.
func (s *Stores) empty(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(s.tmp)
	if err != nil || len(entries) > 0 {
		t.Errorf("temporary files stay: %v, %v", entries, err)
	}
}

func TestStores(t *testing.T) {
	t.Parallel()
	places := map[string]func(t *testing.T) string{
		"disk": func(*testing.T) string { return "" },
		"s3":   newFakeS3,
	}
	for name, address := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testStore(t, open(t, address(t)))
		})
	}
}

func testStore(t *testing.T, s *Stores) {
	ctx, space := t.Context(), s.Space("lfs")
	if err := s.Check(ctx); err != nil {
		t.Fatal(err)
	}
	content, sha := random(100_000)
	info, err := space.Put(ctx, bytes.NewReader(content))
	if err != nil || info.SHA256 != sha || info.Size != 100_000 {
		t.Fatalf("put: %+v, %v", info, err)
	}
	if got := read(t, space, sha); !bytes.Equal(got, content) {
		t.Error("other content comes back")
	}
	f, _, err := space.Open(ctx, sha)
	if err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 10)
	if _, err := f.Seek(-10, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(f, part); err != nil || !bytes.Equal(part, content[99_990:]) {
		t.Errorf("the last ten bytes: %x, %v", part, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"other content": space.PutAs(ctx, sha, 5, strings.NewReader("hello")),
		"too long":      space.PutAs(ctx, sha, 99_999, bytes.NewReader(content)),
		"too short":     space.PutAs(ctx, sha, 100_001, bytes.NewReader(content)),
		"a path":        space.PutAs(ctx, "../../../../etc/passwd", 5, strings.NewReader("hello")),
	} {
		if !errors.Is(err, ErrMismatch) {
			t.Errorf("%s: %v, want a mismatch", what, err)
		}
	}
	if err := space.PutAs(ctx, sha, 100_000, bytes.NewReader(content)); err != nil {
		t.Errorf("put again: %v", err)
	}
	// Another space has blobs of its own.
	other := s.Space("attachments")
	if _, err := other.Stat(ctx, sha); !errors.Is(err, ErrNotFound) {
		t.Errorf("stat in another space: %v", err)
	}
	if err := other.Delete(ctx, sha); err != nil {
		t.Error(err)
	}
	if info, err := space.Stat(ctx, sha); err != nil || info.Size != 100_000 || time.Since(info.ModTime) > time.Hour {
		t.Errorf("stat: %+v, %v", info, err)
	}
	var all []string
	if err := space.Each(ctx, func(i Info) error { all = append(all, i.SHA256); return nil }); err != nil || len(all) != 1 || all[0] != sha {
		t.Errorf("each: %v, %v", all, err)
	}
	if err := space.Delete(ctx, sha); err != nil {
		t.Error(err)
	}
	if _, _, err := space.Open(ctx, sha); !errors.Is(err, ErrNotFound) {
		t.Errorf("open after delete: %v", err)
	}
	s.empty(t)
}

func TestFailedPutLeavesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	broken := errors.New("the line broke")
	_, err := s.Space("lfs").Put(t.Context(), io.MultiReader(strings.NewReader("half"), failing{broken}))
	if !errors.Is(err, broken) {
		t.Errorf("put: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Space("lfs").Put(ctx, strings.NewReader("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("put after the end: %v", err)
	}
	s.empty(t)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestPutsAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	content, sha := random(50_000)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := s.Space("lfs").PutAs(t.Context(), sha, 50_000, bytes.NewReader(content)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if !bytes.Equal(read(t, s.Space("lfs"), sha), content) {
		t.Error("other content comes back")
	}
	s.empty(t)
}

func TestPartial(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	ctx := t.Context()
	content, sha := random(1000)
	p := s.Partial("7-" + sha)
	want := func(step string, size int64, err error, wantSize int64, wantErr error) {
		t.Helper()
		if size != wantSize || !errors.Is(err, wantErr) {
			t.Errorf("%s: %d, %v; want %d, %v", step, size, err, wantSize, wantErr)
		}
	}
	size, err := p.Size()
	want("new", size, err, 0, nil)
	broken := errors.New("the line broke")
	size, err = p.Append(ctx, 0, 1000, io.MultiReader(bytes.NewReader(content[:400]), failing{broken}))
	want("broken", size, err, 400, broken)
	size, err = p.Append(ctx, 300, 1000, bytes.NewReader(content[300:]))
	want("wrong offset", size, err, 400, ErrOffset)
	size, err = p.Append(ctx, 400, 1000, bytes.NewReader(content[400:]))
	want("the rest", size, err, 1000, nil)
	if err := p.Finish(ctx, s.Space("lfs"), sha, 1000); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, s.Space("lfs"), sha), content) {
		t.Error("other content comes back")
	}
	size, err = p.Append(ctx, 0, 3, strings.NewReader("long"))
	want("too much", size, err, 3, ErrMismatch)
	if err := p.Finish(ctx, s.Space("lfs"), sha, 1000); !errors.Is(err, ErrMismatch) {
		t.Errorf("finish with other content: %v", err)
	}
	s.empty(t)
	if _, err := p.Append(ctx, 0, 3, strings.NewReader("a")); err != nil {
		t.Fatal(err)
	}
	if err := s.CleanTemp(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	s.empty(t)
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://x/y", "s3://", "s3://host", "s3://host/"} {
		if _, err := Open(t.TempDir(), address); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want an error of one line", address, err)
		}
	}
	s := open(t, "s3://key:secret@s3.example.com/bucket/below?region=eu-1")
	if s.String() != "s3://s3.example.com/bucket/below" {
		t.Errorf("shown as %q", s)
	}
}
