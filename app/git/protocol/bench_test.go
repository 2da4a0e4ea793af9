package protocol_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkAgainstHTTPBackend does the same with gitfor's protocol and with
// plain git http-backend, by turns, and reports the medians of both in
// milliseconds and their ratio, by the clock and in CPU time. Both include the
// client.
//
//	go test -run '^$' -bench HTTPBackend -benchtime 10x ./app/git/protocol
func BenchmarkAgainstHTTPBackend(b *testing.B) {
	ours, theirs := benchServers(b)
	for _, bench := range []struct {
		name string
		run  func(b *testing.B, s *benchServer) cost
	}{
		{"info-refs", benchInfoRefs},
		{"ls-remote", benchLsRemote},
		{"push", benchPush},
		{"fetch", benchFetch},
		{"clone", benchClone},
		{"shallow-clone", benchShallow},
		{"eight-clones", benchEight},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var mine, plain, mineCPU, plainCPU []time.Duration
			for b.Loop() {
				m, p := bench.run(b, ours), bench.run(b, theirs)
				mine, mineCPU = append(mine, m.wall), append(mineCPU, m.cpu)
				plain, plainCPU = append(plain, p.wall), append(plainCPU, p.cpu)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(median(mine).Microseconds())/1000, "gitfor-ms")
			b.ReportMetric(float64(median(plain).Microseconds())/1000, "plain-ms")
			b.ReportMetric(float64(median(mine))/float64(median(plain)), "ratio")
			b.ReportMetric(float64(median(mineCPU))/float64(median(plainCPU)), "cpu-ratio")
		})
	}
	b.Run("eight-fetches-cpu", func(b *testing.B) { benchCPU(b, ours) })
}

func median(d []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(d))[len(d)/2]
}

// cost is what something took.
type cost struct{ wall, cpu time.Duration }

// benchServer is one of the two servers with a client whose clone "work" is in
// step with it.
type benchServer struct {
	*server
	c *client
	n int
}

func benchServers(b *testing.B) (ours, theirs *benchServer) {
	s := newStore(b)
	s.startHTTP()
	ours = &benchServer{server: s, c: s.client()}
	p := newStore(b)
	program, err := exec.LookPath("git")
	must(b, err)
	backend := &cgi.Handler{Path: program, Args: []string{"http-backend"}, Env: []string{
		"GIT_PROJECT_ROOT=" + p.path(), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + b.TempDir(),
	}}
	srv := httptest.NewServer(http.HandlerFunc(backend.ServeHTTP))
	b.Cleanup(srv.Close)
	p.url = srv.URL
	theirs = &benchServer{server: p, c: p.client()}
	if from := os.Getenv("GITFOR_BENCH_REPO"); from == "" {
		ours.generate(b)
	} else {
		ours.adopt(b, from, "objects/pack")
	}
	ours.c.git("", "--git-dir="+ours.path(), "repack", "-q", "-a", "-d", "-b")
	ours.c.git("", "--git-dir="+ours.path(), "pack-refs", "--all")
	ours.c.git("", "--git-dir="+ours.path(), "commit-graph", "write", "--reachable")
	theirs.adopt(b, ours.path(), "objects/pack", "objects/info", "packed-refs")
	for _, x := range []*benchServer{ours, theirs} {
		x.c.git("", "clone", "-q", x.url, "work")
	}
	return ours, theirs
}

