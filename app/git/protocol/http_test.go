package protocol_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestHTTPHeaders(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.client()
	c.work(s.url, 1)
	c.git("work", "push", "-q", "origin", "main")
	for _, tt := range []struct{ service, version, begin string }{
		{"git-upload-pack", "version=2", "000eversion 2\n"},
		{"git-upload-pack", "version=1", "001e# service=git-upload-pack\n0000000eversion 1\n"},
		{"git-upload-pack", "", "001e# service=git-upload-pack\n0000"},
		{"git-receive-pack", "version=2", "001f# service=git-receive-pack\n000000"},
		{"git-receive-pack", "version=1", "001f# service=git-receive-pack\n0000000eversion 1\n"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/info/refs?service="+tt.service, nil)
		must(t, err)
		req.Header.Set("Git-Protocol", tt.version)
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		var body bytes.Buffer
		_, err = body.ReadFrom(res.Body)
		must(t, err)
		must(t, res.Body.Close())
		if !strings.HasPrefix(body.String(), tt.begin) {
			t.Errorf("%s %s: %.60q, want %q", tt.service, tt.version, body.String(), tt.begin)
		}
		h := res.Header
		if h.Get("Content-Type") != "application/x-"+tt.service+"-advertisement" || h.Get("Pragma") != "no-cache" ||
			h.Get("Cache-Control") != "no-cache, max-age=0, must-revalidate" || h.Get("Expires") == "" {
			t.Errorf("%s: headers %v", tt.service, h)
		}
	}
}

func TestCachedAnswerHasItsLength(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.client()
	c.work(s.url, 1)
	c.git("work", "push", "-q", "origin", "main")
	body := "0011command=fetch0001" + pkt("want "+c.git("work", "rev-parse", "HEAD")) + "0009done\n0000"
	first := s.post(t, "git-upload-pack", "version=2", body, 200)
	eventually(t, "the answer is kept", func() bool { n, _ := s.upload.Cache.Stats(); return n == 1 })
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/git-upload-pack", strings.NewReader(body))
	must(t, err)
	req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	req.Header.Set("Git-Protocol", "version=2")
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer res.Body.Close()
	if res.ContentLength != int64(len(first)) {
		t.Fatalf("Content-Length %d, want %d", res.ContentLength, len(first))
	}
}

// TestHTTPBodies has git send its requests in all the ways it knows.
func TestHTTPBodies(t *testing.T) {
	t.Parallel()
	for _, buffer := range []string{"65536", "1000000000"} {
		for _, version := range []string{"0", "2"} {
			t.Run("postBuffer "+buffer+" v"+version, func(t *testing.T) {
				t.Parallel()
				s := newServer(t)
				c := s.client()
				flags := []string{"-c", "http.postBuffer=" + buffer, "-c", "protocol.version=" + version, "-c", "http.extraHeader=Expect: 100-continue"}
				git := func(dir string, args ...string) string {
					t.Helper()
					return c.git(dir, append(append([]string{}, flags...), args...)...)
				}
				c.work(s.url, 3)
				c.write("work/big", randomText(300_000))
				for i := range 60 {
					c.git("work", "commit", "-q", "--allow-empty", "-m", fmt.Sprint(i))
					c.git("work", "branch", fmt.Sprintf("b%d", i))
				}
				c.git("work", "add", "-A")
				c.git("work", "commit", "-q", "-m", "big")
				git("work", "push", "-q", "origin", "--all")
				// 61 wants are more than the kilobyte from which git compresses
				git("", "clone", "-q", s.url, "copy")
				if n := len(strings.Fields(c.git("copy", "branch", "-r", "--format=%(refname)"))); n != 62 {
					t.Fatalf("%d branches", n)
				}
				c.commits("work", 2)
				git("work", "push", "-q", "origin", "main")
				git("copy", "fetch", "-q")
				if a, b := c.git("work", "rev-parse", "main"), c.git("copy", "rev-parse", "origin/main"); a != b {
					t.Fatalf("fetched %s, want %s", b, a)
				}
			})
		}
	}
}

func TestGzipBombIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(s *server) { s.upload.MaxRequest = 1 << 20 })
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, err := z.Write([]byte("0011command=fetch0001"))
	must(t, err)
	line := []byte(pkt("have " + strings.Repeat("a", 40)))
	for range 1 << 16 {
		_, err := z.Write(line)
		must(t, err)
	}
	must(t, z.Close())
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/git-upload-pack", &bomb)
	must(t, err)
	req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("Git-Protocol", "version=2")
	if body := do(t, req, 200); !strings.Contains(body, "larger than allowed") {
		t.Fatalf("answer %q", body)
	}
}

func TestPushWithoutSideband(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.client()
	c.work(s.url, 1)
	c.git("work", "push", "-q", "origin", "main", "main:side")
	head := c.git("work", "rev-parse", "HEAD")
	body := s.post(t, "git-receive-pack", "", pkt(head+" "+strings.Repeat("0", 40)+" refs/heads/side\x00report-status delete-refs")+"0000", 200)
	if want := pkt("unpack ok\n") + pkt("ok refs/heads/side\n") + "0000"; body != want {
		t.Fatalf("answer %q, want %q", body, want)
	}
	if s.ref("refs/heads/side") != "" {
		t.Fatal("the branch is still there")
	}
}

func TestHiddenRefsInOldProtocol(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.client()
	c.work(s.url, 1)
	c.git("work", "push", "-q", "origin", "main")
	c.git("", "--git-dir="+s.path(), "update-ref", "refs/gitfor/keep/1", c.git("work", "rev-parse", "HEAD"))
	c.git("", "--git-dir="+s.path(), "update-ref", "refs/pull/1/head", c.git("work", "rev-parse", "HEAD"))
	for _, version := range []string{"0", "1", "2"} {
		out := c.git("", "-c", "protocol.version="+version, "ls-remote", s.url)
		if strings.Contains(out, "refs/gitfor") || !strings.Contains(out, "refs/pull/1/head") {
			t.Fatalf("v%s:\n%s", version, out)
		}
	}
}
