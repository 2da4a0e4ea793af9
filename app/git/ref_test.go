package git

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/git/gittest"
)

func TestRefNamesAsGit(t *testing.T) {
	t.Parallel()
	names := []string{
		"refs/heads/main", "refs/heads/a/b/c", "refs/heads/solve-#33_match", "refs/heads/🧬", "refs/heads/100%+done",
		"refs/heads/日本語", "refs/heads/feature/..x", "refs/heads/HEAD", "refs/heads/" + strings.Repeat("a", 40),
		"refs/heads/refs/heads/x", "refs/heads/.a", "refs/heads/a.", "refs/heads/a.lock", "refs/heads/a.lock/b",
		"refs/heads/a//b", "refs/heads/", "refs/heads/a b", "refs/heads/a~1", "refs/heads/a^", "refs/heads/a:b",
		"refs/heads/a?", "refs/heads/a*", "refs/heads/[a", "refs/heads/a\\b", "refs/heads/a@{b", "refs/heads/@",
		"refs/heads/a\x7f", "refs/heads/a\tb", "refs/heads/-a", "refs/heads/\xff", "refs/x", "refs/heads/a/.b",
		"refs/heads/a./b", "refs/heads/{a}", "refs/heads/a\nb", "/refs/heads/a", "refs/heads/a/",
	}
	for _, name := range names {
		err := exec.Command("git", "check-ref-format", name).Run()
		same(t, name, ValidRefName(name), err == nil)
	}
	same(t, "HEAD as branch", ValidBranchName("HEAD"), false)
	same(t, "dash", ValidBranchName("-a"), false)
	same(t, "hash-like", ValidBranchName(strings.Repeat("a", 40)), true)
	same(t, "overlong part", ValidRefName("refs/heads/"+strings.Repeat("a", 256)), false)
}

// checkRefs compares our listing with git's.
func checkRefs(t *testing.T, repo *Repository, w *gittest.Repo, when string) {
	t.Helper()
	refs, err := repo.Refs(t.Context(), "refs/")
	if err != nil {
		t.Fatal(when, err)
	}
	var got []string
	for _, r := range refs {
		got = append(got, fmt.Sprintf("%s %s", r.OID, r.Name))
		if r.Peeled != "" {
			got = append(got, fmt.Sprintf("%s %s^{}", r.Peeled, r.Name))
		}
	}
	want := ""
	if len(got) > 0 || w.Git("for-each-ref") != "" {
		want = w.Git("show-ref", "-d")
	}
	same(t, when, strings.Join(got, "\n"), want)
	for _, r := range refs {
		one, err := repo.Ref(t.Context(), r.Name)
		if err != nil || one.OID != r.OID || one.Peeled != r.Peeled {
			t.Errorf("%s: Ref(%q) = %v, %v", when, r.Name, one, err)
		}
	}
}

func TestRefsAsGit(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	checkRefs(t, repo, w, "empty")
	id := w.Commit(gittest.Commit{})
	checkRefs(t, repo, w, "one branch")
	for _, name := range []string{"a/b/c", "🧬", "100%+done", "solve-#33", "x\xff", "e\u0301", "é", "HEAD", "refs/heads/x"} {
		w.Git("update-ref", "refs/heads/"+name, id)
	}
	w.Git("tag", "light", id)
	w.Git("tag", "-a", "-m", "annotated", "v1", id)
	w.Git("tag", "-a", "-m", "twice", "v1-again", "v1")
	w.Git("tag", "-a", "-m", "tree", "tree", id+"^{tree}")
	w.Git("update-ref", "refs/pull/1/head", id)
	checkRefs(t, repo, w, "loose")
	w.Git("pack-refs", "--all", "--prune")
	checkRefs(t, repo, w, "packed")
	second := w.Commit(gittest.Commit{})
	checkRefs(t, repo, w, "loose over packed")
	w.Git("update-ref", "-d", "refs/heads/a/b/c")
	w.Git("update-ref", "refs/heads/a", second)
	checkRefs(t, repo, w, "folder became a file")
	w.Git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	checkRefs(t, repo, w, "symbolic")
	head, err := repo.Ref(t.Context(), "refs/heads/alias")
	if err != nil || head.Target != "refs/heads/main" || head.OID != OID(second) {
		t.Errorf("alias: %v %v", head, err)
	}
}

