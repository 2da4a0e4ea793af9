package pulls_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/google/go-github/v89/github"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// bench is an instance with ada's repository engine and a work tree of it.
type bench struct {
	*apptest.Server
	t   *testing.T
	ada *apptest.Client
	dir string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	s := apptest.NewWorking(t)
	b := &bench{Server: s, t: t, ada: s.User(t, "ada"), dir: filepath.Join(t.TempDir(), "work")}
	b.ada.API(http.MethodPost, "/user/repos", map[string]any{"name": "engine"}).Want(http.StatusCreated)
	if err := os.MkdirAll(b.dir, 0o750); err != nil {
		t.Fatal(err)
	}
	b.git("init", "-q", "-b", "main")
	b.git("remote", "add", "origin", b.remote(b.ada, "ada/engine"))
	b.commit("main", "start", "README.md", "# Engine\n", "a.txt", lines(1, 60))
	b.push("main")
	return b
}

func (b *bench) remote(who *apptest.Client, name string) string {
	return strings.Replace(b.URL, "http://", "http://x:"+who.Token+"@", 1) + "/" + name + ".git"
}

// git runs git in the work tree and is what it printed.
func (b *bench) git(args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "git", args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit makes a commit of files (pairs of path and content; "-" deletes) on
// a branch, which is made where the work tree is, and is its id.
func (b *bench) commit(branch, message string, files ...string) string {
	b.t.Helper()
	if b.git("branch", "--show-current") != branch {
		if b.git("branch", "--list", branch) == "" {
			b.git("switch", "-q", "-c", branch)
		} else {
			b.git("switch", "-q", branch)
		}
	}
	for i := 0; i+1 < len(files); i += 2 {
		path := filepath.Join(b.dir, files[i])
		if files[i+1] == "-" {
			b.git("rm", "-q", files[i])
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	b.git("add", "-A")
	b.git("commit", "-q", "--allow-empty", "-m", message)
	return b.git("rev-parse", "HEAD")
}

func (b *bench) push(refs ...string) {
	b.t.Helper()
	b.git(append([]string{"push", "-q", "origin"}, refs...)...)
}

// open opens a pull request of ada's and is its number.
func (b *bench) open(head, base string, more ...any) int {
	b.t.Helper()
	in := map[string]any{"title": "Merge " + head, "head": head, "base": base}
	for i := 0; i+1 < len(more); i += 2 {
		in[fmt.Sprint(more[i])] = more[i+1]
	}
	res := b.ada.API(http.MethodPost, "/repos/ada/engine/pulls", in).Want(http.StatusCreated)
	return int(res.JSON()["number"].(float64))
}

// pull is a pull request as the API shows it.
func (b *bench) pull(n int) map[string]any {
	b.t.Helper()
	return b.ada.API(http.MethodGet, fmt.Sprintf("/repos/ada/engine/pulls/%d", n), nil).OK().JSON()
}

// until waits for a pull request to become as it should.
func (b *bench) until(n int, what string, ok func(p map[string]any) bool) map[string]any {
	b.t.Helper()
	end := time.Now().Add(15 * time.Second)
	for {
		p := b.pull(n)
		if ok(p) {
			return p
		}
		if time.Now().After(end) {
			b.t.Fatalf("pull request %d does not become %s: %v %v head %v", n, what, p["state"], p["merged"], p["head"].(map[string]any)["sha"])
		}
		select {
		case <-b.t.Context().Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (b *bench) merge(n int, in map[string]any) *apptest.Response {
	b.t.Helper()
	return b.ada.API(http.MethodPut, fmt.Sprintf("/repos/ada/engine/pulls/%d/merge", n), in)
}

// remoteTip is where a branch is on the server, "" when it is not there.
func (b *bench) remoteTip(ref string) string {
	b.t.Helper()
	sha, _, _ := strings.Cut(b.git("ls-remote", "origin", ref), "\t")
	return sha
}

// show is a file as it is on a branch of the server.
func (b *bench) show(branch, path string) string {
	b.t.Helper()
	b.git("fetch", "-q", "origin", branch)
	return b.git("show", "FETCH_HEAD:"+path)
}

// events counts the events of a type.
func (b *bench) events(kind string) int {
	b.t.Helper()
	var list []map[string]any
	b.ada.API(http.MethodGet, "/repos/ada/engine/event-log?per_page=200&type="+kind, nil).OK().Into(&list)
	return len(list)
}

// eventsOf is events once there are as many as wanted, for the log is written
// a little later than what it tells of.
func (b *bench) eventsOf(kind string, want int) int {
	b.t.Helper()
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if n := b.events(kind); n >= want || time.Now().After(end) {
			return n
		}
	}
}

func hub(t *testing.T, s *bench, c *apptest.Client) *github.Client {
	t.Helper()
	client, err := github.NewClient(github.WithAuthToken(c.Token), github.WithEnterpriseURLs(s.URL, s.URL), github.WithDisableRateLimitCheck())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lines are numbered lines, from to to.
func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

type selection = goquery.Selection
