package protocol_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/git/protocol"
)

func TestEightClonesShareOnePack(t *testing.T) {
	t.Parallel()
	overBoth(t, nil, func(t *testing.T, s *server, c *client, url string) {
		c.work(url, 10)
		c.write("work/big", randomText(2<<20))
		c.git("work", "add", "-A")
		c.git("work", "commit", "-q", "-m", "big")
		c.git("work", "tag", "-a", "-m", "t", "v1")
		c.git("work", "push", "-q", "origin", "main", "v1")
		c.git("", "ls-remote", url) // the advertisement starts git once
		before := s.count("upload-pack")
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				out, err := c.try("", "clone", "-q", url, fmt.Sprintf("copy%d", i))
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
		all.Wait()
		if n := s.count("upload-pack") - before; n != 1 {
			t.Fatalf("eight clones ran git upload-pack %d times, want 1", n)
		}
		// a push of a tag makes another answer, for clones take tags along
		c.git("work", "tag", "v2")
		c.git("work", "push", "-q", "origin", "v2")
		c.git("", "clone", "-q", url, "after")
		if got := c.git("after", "tag"); got != "v1\nv2" {
			t.Fatalf("tags %q", got)
		}
		if n := s.count("upload-pack") - before; n != 2 {
			t.Fatalf("git upload-pack ran %d times, want 2", n)
		}
	})
}

func TestLsRemoteStartsNoProcess(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.client()
	c.work(s.url, 1)
	c.git("work", "push", "-q", "origin", "main", "main:refs/heads/x")
	c.git("", "ls-remote", s.url)
	before := s.count("upload-pack")
	s.mu.Lock()
	s.hide = []string{"refs/heads/x"}
	s.mu.Unlock()
	out := c.git("", "ls-remote", "--symref", s.url)
	if n := s.count("upload-pack"); n != before {
		t.Fatalf("git upload-pack ran %d times", n-before)
	}
	head := c.git("work", "rev-parse", "HEAD")
	if want := "ref: refs/heads/main\tHEAD\n" + head + "\tHEAD\n" + head + "\trefs/heads/main"; out != want {
		t.Fatalf("ls-remote: %q, want %q", out, want)
	}
}

func TestLsRefsSameAsGit(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.client()
	compare := func() {
		t.Helper()
		for _, args := range [][]string{{"--symref"}, {"--heads"}, {"--tags"}, {"--refs", "v*"}} {
			ours := c.git("", append([]string{"ls-remote", args[0], s.url}, args[1:]...)...)
			theirs := c.git("", append([]string{"ls-remote", args[0], "file://" + s.path()}, args[1:]...)...)
			if ours != theirs {
				t.Fatalf("ls-remote %q:\n%s\nwant\n%s", args, ours, theirs)
			}
		}
	}
	args0 := func() { c.git("", "--git-dir="+s.path(), "pack-refs", "--all") }
	c.work(s.url, 3)
	c.git("work", "tag", "-a", "-m", "t", "v1", "HEAD~1")
	c.git("work", "tag", "v2", "HEAD~2")
	c.git("work", "tag", "-a", "-m", "t", "v3", "v1")
	c.git("work", "push", "-q", "origin", "main", "--tags", "main:refs/heads/a/b", "main:refs/notes/n")
	compare()
	args0()
	compare()
	c.git("", "--git-dir="+s.path(), "symbolic-ref", "refs/heads/link", "refs/heads/a/b")
	compare()
	c.git("", "--git-dir="+s.path(), "symbolic-ref", "HEAD", "refs/heads/none")
	compare()
	c.git("", "--git-dir="+s.path(), "update-ref", "--no-deref", "HEAD", "refs/heads/a/b")
	compare()
}

func TestCancelledFetchLeavesNothing(t *testing.T) {
	t.Parallel()
	overBoth(t, nil, func(t *testing.T, s *server, c *client, url string) {
		c.work(url, 2)
		c.write("work/big", randomText(24<<20))
		c.git("work", "add", "-A")
		c.git("work", "-c", "core.compression=0", "commit", "-q", "-m", "big")
		c.git("work", "-c", "core.compression=0", "push", "-q", "origin", "main")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cmd := c.cmd(ctx, "", "clone", "-q", url, "gone")
		must(t, cmd.Start())
		eventually(t, "git runs in the repository", func() bool { return len(processesIn(s.path())) > 0 })
		cancel()
		_ = cmd.Wait()
		eventually(t, "no process is left", func() bool { return len(processesIn(s.path())) == 0 })
		// and the next one works
		c.git("", "clone", "-q", url, "copy")
	})
}

