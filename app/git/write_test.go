package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/git/gittest"
)

func blob(t *testing.T, repo *Repository, text string) OID {
	t.Helper()
	oid, err := repo.WriteBlob(t.Context(), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return oid
}

func TestEditTreeAsGit(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	base := OID(w.Commit(gittest.Commit{Files: []gittest.File{
		gittest.Text("a.txt", "a"), gittest.Text("a-b", "x"), gittest.Text("a/deep/er/f", "f"), gittest.Text("a/g", "g"),
		{Path: "run", Content: "#!", Mode: "100755"}, gittest.Text("z\xff", "z"), gittest.Text("only/one", "1"),
	}}))
	tree, err := repo.TreeOf(ctx, base)
	if err != nil {
		t.Fatal(err)
	}
	unchanged, err := repo.EditTree(ctx, tree, nil)
	if err != nil || unchanged != tree {
		t.Errorf("no change: %s %v", unchanged, err)
	}
	x := blob(t, repo, "new")
	got, err := repo.EditTree(ctx, tree, []Change{
		{Path: "a.txt", OID: x},
		{Path: "run", OID: x}, // keeps its mode
		{Path: "new/dir/file", OID: x},
		{Path: "only/one", Delete: true},
		{Path: "moved/f2", From: "a/deep/er/f"},
		{Path: "folder", From: "a"},
		{Path: "folder/h", OID: x, Mode: ModeSymlink},
		{Path: "z\xff", From: "z\xff", Mode: ModeExecutable},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := w.Commit(gittest.Commit{Branch: "want", Parents: []string{string(base)}, Files: []gittest.File{
		gittest.Text("a.txt", "new"), {Path: "run", Content: "new", Mode: "100755"}, gittest.Text("new/dir/file", "new"),
		gittest.Delete("only/one"), gittest.Delete("a/deep/er/f"), gittest.Delete("a/g"),
		gittest.Text("moved/f2", "f"), gittest.Text("folder/g", "g"), gittest.Link("folder/h", "new"), {Path: "z\xff", Content: "z", Mode: "100755"},
	}})
	same(t, "tree", string(got), w.Git("rev-parse", want+"^{tree}"))
	w.Git("fsck", "--strict", "--no-dangling")

	for _, c := range []struct {
		change Change
		err    error
	}{
		{Change{Path: "a", OID: x}, ErrPathConflict},
		{Change{Path: "a.txt/b", OID: x}, ErrPathConflict},
		{Change{Path: "nothing", Delete: true}, ErrNotFound},
		{Change{Path: "a.txt/x", Delete: true}, ErrNotFound},
		{Change{Path: "y", From: "nothing/x"}, ErrNotFound},
		{Change{Path: "../x", OID: x}, nil}, {Change{Path: "a/.git/x", OID: x}, nil}, {Change{Path: ".GIT", OID: x}, nil},
		{Change{Path: "GIT~1", OID: x}, nil}, {Change{Path: ".g\u200cit", OID: x}, nil}, {Change{Path: ".git::$INDEX", OID: x}, nil},
		{Change{Path: "", OID: x}, nil}, {Change{Path: "x"}, nil}, {Change{Path: "x", OID: x, Mode: 7}, nil},
		{Change{Path: strings.Repeat("p/", 3000) + "x", OID: x}, nil},
	} {
		_, err := repo.EditTree(ctx, tree, []Change{c.change})
		if err == nil || (c.err != nil && !errors.Is(err, c.err)) {
			t.Errorf("%+v: %v", c.change, err)
		}
	}
}

func TestCommitTreeAsGit(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	parent := OID(w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("a", "b")}}))
	tree, err := repo.TreeOf(ctx, parent)
	if err != nil {
		t.Fatal(err)
	}
	when := time.Unix(1_700_000_000, 0).In(time.FixedZone("", 5400))
	spec := CommitSpec{Tree: tree, Parents: []OID{parent}, Message: "Grüße\n\nbody",
		Author: Person{"Jürgen <x>\n", "j@x", when}, Committer: Person{"", "", when}}
	oid, err := repo.CommitTree(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "as git reads it", w.Git("log", "-1", "--format=%an|%ae|%aI|%cn|%ce|%B|%P|%T", string(oid)),
		"Jürgen x|j@x|2023-11-14T23:43:20+01:30|unknown||Grüße\n\nbody\n|"+string(parent)+"|"+string(tree))
	w.Git("fsck", "--strict", "--no-dangling", string(oid))
	var signed []byte
	spec.Sign = func(payload []byte) (string, error) {
		signed = bytes.Clone(payload)
		return "-----BEGIN SSH SIGNATURE-----\nxyz\n-----END SSH SIGNATURE-----\n", nil
	}
	if oid, err = repo.CommitTree(ctx, spec); err != nil {
		t.Fatal(err)
	}
	payload, signature, err := repo.SignedCommit(ctx, oid)
	if err != nil || payload != string(signed) || !strings.Contains(signature, "\nxyz\n") {
		t.Errorf("%q %q %v", payload, signature, err)
	}
	tag, err := repo.WriteTag(ctx, TagSpec{Name: "v1", Object: oid, Tagger: Person{"T", "t@x", when}, Message: "msg"})
	if err != nil {
		t.Fatal(err)
	}
	w.Git("fsck", "--strict", "--no-dangling", string(tag))
}

