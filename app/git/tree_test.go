package git

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/git/gittest"
)

func TestOddNames(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	var files []gittest.File
	for i, name := range gittest.OddNames() {
		files = append(files, gittest.Text(name, fmt.Sprint("content ", i)))
		if len(name) < 255 {
			files = append(files, gittest.Text("folder "+name+"/x/"+name, fmt.Sprint("deep ", i)))
		}
	}
	id := OID(w.Commit(gittest.Commit{Files: files}))
	entries, self, err := repo.TreeAt(ctx, id, "")
	if err != nil || !self.IsTree() {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	same(t, "root", strings.Join(names, "\x00")+"\x00", w.Git("ls-tree", "-z", "--name-only", string(id)))
	for _, f := range files {
		data, e, err := repo.BlobAt(ctx, id, f.Path, 0)
		if err != nil || string(data) != f.Content || e.Kind() != KindFile {
			t.Errorf("%q: %q %v", f.Path, data, err)
		}
		if shown := Display(f.Path); strings.ContainsAny(shown, "\r\n\t") || !utf8.ValidString(shown) {
			t.Errorf("shown as %q", shown)
		}
		commits, err := repo.Log(ctx, id, LogOptions{Path: f.Path})
		if err != nil || len(commits) != 1 {
			t.Errorf("log of %q: %v %v", f.Path, commits, err)
		}
	}
	for _, path := range []string{"nothing", "a\"b/x", "../x", "hello%mother.txt/", "a//b", ".", "x\x00", "folder -leading/x/y"} {
		_, err := repo.EntryAt(ctx, id, path)
		if path == "hello%mother.txt/" {
			if err != nil {
				t.Errorf("%q: %v", path, err)
			}
		} else if !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", path, err)
		}
	}
	if _, _, err := repo.TreeAt(ctx, id, "README.md"); !errors.Is(err, ErrWrongType) {
		t.Errorf("a file as a folder: %v", err)
	}
}

func TestKindsAndSubmodules(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	sub := strings.Repeat("12", 20)
	id := OID(w.Commit(gittest.Commit{Files: []gittest.File{
		gittest.Text("docs/README.md", "readme"),
		gittest.Link("README.md", "docs/README.md"),
		gittest.Link("docs/up", "../docs/./README.md"),
		gittest.Link("out", "../../etc/passwd"), gittest.Link("absolute", "/etc/passwd"),
		gittest.Link("self", "self"), gittest.Link("a", "b"), gittest.Link("b", "a"), gittest.Link("dir", "docs"),
		{Path: "run.sh", Content: "#!", Mode: "100755"},
		gittest.Submodule("lib/sib", sub), gittest.Submodule("org repo", sub),
		gittest.Text(".gitmodules", "# comment\n[submodule \"sib\"]\n\tpath = lib/sib\n\turl = ../sib.git\n\tbranch=dev\n"+
			"[submodule \"q \\\"x\\\"\"]\n\tpath = \"org repo\" ; comment\n\turl = https://example.org/a#b/c\n\n[core]\n\turl = no\n"),
	}}))
	kinds := map[string]Kind{"docs": KindTree, "README.md": KindSymlink, "run.sh": KindExecutable, "lib/sib": KindSubmodule, ".gitmodules": KindFile}
	for path, want := range kinds {
		e, err := repo.EntryAt(ctx, id, path)
		if err != nil || e.Kind() != want {
			t.Errorf("%s: %v %v", path, e, err)
		}
	}
	for from, want := range map[string]string{"README.md": "docs/README.md", "docs/up": "docs/README.md", "dir": "docs",
		"out": "", "absolute": "", "self": "", "a": "", "run.sh": "run.sh"} {
		path, _, err := repo.FollowLinks(ctx, id, from)
		if want == "" && !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %q %v", from, path, err)
		}
		same(t, from, path, want)
	}
	mods, err := repo.Submodules(ctx, id)
	if err != nil || len(mods) != 2 {
		t.Fatalf("%+v %v", mods, err)
	}
	same(t, "sib", mods["lib/sib"], Submodule{Name: "sib", Path: "lib/sib", URL: "../sib.git", Branch: "dev"})
	same(t, "quoted", mods["org repo"], Submodule{Name: `q "x"`, Path: "org repo", URL: "https://example.org/a#b/c"})
	if _, _, err := repo.BlobAt(ctx, id, "lib/sib", 0); !errors.Is(err, ErrWrongType) {
		t.Errorf("submodule as a file: %v", err)
	}
}