func TestGateRefusesWithWords(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(s *server) {
		s.upload.Cache = nil
		s.upload.Gate = &protocol.Gate{PerRepository: 1, Wait: time.Nanosecond}
	})
	s.startSSH()
	c := s.client()
	c.work(s.url, 1)
	c.git("work", "push", "-q", "origin", "main")
	leave, err := s.upload.Gate.Enter(t.Context(), "7", "x")
	must(t, err)
	for _, url := range []string{s.url, s.sshURL} {
		c.refused("too many clones", "", "clone", "-q", url, "copy")
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/git-upload-pack",
		strings.NewReader("0011command=fetch0001000fno-progress0032want "+c.git("work", "rev-parse", "HEAD")+"\n0009done\n0000"))
	must(t, err)
	req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	req.Header.Set("Git-Protocol", "version=2")
	req.Header.Set("User-Agent", "git/2.54.0")
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer res.Body.Close()
	if res.StatusCode != 429 || res.Header.Get("Retry-After") == "" {
		t.Fatalf("status %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
	}
	leave()
	c.git("", "clone", "-q", s.url, "copy")
}

func TestBundleURI(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.bundles = []protocol.Bundle{{ID: "all", URI: "http://example.org/all.bundle", Token: 3}}
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/info/refs?service=git-upload-pack", nil)
	must(t, err)
	req.Header.Set("Git-Protocol", "version=2")
	if body := do(t, req, 200); !strings.Contains(body, "bundle-uri") {
		t.Fatalf("not advertised: %q", body)
	}
	body := s.post(t, "git-upload-pack", "version=2", "0016command=bundle-uri00010000", 200)
	if !strings.Contains(body, "bundle.all.uri=http://example.org/all.bundle") || !strings.Contains(body, "creationToken=3") {
		t.Fatalf("bundle-uri: %q", body)
	}
}

// post sends a raw request and is the body of the answer.
func (s *server) post(t *testing.T, service, version, body string, status int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/"+service, io.MultiReader(strings.NewReader(body)))
	must(t, err)
	req.Header.Set("Content-Type", "application/x-"+service+"-request")
	req.Header.Set("Git-Protocol", version)
	return do(t, req, status)
}

func do(t *testing.T, req *http.Request, status int) string {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer res.Body.Close()
	var out bytes.Buffer
	_, err = out.ReadFrom(res.Body)
	must(t, err)
	if res.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d: %s", req.Method, req.URL, res.StatusCode, status, out.String())
	}
	return out.String()
}

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.client()
	c.work(s.url, 1)
	c.git("work", "push", "-q", "origin", "main")
	head := c.git("work", "rev-parse", "HEAD")
	zero := strings.Repeat("0", 40)
	for name, tt := range map[string]struct{ service, version, body, want string }{
		"no length":         {"git-upload-pack", "version=2", "zzzz", "not git's protocol"},
		"cut":               {"git-upload-pack", "version=2", "0014command=ls", "not git's protocol"},
		"length 3":          {"git-upload-pack", "version=2", "0003", "not git's protocol"},
		"length too large":  {"git-upload-pack", "version=2", "fff1", "not git's protocol"},
		"unknown command":   {"git-upload-pack", "version=2", "0013command=nothing0000", "unknown command"},
		"two commands":      {"git-upload-pack", "version=2", "0014command=ls-refs\n0014command=ls-refs\n0000", "two commands"},
		"no command":        {"git-upload-pack", "version=2", "000aagent=0000", "no command"},
		"bad argument":      {"git-upload-pack", "version=2", "0014command=ls-refs\n00010009what\n0000", "unknown argument"},
		"missing object":    {"git-upload-pack", "version=2", "0011command=fetch0001" + "0032want " + strings.Repeat("1", 40) + "\n0009done\n0000", "not our ref"},
		"other format":      {"git-upload-pack", "version=2", "0014command=ls-refs\n0018object-format=sha2560000", "uses sha1"},
		"v0 garbage":        {"git-upload-pack", "", "0008what0000", "upload-pack"},
		"push garbage":      {"git-receive-pack", "", "0008what0000", "not a command"},
		"push of no id":     {"git-receive-pack", "", pkt("zz "+head+" refs/heads/x\x00report-status side-band-64k") + "0000", "not a command"},
		"push, two updates": {"git-receive-pack", "", pkt(zero+" "+head+" refs/heads/x\x00report-status side-band-64k") + pkt(zero+" "+head+" refs/heads/x") + "0000", "more than one update"},
		"push, no pack":     {"git-receive-pack", "", pkt(zero+" "+head+" refs/heads/x\x00report-status side-band-64k") + "0000", "unpacker error"},
		"push, cut pack":    {"git-receive-pack", "", pkt(zero+" "+head+" refs/heads/x\x00report-status side-band-64k") + "0000PACK\x00\x00\x00\x02\x00\x00\x00\x05abc", "unpacker error"},
		"push, bad name":    {"git-receive-pack", "", pkt(head+" "+zero+" refs/heads/a..b\x00report-status side-band-64k delete-refs") + "0000", "funny refname"},
		"push, certificate": {"git-receive-pack", "", pkt("push-cert\x00report-status side-band-64k") + "0000", "not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if body := s.post(t, tt.service, tt.version, tt.body, 200); !strings.Contains(body, tt.want) {
				t.Fatalf("answer %q does not say %q", body, tt.want)
			}
		})
	}
	// the probe that git sends before a large push
	if body := s.post(t, "git-receive-pack", "", "0000", 200); body != "" {
		t.Fatalf("answer to a probe: %q", body)
	}
	req, _ := http.NewRequestWithContext(t.Context(), "POST", s.url+"/git-upload-pack", strings.NewReader("0000"))
	req.Header.Set("Content-Type", "text/plain")
	do(t, req, http.StatusUnsupportedMediaType)
	req, _ = http.NewRequestWithContext(t.Context(), "GET", s.url+"/info/refs", nil)
	if body := do(t, req, http.StatusForbidden); !strings.Contains(body, "smart HTTP") {
		t.Fatalf("answer to the dumb protocol: %q", body)
	}
	if s.ref("refs/heads/x") != "" {
		t.Fatal("a ref appeared")
	}
}