// adopt takes over parts of another repository, with its HEAD as main.
func (s *benchServer) adopt(b *testing.B, from string, parts ...string) {
	for _, part := range parts {
		if !exists(from + "/" + part) {
			continue
		}
		must(b, os.RemoveAll(s.path()+"/"+part))
		out, err := exec.Command("cp", "-r", from+"/"+part, s.path()+"/"+part).CombinedOutput()
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	head := s.c.git("", "--git-dir="+from, "rev-parse", "HEAD")
	s.c.git("", "--git-dir="+s.path(), "update-ref", "refs/heads/main", head)
}

// generate gives the repository 3,000 commits in 2,000 files, or as many as
// GITFOR_BENCH_COMMITS says, then of smaller files.
func (s *benchServer) generate(b *testing.B) {
	commits, lines := 3000, 200
	if n, err := strconv.Atoi(os.Getenv("GITFOR_BENCH_COMMITS")); err == nil {
		commits, lines = n, max(1, 600_000/n)
	}
	cmd := exec.Command("git", "--git-dir="+s.path(), "fast-import", "--quiet")
	cmd.Env = s.c.env
	in, err := cmd.StdinPipe()
	must(b, err)
	must(b, cmd.Start())
	w := bufio.NewWriter(in)
	r := rand.New(rand.NewPCG(3, 4))
	word := func() string { return fmt.Sprintf("%x", r.Uint32()) }
	for i := range commits {
		var text strings.Builder
		for range lines/5 + r.IntN(lines) {
			text.WriteString(word() + " " + word() + "\n")
		}
		path := fmt.Sprintf("d%d/f%d", r.IntN(40), r.IntN(50))
		fmt.Fprintf(w, "commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata 6\ncommit\nM 100644 inline %s\ndata %d\n%s\n", 1_700_000_000+i, path, text.Len(), text.String())
	}
	must(b, w.Flush())
	must(b, in.Close())
	must(b, cmd.Wait())
}

func timed(f func()) cost {
	start, cpu := time.Now(), cpuTime()
	f()
	return cost{time.Since(start), cpuTime() - cpu}
}

func benchInfoRefs(b *testing.B, s *benchServer) cost {
	req, err := http.NewRequestWithContext(context.Background(), "GET", s.url+"/info/refs?service=git-upload-pack", nil)
	must(b, err)
	req.Header.Set("Git-Protocol", "version=2")
	return timed(func() {
		res, err := http.DefaultClient.Do(req)
		must(b, err)
		_, _ = io.Copy(io.Discard, res.Body)
		must(b, res.Body.Close())
	})
}

func benchLsRemote(_ *testing.B, s *benchServer) cost {
	return timed(func() { s.c.git("", "ls-remote", s.url) })
}

func benchPush(_ *testing.B, s *benchServer) cost {
	s.c.commits("work", 1)
	return timed(func() { s.c.git("work", "push", "-q", "origin", "main") })
}

// benchFetch fetches one new commit.
func benchFetch(b *testing.B, s *benchServer) cost {
	s.n++
	dir := fmt.Sprintf("fetch%d", s.n)
	s.c.git("", "clone", "-q", "--bare", "--reference=work", s.url, dir)
	s.c.git(dir, "remote", "set-url", "origin", s.url)
	s.c.commits("work", 1)
	s.c.git("work", "push", "-q", "origin", "main")
	defer s.forget(b, dir)
	return timed(func() { s.c.git(dir, "fetch", "-q", "origin", "main:next") })
}

// benchClone clones what no clone asked for before.
func benchClone(b *testing.B, s *benchServer) cost {
	s.c.commits("work", 1)
	s.c.git("work", "push", "-q", "origin", "main")
	s.n++
	defer s.forget(b, fmt.Sprintf("clone%d", s.n))
	return timed(func() { s.c.git("", "clone", "-q", "--bare", s.url, fmt.Sprintf("clone%d", s.n)) })
}

// forget removes what was cloned, so that a long run does not fill the disk.
func (s *benchServer) forget(b *testing.B, dirs ...string) {
	for _, dir := range dirs {
		must(b, os.RemoveAll(filepath.Join(s.c.dir, dir)))
	}
}

func benchShallow(b *testing.B, s *benchServer) cost {
	s.c.commits("work", 1)
	s.c.git("work", "push", "-q", "origin", "main")
	s.n++
	defer s.forget(b, fmt.Sprintf("clone%d", s.n))
	return timed(func() { s.c.git("", "clone", "-q", "--bare", "--depth=1", s.url, fmt.Sprintf("clone%d", s.n)) })
}

func benchEight(b *testing.B, s *benchServer) cost {
	s.c.commits("work", 1)
	s.c.git("work", "push", "-q", "origin", "main")
	s.n++
	for i := range 8 {
		defer s.forget(b, fmt.Sprintf("clone%d-%d", s.n, i))
	}
	return timed(func() {
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				_, _ = s.c.try("", "clone", "-q", "--bare", s.url, fmt.Sprintf("clone%d-%d", s.n, i))
			})
		}
		all.Wait()
	})
}

// benchCPU compares the CPU time of eight equal fetches at once to that of one,
// with a client that only reads.
func benchCPU(b *testing.B, s *benchServer) {
	var one, eight time.Duration
	for b.Loop() {
		one += s.fetchCPU(b, 1)
		eight += s.fetchCPU(b, 8)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(one.Microseconds())/1000/float64(b.N), "one-ms")
	b.ReportMetric(float64(eight.Microseconds())/1000/float64(b.N), "eight-ms")
	b.ReportMetric(float64(eight)/float64(one), "ratio")
}

func (s *benchServer) fetchCPU(b *testing.B, n int) time.Duration {
	s.c.commits("work", 1)
	s.c.git("work", "push", "-q", "origin", "main")
	body := "0011command=fetch0001000dofs-delta" + pkt("want "+s.c.git("work", "rev-parse", "HEAD")) + "0009done\n0000"
	start := cpuTime()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			req, err := http.NewRequestWithContext(context.Background(), "POST", s.url+"/git-upload-pack", strings.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
			req.Header.Set("Git-Protocol", "version=2")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				b.Error(err)
				return
			}
			defer res.Body.Close()
			if k, err := io.Copy(io.Discard, res.Body); err != nil || k < 1<<20 {
				b.Errorf("%d bytes, %v", k, err)
			}
		})
	}
	all.Wait()
	return cpuTime() - start
}

// cpuTime is what this process and those it waited for have used.
func cpuTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}
