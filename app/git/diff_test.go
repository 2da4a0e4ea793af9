package git

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/git/gittest"
)

// replay applies a file's hunks to its old content.
func replay(t *testing.T, f *DiffFile, old string) string {
	t.Helper()
	var out strings.Builder
	src := strings.SplitAfter(old, "\n")
	if src[len(src)-1] == "" {
		src = src[:len(src)-1]
	}
	at := 0
	for _, h := range f.Hunks {
		start := h.OldStart - 1
		if h.OldLines == 0 {
			start = h.OldStart
		}
		for ; at < start; at++ {
			out.WriteString(src[at])
		}
		for _, l := range h.Lines {
			text := l.Text + "\n"
			if l.NoNewline {
				text = l.Text
			}
			if l.Kind != LineAdded {
				if at >= len(src) || src[at] != text || l.Old != at+1 {
					t.Fatalf("%q: line %d is %q in the diff", f.Name(), l.Old, text)
				}
				at++
			}
			if l.Kind != LineDeleted {
				out.WriteString(text)
				if n := strings.Count(out.String(), "\n"); !l.NoNewline && l.New != n {
					t.Fatalf("%q: new line %d is numbered %d", f.Name(), n, l.New)
				}
			}
		}
	}
	for ; at < len(src); at++ {
		out.WriteString(src[at])
	}
	return out.String()
}