func TestWriteBlobStreams(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	content := bytes.Repeat([]byte("0123456789\r\n"), 100_000)
	unsized := struct{ io.Reader }{bytes.NewReader(content)}
	oid, err := repo.WriteBlob(t.Context(), unsized)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "id", string(oid), w.GitIn(content, "hash-object", "--stdin"))
	again, err := repo.WriteBlob(t.Context(), bytes.NewReader(content))
	if err != nil || again != oid {
		t.Errorf("again: %s %v", again, err)
	}
	same(t, "loose objects", w.Git("count-objects"), fmt.Sprintf("1 objects, %s", strings.SplitN(w.Git("count-objects"), ", ", 2)[1]))
	failing := io.MultiReader(strings.NewReader("x"), errReader{})
	if _, err := repo.WriteBlob(t.Context(), failing); err == nil {
		t.Error("a reader that failed was taken")
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("broken") }

func TestUpdateRefs(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	ids := w.Commits(gittest.Commit{}, gittest.Commit{})
	a, b := OID(ids[0]), OID(ids[1])
	zero := repo.ZeroOID()
	ref := func(name string) string {
		r, err := repo.Ref(ctx, name)
		if err != nil && !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		return string(r.OID)
	}
	if err := repo.UpdateRefs(ctx, []RefUpdate{
		{"refs/heads/x", zero, a}, {"refs/heads/🧬\xff", "", b}, {"refs/heads/main", b, a}}); err != nil {
		t.Fatal(err)
	}
	same(t, "x", ref("refs/heads/x"), ids[0])
	same(t, "main", ref("refs/heads/main"), ids[0])
	same(t, "odd", ref("refs/heads/🧬\xff"), ids[1])

	for _, c := range []struct {
		bad  RefUpdate
		err  error
		name string
	}{
		{RefUpdate{"refs/heads/x", b, b}, ErrRefChanged, "refs/heads/x"},
		{RefUpdate{"refs/heads/x", zero, b}, ErrRefChanged, "refs/heads/x"},
		{RefUpdate{"refs/heads/none", a, b}, ErrRefChanged, "refs/heads/none"},
		{RefUpdate{"refs/heads/none", a, zero}, ErrRefChanged, "refs/heads/none"},
		{RefUpdate{"refs/heads/x/y", "", b}, ErrRefConflict, "refs/heads/x/y"},
		{RefUpdate{"refs/heads/a..b", "", b}, nil, "refs/heads/a..b"},
		{RefUpdate{"refs/heads/\x00", "", b}, nil, "refs/heads/\x00"},
		{RefUpdate{"refs/heads/y", "", OID(strings.Repeat("1", 40))}, nil, "refs/heads/y"},
		{RefUpdate{"refs/heads/y", "", "main"}, nil, "refs/heads/y"},
	} {
		err := repo.UpdateRefs(ctx, []RefUpdate{{"refs/heads/main", "", b}, c.bad})
		var re *RefError
		if !errors.As(err, &re) || re.Name != c.name || (c.err != nil && !errors.Is(err, c.err)) {
			t.Errorf("%q: %v", c.bad, err)
		}
		same(t, "nothing moved", ref("refs/heads/main"), ids[0])
	}
	tx, err := repo.PrepareRefs(ctx, []RefUpdate{{"refs/heads/main", a, b}}, RefOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.UpdateRefs(ctx, []RefUpdate{{"refs/heads/main", a, b}}); !errors.Is(err, ErrRefBusy) {
		t.Errorf("locked: %v", err)
	}
	tx.Abort()
	same(t, "aborted", ref("refs/heads/main"), ids[0])
	if err := tx.Commit(); err == nil {
		t.Error("commit after abort")
	}
	if err := repo.UpdateRefs(ctx, []RefUpdate{{"refs/heads/x", a, zero}, {"refs/heads/none", "", ""}}); err != nil {
		t.Errorf("delete: %v", err)
	}
	same(t, "deleted", ref("refs/heads/x"), "")
	if err := repo.SetHead(ctx, "🧬\xff"); err != nil {
		t.Fatal(err)
	}
	if head, err := repo.Head(ctx); err != nil || head.OID != b {
		t.Errorf("head: %v %v", head, err)
	}
}

func TestManyRefsAtOnce(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	id := OID(w.Commit(gittest.Commit{}))
	updates := []RefUpdate{{"refs/heads/main", id, repo.ZeroOID()}}
	for i := range 2000 {
		updates = append(updates, RefUpdate{fmt.Sprintf("refs/tags/many/t%d", i), "", id})
	}
	if err := repo.UpdateRefs(t.Context(), updates); err != nil {
		t.Fatal(err)
	}
	tags, err := repo.Tags(t.Context())
	if err != nil || len(tags) != 2000 {
		t.Errorf("%d tags, %v", len(tags), err)
	}
}

func TestMergeTree(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	base := w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("a\xff", "1\n2\n3\n"), gittest.Text("b", "b\n"), gittest.Text("gone", "g\n")}})
	ours := w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("a\xff", "one\n2\n3\n"), gittest.Text("gone", "changed\n")}})
	clean := w.Commit(gittest.Commit{Branch: "clean", Parents: []string{base}, Files: []gittest.File{gittest.Text("a\xff", "1\n2\nthree\n"), gittest.Text("new", "n")}})
	clash := w.Commit(gittest.Commit{Branch: "clash", Parents: []string{clean}, Files: []gittest.File{gittest.Text("a\xff", "uno\n2\n3\n"), gittest.Delete("gone")}})
	alone := w.Commit(gittest.Commit{Branch: "alone", NoParent: true, Files: []gittest.File{gittest.Text("z", "z")}})

	m, err := repo.MergeTree(ctx, OID(ours), OID(clean), MergeOptions{})
	if err != nil || !m.Clean() {
		t.Fatalf("%+v %v", m, err)
	}
	data, _, err := repo.BlobAt(ctx, m.Tree, "a\xff", 0)
	same(t, "merged", string(data), "one\n2\nthree\n")
	if err != nil {
		t.Fatal(err)
	}
	m, err = repo.MergeTree(ctx, OID(ours), OID(clash), MergeOptions{})
	if err != nil || len(m.Conflicts) != 2 {
		t.Fatalf("%+v %v", m, err)
	}
	same(t, "path", m.Conflicts[0].Path, "a\xff")
	same(t, "sides", m.Conflicts[0].Base.OID != "" && m.Conflicts[0].Ours.OID != "" && m.Conflicts[0].Theirs.OID != "", true)
	same(t, "deleted by them", m.Conflicts[1].Path == "gone" && m.Conflicts[1].Theirs.OID == "", true)
	same(t, "messages", strings.Contains(strings.Join(m.Messages, "\n"), "CONFLICT (modify/delete)"), true)

	if _, err = repo.MergeTree(ctx, OID(ours), OID(alone), MergeOptions{}); !errors.Is(err, ErrUnrelated) {
		t.Errorf("unrelated: %v", err)
	}
	if m, err = repo.MergeTree(ctx, OID(ours), OID(alone), MergeOptions{AllowUnrelated: true}); err != nil || !m.Clean() {
		t.Errorf("unrelated but allowed: %+v %v", m, err)
	}
	// Picking clash alone onto base: what clean did stays out.
	m, err = repo.MergeTree(ctx, OID(base), OID(clash), MergeOptions{Base: OID(clean)})
	if err != nil || !m.Clean() {
		t.Fatalf("pick: %+v %v", m, err)
	}
	same(t, "picked", w.Git("ls-tree", "--name-only", string(m.Tree)), "\"a\\377\"\nb")
	// Reverting ours on top of itself is base again.
	m, err = repo.MergeTree(ctx, OID(ours), OID(base), MergeOptions{Base: OID(ours)})
	if err != nil || !m.Clean() {
		t.Fatalf("revert: %+v %v", m, err)
	}
	same(t, "reverted", string(m.Tree), w.Git("rev-parse", base+"^{tree}"))
	if _, err := repo.MergeTree(ctx, OID(base), OID(base), MergeOptions{Base: repo.EmptyTree()}); err != nil {
		t.Errorf("against nothing: %v", err)
	}
}
