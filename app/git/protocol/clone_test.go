package protocol_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/git"
)

// both runs f over HTTP and over SSH, in each version of the protocol.
func both(t *testing.T, f func(t *testing.T, s *server, c *client, url string)) {
	for _, transport := range []string{"http", "ssh"} {
		for _, version := range []string{"0", "1", "2"} {
			t.Run(transport+"/v"+version, func(t *testing.T) {
				t.Parallel()
				s := newServer(t)
				url := s.url
				if transport == "ssh" {
					s.startSSH()
					url = s.sshURL
				}
				c := s.client()
				c.env = append(c.env, "GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_2=protocol.version", "GIT_CONFIG_VALUE_2="+version)
				f(t, s, c, url)
			})
		}
	}
}

func TestPushCloneFetch(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server, c *client, url string) {
		c.git("", "clone", "-q", url, "empty")
		c.work(url, 3)
		c.git("work", "tag", "-a", "-m", "one", "v1")
		c.git("work", "push", "-q", "origin", "main", "v1")
		c.git("", "clone", "-q", url, "copy")
		if a, b := c.git("work", "rev-parse", "HEAD", "v1"), c.git("copy", "rev-parse", "HEAD", "v1"); a != b {
			t.Fatalf("cloned %q, want %q", b, a)
		}
		if got := c.git("copy", "symbolic-ref", "HEAD"); got != "refs/heads/main" {
			t.Fatalf("HEAD is %q", got)
		}
		c.commits("work", 2)
		c.git("work", "push", "-q", "origin", "main")
		c.git("copy", "pull", "-q")
		if a, b := c.git("work", "rev-parse", "HEAD"), c.git("copy", "rev-parse", "HEAD"); a != b {
			t.Fatalf("pulled %q, want %q", b, a)
		}
		c.git("copy", "fsck", "--strict")
		if out := c.git("", "--git-dir="+s.path(), "fsck", "--strict", "--connectivity-only"); strings.Contains(out, "missing") {
			t.Fatal(out)
		}
	})
}

func TestCloneVariants(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server, c *client, url string) {
		c.work(url, 5)
		c.write("work/big/file", strings.Repeat("big ", 100_000))
		c.git("work", "add", "-A")
		c.git("work", "commit", "-q", "-m", "big")
		c.git("work", "push", "-q", "origin", "main")
		head := c.git("work", "rev-parse", "HEAD")
		for _, v := range [][]string{
			{"--filter=blob:none"}, {"--filter=tree:0"}, {"--filter=blob:limit=1k"}, {"--filter=blob:none", "--sparse"},
			{"--depth=1"}, {"--shallow-since=2000-01-01"}, {"--mirror"}, {"--single-branch", "--no-tags"},
		} {
			dir := strings.NewReplacer("=", "-", ":", "-", "--", "").Replace(strings.Join(v, "_"))
			c.git("", append(append([]string{"clone", "-q"}, v...), url, dir)...)
			if got := c.git(dir, "rev-parse", "HEAD"); got != head {
				t.Fatalf("%v: HEAD is %q, want %q", v, got, head)
			}
		}
		// lazy fetch of what a partial clone left out
		if got := c.git("filter-tree-0", "show", "HEAD:big/file"); len(got) < 300_000 {
			t.Fatalf("lazy fetch got %d bytes", len(got))
		}
		c.git("filter-blob-none_sparse", "sparse-checkout", "set", "big")
		// deepen and unshallow
		c.git("depth-1", "fetch", "-q", "--depth=3")
		if got := c.git("depth-1", "rev-list", "--count", "HEAD"); got != "3" {
			t.Fatalf("deepened to %s commits, want 3", got)
		}
		c.git("depth-1", "fetch", "-q", "--unshallow")
		if got := c.git("depth-1", "rev-list", "--count", "HEAD"); got != "6" {
			t.Fatalf("unshallowed to %s commits, want 6", got)
		}
		// any commit by its id
		c.git("", "init", "-q", "byid")
		c.git("byid", "fetch", "-q", url, c.git("work", "rev-parse", "HEAD~2"))
	})
}

func TestSHA256(t *testing.T) {
	t.Parallel()
	s := newServer(t, withFormat(git.SHA256))
	s.startSSH()
	for _, url := range []string{s.url, s.sshURL} {
		c := s.client()
		c.git("", "init", "-q", "--object-format=sha256", "work")
		c.git("work", "remote", "add", "origin", url)
		c.git("work", "fetch", "-q", "origin")
		c.commits("work", 2)
		c.git("work", "push", "-q", "--force", "origin", "main")
		c.git("", "clone", "-q", url, "copy")
		if a, b := c.git("work", "rev-parse", "HEAD"), c.git("copy", "rev-parse", "HEAD"); a != b || len(a) != 64 {
			t.Fatalf("cloned %q, want %q", b, a)
		}
		// a SHA-1 client against it
		c.git("", "init", "-q", "old")
		c.commits("old", 1)
		out := c.refused("", "old", "push", url, "main")
		if !strings.Contains(out, "algorithm") && !strings.Contains(out, "sha256") {
			t.Fatalf("no words about the formats:\n%s", out)
		}
	}
}

func TestSHA256ToSHA1(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.startSSH()
	c := s.client()
	c.git("", "init", "-q", "--object-format=sha256", "work")
	c.commits("work", 1)
	// while the repository is empty git 2.39 stumbles over the advertisement
	c.refused("", "work", "push", s.url, "main")
	if list, _ := os.ReadDir(s.path() + "/refs/heads"); len(list) != 0 {
		t.Fatal("a branch appeared")
	}
	c.git("", "init", "-q", "old")
	c.commits("old", 1)
	c.git("old", "push", "-q", s.url, "main")
	for _, url := range []string{s.url, s.sshURL} {
		c.refused("hash algorithm", "work", "push", url, "main:other")
	}
}
