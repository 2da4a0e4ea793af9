package link_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/views/link"
	"pgregory.net/rapid"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		link.Repo("ada", "engine"):                            "/ada/engine",
		link.Tree("a", "b", "feature/x", ""):                  "/a/b/tree/feature/x",
		link.Blob("a", "b", "50%#1", "dir/ä b?.go"):           "/a/b/blob/50%25%231/dir/%C3%A4%20b%3F.go",
		link.Raw("a", "b", "main", "\xff\xfe/\x01"):           "/a/b/raw/main/%FF%FE/%01",
		link.Blame("a", "b", "v1.0", `back\slash"<>`):         "/a/b/blame/v1.0/back%5Cslash%22%3C%3E",
		link.Edit("a", "b", "main", "a+b&c=d;e,f:g@h!$'()*"):  "/a/b/edit/main/a%2Bb%26c%3Dd%3Be%2Cf%3Ag%40h%21%24%27%28%29%2A",
		link.Commits("a", "b", "", ""):                        "/a/b/commits",
		link.Commits("a", "b", "日本", "x"):                     "/a/b/commits/%E6%97%A5%E6%9C%AC/x",
		link.CommitDiff("a", "b", "abc"):                      "/a/b/commit/abc.diff",
		link.Compare("a", "b", "main", "ada:topic/1"):         "/a/b/compare/main...ada%3Atopic/1",
		link.Compare("a", "b", "", "topic"):                   "/a/b/compare/topic",
		link.Archive("a", "b", "release/1#2", "tar.gz"):       "/a/b/archive/release/1%232.tar.gz",
		link.Issues("a", "b"):                                 "/a/b/issues",
		link.Issues("a", "b", "q", "is:open a b", "page", ""): "/a/b/issues?q=is%3Aopen%20a%20b",
		link.Issue("a", "b", 7):                               "/a/b/issues/7",
		link.Label("a", "b", "good first/issue"):              "/a/b/issues?label=good%20first%2Fissue",
		link.PullFiles("a", "b", 7):                           "/a/b/pull/7/files",
		link.NewPull("a", "b", "main", "t"):                   "/a/b/compare/main...t?expand=1",
		link.Release("a", "b", "v1/rc 1"):                     "/a/b/releases/tag/v1/rc%201",
		link.Login("/a/b?x=1"):                                "/login?next=%2Fa%2Fb%3Fx%3D1",
		link.Login(""):                                        "/login",
		link.Set("/a/b/issues?q=x+y&page=3", "page", ""):      "/a/b/issues?q=x%20y",
		link.Page("/a?page=9", 1):                             "/a",
		link.Page("/a", 2):                                    "/a?page=2",
		link.Q("a", "1", "b", "2").With("a", "3").On("/x"):    "/x?b=2&a=3",
		link.RepoSettings("a", "b", "branches/new"):           "/a/b/settings/branches/new",
		link.RepoPage("a", "b", "x/y", "", "z"):               "/a/b/x%2Fy/z",
		link.Segment("a/b"):                                   "a%2Fb",
		link.Comment("a", "b", 7, 12):                         "/a/b/issues/7#comment-12",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Any bytes come back from the address unchanged, and the address holds
// nothing outside the unreserved set but slashes and percent signs.
func TestPathRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		enc := link.Path(raw)
		back, err := url.PathUnescape(enc)
		if err != nil || back != raw {
			t.Fatalf("%q came back as %q (%v)", raw, back, err)
		}
		if i := strings.IndexFunc(enc, func(r rune) bool {
			return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/%", r)
		}); i >= 0 {
			t.Fatalf("%q holds a reserved character at %d", enc, i)
		}
		if seg := link.Segment(raw); strings.Contains(seg, "/") {
			t.Fatalf("segment %q holds a slash", seg)
		}
	})
}
