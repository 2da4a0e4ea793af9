package git

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/git/gittest"
)

func TestParseCommit(t *testing.T) {
	t.Parallel()
	text := "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n" +
		"parent e509e90ea17edf8cfee9ff33338804ebd34a0a98\n" +
		"author J\xfcrgen <j@x> 1700000000 +0530\n" +
		"committer No Zone <> 1700000000\n" +
		"gpgsig -----BEGIN SSH SIGNATURE-----\n AAAA\n \n BBBB\n -----END SSH SIGNATURE-----\n" +
		"encoding ISO-8859-1\n" +
		"mergetag object x\n folded\n" +
		"\n" +
		"Gr\xfc\xdfe\nin two lines\n\nBody.\n\nSigned-off-by: A <a@x>\nCo-authored-by: B B <b@x>\nco-authored-by: nobody\n"
	c, err := parseCommit("1", text)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "tree", c.Tree, EmptyTree)
	same(t, "parents", len(c.Parents), 1)
	same(t, "author", c.AuthorName(), "Jürgen")
	same(t, "raw", c.Author.Name, "J\xfcrgen")
	same(t, "when", c.Author.When.Format(time.RFC3339), "2023-11-15T03:43:20+05:30")
	same(t, "title", c.Title(), "Grüße in two lines")
	same(t, "body", c.Body(), "Body.\n\nSigned-off-by: A <a@x>\nCo-authored-by: B B <b@x>\nco-authored-by: nobody")
	same(t, "signature", c.Signature, "-----BEGIN SSH SIGNATURE-----\nAAAA\n\nBBBB\n-----END SSH SIGNATURE-----")
	same(t, "trailers", fmt.Sprint(c.Trailers()), "[{Signed-off-by A <a@x>} {Co-authored-by B B <b@x>} {co-authored-by nobody}]")
	same(t, "co-authors", len(c.CoAuthors()), 1)
	payload, sig := cutSignature(text)
	same(t, "cut", sig, c.Signature)
	same(t, "payload", strings.Contains(payload, "gpgsig") || strings.Contains(payload, "AAAA"), false)
	same(t, "rest stays", strings.Contains(payload, "\nencoding ISO-8859-1\nmergetag object x\n folded\n\nGr"), true)

	broken, err := parseCommit("2", "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor odd\ncommitter <a> <b> x\n")
	if err != nil || broken.Title() != "" || !broken.Author.When.IsZero() || broken.Author.Name != "odd" {
		t.Errorf("%+v %v", broken, err)
	}
	if _, err := parseCommit("3", "nothing"); err == nil {
		t.Error("nonsense was taken")
	}
	latin, err := parseCommit("4", "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\nna\xefve \x00\n")
	if err != nil || latin.Title() != "naïve" {
		t.Errorf("%q %v", latin.Title(), err)
	}
}

func TestParseTag(t *testing.T) {
	t.Parallel()
	const head = "object e509e90ea17edf8cfee9ff33338804ebd34a0a98\ntype commit\ntag v1\ntagger A <a@x> 1700000000 +0000\n\n"
	tag, err := parseTag("1", head+"First\n\nMore\n-----BEGIN PGP SIGNATURE-----\nx\n-----END PGP SIGNATURE-----\n")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "title", tag.Title(), "First")
	same(t, "payload", tag.Payload, head+"First\n\nMore\n")
	same(t, "signature", tag.Signature, "-----BEGIN PGP SIGNATURE-----\nx\n-----END PGP SIGNATURE-----\n")
	same(t, "type", tag.Type, TypeCommit)
}

// branchy makes a history with merges: id of the tip.
func branchy(w *gittest.Repo) string {
	tip := w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("a", "0"), gittest.Text("dir/b", "0"), gittest.Text("dir/sub/c", "0")}})
	for i := range 12 {
		n := fmt.Sprint(i)
		side := w.Commits(
			gittest.Commit{Branch: "side" + n, Parents: []string{tip}, Files: []gittest.File{gittest.Text("side"+n, n)}, Author: "Sid <sid@example.org>"},
			gittest.Commit{Branch: "side" + n, Files: []gittest.File{gittest.Text("dir/b", n)}})
		main := w.Commits(
			gittest.Commit{Parents: []string{tip}, Files: []gittest.File{gittest.Text("a", n)}},
			gittest.Commit{Files: []gittest.File{gittest.Text("dir/sub/d"+n, n)}})
		tip = w.Commit(gittest.Commit{Parents: []string{main[1], side[1]}, Files: []gittest.File{gittest.Text("dir/b", n)}})
	}
	return tip
}

func logIDs(t *testing.T, repo *Repository, rev string, opts LogOptions) string {
	t.Helper()
	commits, err := repo.Log(t.Context(), OID(rev), opts)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range commits {
		ids = append(ids, string(c.OID))
	}
	return strings.Join(ids, "\n")
}

func TestLogAsGit(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	tip := branchy(w)
	mid := w.Git("rev-parse", "main~4")
	side := w.Git("rev-parse", "side3")
	for _, graph := range []bool{false, true} {
		if graph {
			w.Git("repack", "-adq")
			w.Git("commit-graph", "write", "--reachable", "--changed-paths")
		}
		for _, c := range []struct {
			opts LogOptions
			args []string
		}{
			{LogOptions{Limit: 1000}, nil},
			{LogOptions{Limit: 7, Skip: 5}, []string{"-n7", "--skip=5"}},
			{LogOptions{Limit: 1000, FirstParent: true}, []string{"--first-parent"}},
			{LogOptions{Limit: 1000, NoMerges: true}, []string{"--no-merges"}},
			{LogOptions{Limit: 1000, Author: "SID@"}, []string{"--author=sid@"}},
			{LogOptions{Limit: 1000, Since: time.Unix(1_700_000_000+60*20, 0), Until: time.Unix(1_700_000_000+60*40, 0)},
				[]string{"--since=1700001200", "--until=1700002400"}},
			{LogOptions{Limit: 1000, Exclude: []OID{OID(mid)}}, []string{"^" + mid}},
			{LogOptions{Limit: 1000, Exclude: []OID{OID(side), OID(mid)}}, []string{"^" + mid, "^" + side}},
			{LogOptions{Limit: 1000, Exclude: []OID{OID(mid)}, FirstParent: true}, []string{"^" + mid, "--first-parent"}},
			{LogOptions{Limit: 1000, Exclude: []OID{OID(tip)}}, []string{"^" + tip}},
			{LogOptions{Limit: 1000, Path: "dir"}, []string{"--", "dir"}},
			{LogOptions{Limit: 4, Skip: 2, Path: "dir/b"}, []string{"-n4", "--skip=2", "--", "dir/b"}},
		} {
			want := w.Git(append([]string{"log", "--format=%H", "main"}, c.args...)...)
			same(t, fmt.Sprint(graph, c.args), logIDs(t, repo, tip, c.opts), want)
		}
	}
	if _, err := repo.Log(t.Context(), OID(strings.Repeat("1", 40)), LogOptions{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("log of nothing: %v", err)
	}
}

func TestLogFollowsRenames(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	text := strings.Repeat("some line\n", 30)
	first := w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("old\xff.txt", text)}})
	w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("other", "x")}})
	tip := w.Commit(gittest.Commit{Files: []gittest.File{gittest.Delete("old\xff.txt"), gittest.Text("new name.txt", text+"more\n")}})
	same(t, "follow", logIDs(t, repo, tip, LogOptions{Path: "new name.txt", Follow: true}), tip+"\n"+first)
	same(t, "plain", logIDs(t, repo, tip, LogOptions{Path: "new name.txt"}), tip)
}