func TestResolveRef(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	ids := w.Commits(gittest.Commit{}, gittest.Commit{}, gittest.Commit{})
	w.Git("tag", "-a", "-m", "t", "v1", ids[0])
	w.Git("update-ref", "refs/heads/v1/x", ids[1])
	hashLike := strings.Repeat("abcd", 10)
	w.Git("update-ref", "refs/heads/"+hashLike, ids[1])
	w.Git("update-ref", "refs/heads/"+ids[2][:7], ids[0]) // looks like another commit
	w.Git("update-ref", "refs/heads/refs/heads/x", ids[2])
	w.Git("update-ref", "refs/pull/7/head", ids[2])
	for name, want := range map[string]string{
		"main": ids[2], "HEAD": ids[2], "v1": ids[0], "tags/v1": ids[0], "heads/main": ids[2],
		"refs/heads/main": ids[2], "refs/heads/x": ids[2], hashLike: ids[1], ids[2][:7]: ids[0], ids[1]: ids[1],
		ids[1][:9]: ids[1], strings.ToUpper(ids[1][:9]): ids[1], "refs/pull/7/head": ids[2], "pull/7/head": ids[2],
	} {
		v, err := repo.ResolveRef(ctx, name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		same(t, name, string(v.Commit), want)
	}
	for _, name := range []string{"nothing", "", "-x", "..", ids[1][:3], "refs/heads", strings.Repeat("f", 40), "main~1", "@", "../HEAD", "\x00"} {
		if v, err := repo.ResolveRef(ctx, name); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v %v", name, v, err)
		}
	}
	if v, err := repo.ResolveRef(ctx, "v1"); err != nil || !v.IsTag() || v.OID == v.Commit {
		t.Errorf("annotated tag: %+v %v", v, err)
	}
}

func TestSplitRefPath(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	id := w.Commit(gittest.Commit{})
	for _, name := range []string{"heads/feature/x", "heads/release", "tags/release/1.0", "heads/100%+done", "heads/a#b",
		"tags/feature", "pull/12/head", "heads/日本語"} {
		w.Git("update-ref", "refs/"+name, id)
	}
	for _, c := range []struct{ address, ref, path string }{
		{"main", "refs/heads/main", ""},
		{"main/", "refs/heads/main", ""},
		{"main/a/b", "refs/heads/main", "a/b"},
		{"feature/x/dir/file", "refs/heads/feature/x", "dir/file"},
		{"feature/y", "refs/tags/feature", "y"},
		{"release/1.0/notes", "refs/tags/release/1.0", "notes"},
		{"release/2.0/notes", "refs/heads/release", "2.0/notes"},
		{"100%+done/x", "refs/heads/100%+done", "x"},
		{"a#b/c", "refs/heads/a#b", "c"},
		{"日本語/副本", "refs/heads/日本語", "副本"},
		{"refs/pull/12/head/x", "refs/pull/12/head", "x"},
		{"refs/heads/feature/x/y", "refs/heads/feature/x", "y"},
		{"tags/feature/x", "refs/tags/feature", "x"},
		{id + "/a", "", "a"},
		{id[:8] + "/a", "", "a"},
		{"HEAD/a", "refs/heads/main", "a"},
	} {
		v, path, err := repo.SplitRefPath(t.Context(), c.address)
		if err != nil {
			t.Errorf("%q: %v", c.address, err)
			continue
		}
		same(t, c.address+" ref", v.Ref, c.ref)
		same(t, c.address+" path", path, c.path)
		same(t, c.address+" commit", string(v.Commit), id)
	}
	for _, address := range []string{"", "nothing/x", "feat/x", "refs/heads/none/x", "refs/"} {
		if _, _, err := repo.SplitRefPath(t.Context(), address); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func FuzzPackedRefs(f *testing.F) {
	id := strings.Repeat("a", 40)
	f.Add("# pack-refs with: peeled fully-peeled sorted \n" + id + " refs/heads/main\n" + id + " refs/tags/v1\n^" + id + "\n")
	f.Add("^" + id + "\n")
	f.Add(id + " refs/heads/\xff\n\n")
	f.Add(id)
	f.Fuzz(func(t *testing.T, text string) {
		refs, err := parsePackedRefs(text)
		if err != nil {
			return
		}
		for i, r := range refs {
			if !r.oid.Valid() || !strings.HasPrefix(r.name, "refs/") || (i > 0 && refs[i-1].name > r.name) {
				t.Errorf("%q: %+v", text, r)
			}
		}
	})
}

func FuzzRefName(f *testing.F) {
	for _, s := range []string{"refs/heads/main", "refs/heads/a..b", "refs/heads/a.lock", "ref: refs/heads/x\n", "refs/heads/@{"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if v, err := parseRefFile(name); err == nil && v.target != "" && !ValidRefName(v.target) {
			t.Errorf("%q leads to %q", name, v.target)
		}
		if ValidRefName(name) && (strings.Contains(name, "..") || strings.ContainsAny(name, " ~^:?*[\\\x00\n") || strings.HasSuffix(name, "/")) {
			t.Errorf("%q was taken", name)
		}
	})
}