// checkDiff compares a diff with git's files and counts, and replays it.
func checkDiff(t *testing.T, repo *Repository, w *gittest.Repo, opts DiffOptions) []DiffFile {
	t.Helper()
	ctx := t.Context()
	files, err := repo.Diff(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := repo.DiffFiles(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "files of both", len(files), len(listed))
	for i := range files {
		f, l := files[i], listed[i]
		f.Hunks = nil
		if fmt.Sprint(f) != fmt.Sprint(l) && f.Status != StatusTypeChanged {
			t.Errorf("with lines %+v, without %+v", f, l)
		}
		if f = files[i]; f.Binary || f.IsSubmodule() || f.Status == StatusTypeChanged || opts.Whitespace != 0 {
			continue
		}
		read := func(oid OID) string {
			if oid == "" {
				return ""
			}
			data, err := repo.Blob(ctx, oid, 0)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
		old := read(f.OldOID)
		if len(f.Hunks) == 0 && f.OldOID != f.NewOID && f.Status != StatusRenamed && old+read(f.NewOID) != "" {
			t.Errorf("%q has no lines", f.Name())
		}
		same(t, "replay of "+f.Name(), replay(t, &f, old), read(f.NewOID))
	}
	return files
}

func TestDiffOfOddFiles(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	long := strings.Repeat("some line that is kept\n", 20)
	var before, after []gittest.File
	for i, name := range gittest.OddNames() {
		before = append(before, gittest.Text(name, fmt.Sprintf("%d\nold\nrest\n", i)))
		after = append(after, gittest.Text(name, fmt.Sprintf("%d\nnew\nrest\n", i)))
	}
	before = append(before,
		gittest.Text("crlf", "a\r\nb\r\nc\r\n"), gittest.Text("mixed", "a\r\nb\nc"), gittest.Text("no end", "x"),
		gittest.Text("binary", "a\x00b"), gittest.Text("old \xff name", long), gittest.Text("pure", long+"pure"),
		gittest.File{Path: "mode", Content: "m\n", Mode: "100755"}, gittest.Text("gone", "1\n2\n"), gittest.Text("empty", ""),
		gittest.Link("link", "target"), gittest.Submodule("sub", strings.Repeat("1", 40)), gittest.Text("type", "file\n"),
		gittest.Text("spoof", "a\n-- \n@@ -1 +1 @@\n"), gittest.Text("blank", "a b\n"), gittest.Text("blank 2", "a b\n"), gittest.Text("latin", "caf\xe9\n"))
	after = append(after,
		gittest.Text("crlf", "a\r\nB\r\nc\r\n"), gittest.Text("mixed", "a\nb\r\nc\n"), gittest.Text("no end", "x\ny"),
		gittest.Text("binary", "a\x00c"), gittest.Delete("old \xff name"), gittest.Text("new\nname", long+"more\n"),
		gittest.Delete("pure"), gittest.Text("dir/pure", long+"pure"),
		gittest.File{Path: "mode", Content: "m\n"}, gittest.Delete("gone"), gittest.Delete("empty"), gittest.Text("empty 2", ""),
		gittest.Link("link", "other"), gittest.Submodule("sub", strings.Repeat("2", 40)), gittest.Link("type", "spoof"),
		gittest.Text("spoof", "diff --git a/x b/x\n++ b\n@@ -1 +1 @@\n\\ No newline at end of file"),
		gittest.Text("blank", "a  b\n"), gittest.Text("blank 2", "a  b\n"), gittest.Text("latin", "caf\xe8\n"), gittest.Text("added", "1\n2"))
	base := OID(w.Commit(gittest.Commit{Files: before}))
	head := OID(w.Commit(gittest.Commit{Files: after}))
	files := checkDiff(t, repo, w, DiffOptions{Base: base, Head: head})
	checkDiff(t, repo, w, DiffOptions{Base: head, Head: base, Context: -1})
	checkDiff(t, repo, w, DiffOptions{Base: base, Head: head, NoRenames: true, Context: 10})
	checkDiff(t, repo, w, DiffOptions{Head: head})
	checkDiff(t, repo, w, DiffOptions{Base: base, Head: repo.EmptyTree()})

	by := map[string]*DiffFile{}
	for i := range files {
		by[files[i].Name()] = &files[i]
	}
	same(t, "renamed", by["new\nname"].OldName, "old \xff name")
	same(t, "renamed status", by["new\nname"].Status.String(), "renamed")
	same(t, "pure rename", by["dir/pure"].Similarity, 100)
	same(t, "binary", by["binary"].Binary, true)
	same(t, "mode", by["mode"].ModeChanged() && len(by["mode"].Hunks) == 0, true)
	same(t, "carriage return stays", by["crlf"].Hunks[0].Lines[2].Text, "B\r")
	same(t, "submodule", by["sub"].IsSubmodule() && by["sub"].Hunks[0].Lines[1].Text == "Subproject commit "+strings.Repeat("2", 40), true)
	same(t, "type", by["type"].Status == StatusTypeChanged && by["type"].Additions == 1 && by["type"].Deletions == 1, true)
	same(t, "no end", by["no end"].Hunks[0].Lines[2].NoNewline, true)
	same(t, "raw bytes", by["latin"].Hunks[0].Lines[1].Text, "caf\xe8")

	spaces := checkDiff(t, repo, w, DiffOptions{Base: base, Head: head, Whitespace: IgnoreAllWhitespace})
	for _, f := range spaces {
		if strings.HasPrefix(f.Name(), "blank") && len(f.Hunks) > 0 {
			t.Errorf("%q shows blanks", f.Name())
		}
		if f.Name() == "latin" && len(f.Hunks) != 1 {
			t.Errorf("latin is lost: %+v", f)
		}
	}
	one, err := repo.Diff(t.Context(), DiffOptions{Base: base, Head: head, Paths: by["new\nname"].Paths()})
	if err != nil || len(one) != 1 || one[0].Status != StatusRenamed {
		t.Errorf("one file: %+v %v", one, err)
	}
}

func TestDiffOfRandomFiles(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	rnd := rand.New(rand.NewPCG(3, 0))
	text := func() string {
		var b strings.Builder
		for range rnd.IntN(60) {
			b.WriteString(strings.Repeat("x", rnd.IntN(3)) + []string{"\n", "\r\n", "a\n", "+\n", "-\n", "\\\n", "@@ -1 +1 @@\n"}[rnd.IntN(7)])
		}
		if rnd.IntN(3) == 0 {
			b.WriteString("end")
		}
		return b.String()
	}
	var commits []gittest.Commit
	for range 12 {
		var files []gittest.File
		for n := range 20 {
			if rnd.IntN(4) == 0 {
				files = append(files, gittest.Delete(fmt.Sprint("f", n)))
			} else if rnd.IntN(2) == 0 {
				files = append(files, gittest.Text(fmt.Sprint("f", n), text()))
			}
		}
		commits = append(commits, gittest.Commit{Files: files})
	}
	ids := w.Commits(commits...)
	for i := 1; i < len(ids); i++ {
		checkDiff(t, repo, w, DiffOptions{Base: OID(ids[i-1]), Head: OID(ids[i])})
	}
}

func TestDiffLimits(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	many := make([]gittest.File, 0, 300)
	for i := range 300 {
		many = append(many, gittest.Text(fmt.Sprintf("f%03d", i), "one\ntwo\n"))
	}
	many = append(many, gittest.Text("long", strings.Repeat("y", 200_000)+"\nshort\n"), gittest.Text("tall", strings.Repeat("z\n", 5000)))
	head := OID(w.Commit(gittest.Commit{Files: many}))
	files, err := repo.Diff(ctx, DiffOptions{Head: head, MaxFiles: 10})
	if err != nil || len(files) != 302 {
		t.Fatal(len(files), err)
	}
	same(t, "kept", !files[9].Truncated && len(files[9].Hunks) == 1, true)
	same(t, "left out", files[10].Truncated && len(files[10].Hunks) == 0 && files[10].Additions == 2, true)
	files, err = repo.Diff(ctx, DiffOptions{Head: head, MaxLines: 21, MaxFileLines: 100, MaxLineBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, f := range files {
		for _, h := range f.Hunks {
			total += len(h.Lines)
		}
	}
	same(t, "lines", total, 21)
	files, err = repo.Diff(ctx, DiffOptions{Head: head, MaxFileLines: 100, MaxFileBytes: 5000, MaxLineBytes: 1000, Paths: []string{"long", "tall"}})
	if err != nil || len(files) != 2 {
		t.Fatal(err)
	}
	long, tall := files[0], files[1]
	same(t, "cut line", long.Hunks[0].Lines[0].Cut && len(long.Hunks[0].Lines[0].Text) == 1000, true)
	same(t, "after it", long.Hunks[0].Lines[1].Text, "short")
	same(t, "tall", tall.Truncated && len(tall.Hunks[0].Lines) == 100 && tall.Additions == 5000, true)
}

func TestDiffFromMergeBase(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("a", "a\n")}})
	fork := w.Git("rev-parse", "main")
	main := w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("main", "m\n")}})
	side := w.Commit(gittest.Commit{Branch: "side", Parents: []string{fork}, Files: []gittest.File{gittest.Text("side", "s\n")}})
	alone := w.Commit(gittest.Commit{Branch: "alone", NoParent: true, Files: []gittest.File{gittest.Text("z", "z\n")}})
	names := func(opts DiffOptions) string {
		t.Helper()
		files, err := repo.DiffFiles(ctx, opts)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, f := range files {
			list = append(list, f.Status.String()+" "+f.Name())
		}
		return strings.Join(list, ", ")
	}
	same(t, "two dots", names(DiffOptions{Base: OID(main), Head: OID(side)}), "removed main, added side")
	same(t, "three dots", names(DiffOptions{Base: OID(main), Head: OID(side), MergeBase: true}), "added side")
	same(t, "unrelated", names(DiffOptions{Base: OID(main), Head: OID(alone), MergeBase: true}), "added z")
	var diff, mail, again bytes.Buffer
	opts := DiffOptions{Base: OID(main), Head: OID(side), MergeBase: true}
	if err := repo.Patch(ctx, PatchDiff, opts, &diff); err != nil || !strings.HasPrefix(diff.String(), "diff --git a/side b/side\n") {
		t.Errorf("diff: %q %v", diff.String(), err)
	}
	if err := repo.Patch(ctx, PatchMail, opts, &mail); err != nil || !strings.HasPrefix(mail.String(), "From "+side+" ") {
		t.Errorf("patch: %q %v", mail.String(), err)
	}
	if err := repo.Patch(ctx, PatchMail, DiffOptions{Head: OID(alone)}, &again); err != nil || !strings.HasPrefix(again.String(), "From "+alone+" ") {
		t.Errorf("patch of a root: %q %v", again.String(), err)
	}
}

