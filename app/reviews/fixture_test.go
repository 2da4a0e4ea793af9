package reviews_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/google/go-github/v89/github"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// bench is an instance with ada's repository engine, bob who may write to it,
// eve who may read, and a work tree.
type bench struct {
	*apptest.Server
	t             *testing.T
	ada, bob, eve *apptest.Client
	dir           string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	s := apptest.NewWorking(t)
	b := &bench{Server: s, t: t, ada: s.User(t, "ada"), bob: s.User(t, "bob"), eve: s.User(t, "eve"), dir: filepath.Join(t.TempDir(), "work")}
	b.ada.API(http.MethodPost, "/user/repos", map[string]any{"name": "engine"}).Want(http.StatusCreated)
	b.writer("bob")
	if err := os.MkdirAll(b.dir, 0o750); err != nil {
		t.Fatal(err)
	}
	b.git("init", "-q", "-b", "main")
	b.git("remote", "add", "origin", strings.Replace(b.URL, "http://", "http://x:"+b.ada.Token+"@", 1)+"/ada/engine.git")
	b.commit("main", "start", "README.md", "# Engine\n", "a.txt", lines(1, 60), "other.txt", "one\ntwo\nthree\n")
	b.git("push", "-q", "origin", "main")
	return b
}

// writer lets somebody write to the repository.
func (b *bench) writer(name string) {
	b.t.Helper()
	_, err := b.DB.JobsPool().Exec(b.t.Context(), `INSERT INTO directory.collaborators (repo_id, account_id, role, created_at)
		SELECT r.id, a.id, 'write', now() FROM directory.repos r, directory.accounts a WHERE r.name = 'engine' AND a.name = $1`, name)
	check(b.t, err)
}

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

// commit makes a commit of files (pairs of path and content) on a branch,
// which is made where the work tree is.
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
		if err := os.WriteFile(filepath.Join(b.dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	b.git("add", "-A")
	b.git("commit", "-q", "--allow-empty", "-m", message)
	return b.git("rev-parse", "HEAD")
}

// open opens a pull request of ada's for a branch.
func (b *bench) open(head string) int {
	b.t.Helper()
	b.git("push", "-q", "origin", head)
	res := b.ada.API(http.MethodPost, "/repos/ada/engine/pulls", map[string]any{"title": "Merge " + head, "head": head, "base": "main"}).Want(http.StatusCreated)
	return int(res.JSON()["number"].(float64))
}

func (b *bench) pull(n int) map[string]any {
	b.t.Helper()
	return b.ada.API(http.MethodGet, fmt.Sprintf("/repos/ada/engine/pulls/%d", n), nil).OK().JSON()
}

// synced waits until the pull request's head is the commit.
func (b *bench) synced(n int, sha string) {
	b.t.Helper()
	end := time.Now().Add(15 * time.Second)
	for b.pull(n)["head"].(map[string]any)["sha"] != sha {
		if time.Now().After(end) {
			b.t.Fatal("the push does not arrive")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (b *bench) hub(c *apptest.Client) *github.Client {
	b.t.Helper()
	client, err := github.NewClient(github.WithAuthToken(c.Token), github.WithEnterpriseURLs(b.URL, b.URL), github.WithDisableRateLimitCheck())
	check(b.t, err)
	return client
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}
