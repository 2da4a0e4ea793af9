package git

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/git/gittest"
)

func TestBlame(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	a := w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("old\xff\n.txt", "one\ntwo\nthree\nfour\nfive\n")}})
	b := w.Commit(gittest.Commit{Files: []gittest.File{gittest.Delete("old\xff\n.txt"), gittest.Text("new \".txt", "one\ntwo\nthree\nfour\nfive\nsix\n")}})
	c := w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("new \".txt", "  one\n  two\n  three\n  four\n  five\n  six\n")}})
	d := w.Commit(gittest.Commit{Files: []gittest.File{
		gittest.Text("new \".txt", "  one\nTWO\n  three\n  four\n  five\n  six\n"),
		gittest.Text(IgnoreRevsFile, "# formatting\n"+c+" # all\n"+strings.Repeat("9", 40)+"\nnonsense\n"),
	}})
	show := func(opts BlameOptions) string {
		t.Helper()
		hunks, err := repo.Blame(ctx, OID(d), "new \".txt", opts)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		next := 1
		for _, h := range hunks {
			same(t, "no gaps", h.Line, next)
			next += h.Count
			if h.Commit.Tree == "" {
				t.Error("the commit was not read")
			}
			name := map[string]string{a: "a", b: "b", c: "c", d: "d"}
			out = append(out, fmt.Sprintf("%s%d+%d<%s", name[string(h.Commit.OID)], h.Line, h.Count, name[string(h.Previous)]))
		}
		same(t, "all lines", next, 7)
		return strings.Join(out, " ")
	}
	same(t, "plain", show(BlameOptions{}), "c1+1<b d2+1<c c3+4<b")
	same(t, "ignoring", show(BlameOptions{IgnoreRevs: true}), "a1+1< d2+1<c a3+3< b6+1<a")
	same(t, "blanks", show(BlameOptions{Whitespace: true}), "a1+1< d2+1<c a3+3< b6+1<a")
	hunks, err := repo.Blame(ctx, OID(b), "new \".txt", BlameOptions{})
	if err != nil || hunks[0].OrigPath != "old\xff\n.txt" || hunks[len(hunks)-1].PreviousPath != "old\xff\n.txt" {
		t.Errorf("%+v %v", hunks, err)
	}
	for path, want := range map[string]error{"none": ErrNotFound, "": ErrWrongType} {
		if _, err := repo.Blame(ctx, OID(d), path, BlameOptions{}); !errors.Is(err, want) {
			t.Errorf("%q: %v", path, err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := repo.Blame(ended, OID(a), "old\xff\n.txt", BlameOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	id := OID(w.Commit(gittest.Commit{Files: []gittest.File{
		gittest.Text(".gitattributes", "secret export-ignore\n"), gittest.Text("secret", "s"), gittest.Text("dir/ü", "u"),
		gittest.Link("link", "dir/ü"), {Path: "run", Content: "#!", Mode: "100755"}, gittest.Submodule("sub", strings.Repeat("3", 40)),
	}}))
	pack := func(format ArchiveFormat) []byte {
		t.Helper()
		var out bytes.Buffer
		if err := repo.Archive(ctx, id, format, "name-1.0", &out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for _, format := range []ArchiveFormat{ArchiveZip, ArchiveTarGz, ArchiveTar} {
		if !bytes.Equal(pack(format), pack(format)) {
			t.Errorf("%s: two archives differ", format)
		}
	}
	data := pack(ArchiveZip)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	same(t, "zip", strings.Join(names, " "), "name-1.0/ name-1.0/.gitattributes name-1.0/dir/ name-1.0/dir/ü name-1.0/link name-1.0/run name-1.0/sub/")
	g, err := gzip.NewReader(bytes.NewReader(pack(ArchiveTarGz)))
	if err != nil {
		t.Fatal(err)
	}
	tr := tar.NewReader(g)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeXGlobalHeader {
			same(t, "time of "+h.Name, h.ModTime.Unix(), int64(1_700_000_000))
		}
	}
	var out bytes.Buffer
	tree, _ := repo.TreeOf(ctx, id)
	if err := repo.Archive(ctx, tree, ArchiveTar, "", &out); !errors.Is(err, ErrWrongType) {
		t.Errorf("a tree: %v", err)
	}
	if err := repo.Archive(ctx, id, "rar", "", &out); err == nil {
		t.Error("an unknown format was taken")
	}
	if err := repo.Archive(ctx, id, ArchiveTar, "../x", &out); err == nil {
		t.Error("a folder outside was taken")
	}
	same(t, "nothing written", out.Len(), 0)
}