func TestWordDiff(t *testing.T) {
	t.Parallel()
	mark := func(s string, ranges []Range) string {
		var b strings.Builder
		at := 0
		for _, r := range ranges {
			b.WriteString(s[at:r.Start] + "[" + s[r.Start:r.End] + "]")
			at = r.End
		}
		return b.String() + s[at:]
	}
	for _, c := range []struct{ before, after, a, b string }{
		{"x := foo(a, b)", "x := foo(a, c)", "x := foo(a, [b])", "x := foo(a, [c])"},
		{"return nil", "return nil, err", "return nil", "return nil[, err]"},
		{"größe = 1", "größe = 12", "größe = [1]", "größe = [12]"},
		{"caf\xe9 bar", "caf\xe8 bar", "caf[\xe9] bar", "caf[\xe8] bar"},
		{"same", "same", "same", "same"},
		{"alpha beta gamma", "one two three", "alpha beta gamma", "one two three"},
		{"", "x", "", "x"},
	} {
		a, b := WordDiff(c.before, c.after)
		same(t, c.before, mark(c.before, a), c.a)
		same(t, c.after, mark(c.after, b), c.b)
	}
	h := Hunk{Lines: []Line{{Kind: LineDeleted, Text: "a b"}, {Kind: LineDeleted, Text: "c d"}, {Kind: LineAdded, Text: "a x"}, {Kind: LineContext, Text: "-"}}}
	h.MarkWords()
	same(t, "pairs", slices.Equal(h.Lines[0].Marks, []Range{{2, 3}}) && slices.Equal(h.Lines[2].Marks, []Range{{2, 3}}) && h.Lines[1].Marks == nil, true)
}

func FuzzDiff(f *testing.F) {
	ids := strings.Repeat("1", 40) + " " + strings.Repeat("2", 40)
	index := strings.ReplaceAll(ids, " ", "..")
	f.Add([]byte(":100644 100644 " + ids + " M\x00a\x00\x00diff --git a/a b/a\nindex " + index + " 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1 @@ f\n-x\n \n\\ No newline at end of file\n"))
	f.Add([]byte(":100644 100644 " + ids + " R090\x00a\x00b\x00:100644 000000 " + ids + " D\x00c\x00\x00diff --git a/a b/b\nBinary files differ\n"))
	f.Add([]byte(":100644 120000 " + ids + " T\x00a\x00\x001\t2\ta\x00-\t-\t\x00a\x00b\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opts := range []DiffOptions{{}, {MaxFiles: 1, MaxLines: 3, MaxFileLines: 2, MaxFileBytes: 5, MaxLineBytes: 2}} {
			files, err := parseDiff(bytes.NewReader(data), &opts)
			if err != nil {
				continue
			}
			kept := 0
			for _, file := range files {
				for _, h := range file.Hunks {
					kept += len(h.Lines)
					h.MarkWords()
				}
			}
			if opts.MaxLines > 0 && kept > opts.MaxLines {
				t.Errorf("%d lines are kept", kept)
			}
		}
		_, _ = parseDiffFiles(bytes.NewReader(data))
	})
}