func pkt(s string) string { return fmt.Sprintf("%04x%s", len(s)+4, s) }

func TestManyRefs(t *testing.T) {
	t.Parallel()
	var prepared int
	s := newServer(t, withHooks(protocol.Hooks{Prepare: func(_ context.Context, p *protocol.Push) error {
		prepared += len(p.Pending())
		return nil
	}}))
	// over HTTP git's client compares each ref with each other, for a minute
	s.startSSH()
	c := s.client()
	c.work(s.sshURL, 20)
	var in strings.Builder
	head := c.git("work", "rev-parse", "HEAD")
	for i := range 10_000 {
		fmt.Fprintf(&in, "create refs/tags/t%d %s\n", i, head)
	}
	for i := range 2_000 {
		fmt.Fprintf(&in, "create refs/heads/b%d %s\n", i, head)
	}
	for i := range 50 {
		fmt.Fprintf(&in, "create refs/pull/%d/head %s\n", i, head)
	}
	c.write("refs", in.String())
	cmd := c.cmd(t.Context(), "work", "-c", "core.fsync=none", "update-ref", "--stdin")
	f, err := os.Open(filepath.Join(c.dir, "refs"))
	must(t, err)
	cmd.Stdin = f
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c.git("", "init", "-q", "--bare", "plain")
	start := time.Now()
	c.git("work", "push", "-q", c.dir+"/plain", "refs/*:refs/*")
	plain := time.Since(start)
	start = time.Now()
	out := c.refused("cannot be pushed", "work", "push", "--porcelain", "origin", "refs/*:refs/*")
	d := time.Since(start)
	t.Logf("12,000 refs took %v, with git alone %v", d.Round(time.Millisecond), plain.Round(time.Millisecond))
	if d > 4*plain+10*time.Second {
		t.Fatalf("a push of 12,000 refs took %v, with git alone %v", d, plain)
	}
	if n := strings.Count(out, "[remote rejected]"); n != 50 {
		t.Fatalf("%d refs were refused, want 50", n)
	}
	if prepared != 12_001 {
		t.Fatalf("%d refs were prepared, want 12,001", prepared)
	}
	if s.ref("refs/tags/t9999") != head || s.ref("refs/heads/b1999") != head || s.ref("refs/pull/1/head") != "" {
		t.Fatal("refs are not where they should be")
	}
	c.commits("work", 1)
	start = time.Now()
	c.git("work", "push", "-q", "origin", "main")
	t.Logf("a small push after it took %v", time.Since(start).Round(time.Millisecond))
	if loose, _ := filepath.Glob(s.path() + "/refs/tags/*"); len(loose) > 0 {
		t.Fatalf("%d loose tags are left", len(loose))
	}
}
