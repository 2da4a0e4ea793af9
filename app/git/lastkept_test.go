package git

import (
	"os"
	"testing"

	"github.com/gitfor/gitfor/app/git/gittest"
)

// TestLastCommitsKept forgets all that is in memory, as a restart does, and sees
// that a search ends at what was written down.
func TestLastCommitsKept(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	commit := func(files ...gittest.File) OID { return OID(w.Commit(gittest.Commit{Files: files})) }
	first := commit(gittest.Text("d/old", "1"), gittest.Text("d/line\nbreak", "1"))
	second := commit(gittest.Text("other", "1"))
	third := commit(gittest.Text("d/new", "1"))
	found, err := repo.lastCommitIDs(ctx, second, "d")
	if err != nil || found["old"] != first || found["line\nbreak"] != first {
		t.Fatalf("%v %v", found, err)
	}
	if err := repo.keepLast(ctx, second, "d", found, ""); err != nil {
		t.Fatal(err)
	}
	ask := func(rev OID) map[string]OID {
		t.Helper()
		repo.answers.lasts.Purge()
		got, err := repo.lastCommitIDs(ctx, rev, "d")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := ask(third); got["old"] != first || got["line\nbreak"] != first || got["new"] != third || len(got) != 3 {
		t.Errorf("from the file: %v", got)
	}
	// A file that says otherwise shows that it is read.
	if err := repo.keepLast(ctx, second, "d", map[string]OID{"old": second, "line\nbreak": second}, ""); err != nil {
		t.Fatal(err)
	}
	if got := ask(third); got["old"] != second || got["new"] != third {
		t.Errorf("the file was not read: %v", got)
	}
	// One of a later commit stays when an earlier one is looked at.
	if err := repo.keepLast(ctx, third, "d", map[string]OID{"old": first, "line\nbreak": first, "new": third}, second); err != nil {
		t.Fatal(err)
	}
	if err := repo.keepLast(ctx, second, "d", found, third); err != nil {
		t.Fatal(err)
	}
	if rev, ok := repo.loadLast("d"); !ok || rev != third {
		t.Errorf("kept: %s %v", rev, ok)
	}
	for _, bad := range []string{"", "last 1\n", "last 1\nzz\n", keptHead + string(third) + "\nnonsense\x00", keptHead + "1234567890123456789012345678901234567890\n"} {
		if err := os.WriteFile(repo.keptPath("d"), []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := ask(third); got["old"] != first || got["new"] != third {
			t.Errorf("with a file of %q: %v", bad, got)
		}
	}
}
