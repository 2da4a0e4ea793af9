package transport_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/transport"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// forge is a server of git alone, where an account's name is its password.
type forge struct {
	t     *testing.T
	db    *db.DB
	repos *repos.Service
	url   string
	dir   string
}

func newForge(t *testing.T) *forge {
	t.Helper()
	d := dbtest.Open(t)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	kit, err := web.New(web.Config{URL: "http://forge.test"}, log)
	if err != nil {
		t.Fatal(err)
	}
	users := map[string]*model.Account{}
	for _, name := range []string{"ann", "bob"} {
		users[name] = dbtest.User(t, d, name)
	}
	kit.SetAuth(func(c *web.Ctx) (*model.Viewer, error) {
		_, password, ok := c.R.BasicAuth()
		if !ok {
			return nil, nil
		}
		if users[password] == nil {
			return nil, fault.New(fault.Unauthorized, "That token is wrong.")
		}
		return &model.Viewer{Account: users[password], User: &model.User{Email: password + "@example.com"}, Token: true, All: true}, nil
	})
	store, err := git.NewStore(filepath.Join(t.TempDir(), "git"), git.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	gate := perms.NewGate(d)
	r := repos.New(repos.Deps{DB: d, Gate: gate, Git: store, Log: log, URL: "http://forge.test", Alone: true})
	s, err := transport.New(t.Context(), transport.Deps{DB: d, Gate: gate, Repos: r, Folder: t.TempDir(), URL: "http://forge.test", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.WithoutCancel(t.Context())) })
	server := httptest.NewServer(kit.Handler(s.Routes))
	t.Cleanup(server.Close)
	f := &forge{t: t, db: d, repos: r, url: server.URL, dir: t.TempDir()}
	f.git("init", "-q", "-b", "main", "work")
	f.work("commit", "-q", "--allow-empty", "-m", "first")
	return f
}

// git runs git and returns its output, errors included.
func (f *forge) git(args ...string) (string, error) {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "git", args...)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (f *forge) work(args ...string) string {
	f.t.Helper()
	out, err := f.git(append([]string{"-C", "work"}, args...)...)
	if err != nil {
		f.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

func (f *forge) as(user, path string) string {
	return strings.Replace(f.url, "http://", "http://x:"+user+"@", 1) + "/" + path
}

func (f *forge) events(repoID int64) (n int) {
	f.t.Helper()
	err := f.db.JobsPool().QueryRow(f.t.Context(), "SELECT count(*) FROM events.incoming WHERE repo_id = $1 AND type = 'git.push'", repoID).Scan(&n)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

func TestPushMakesRepositoryAndCloneGivesSameHistory(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.work("push", "-q", f.as("ann", "ann/new.git"), "main")
	repo, role, err := repodb.Find(t.Context(), f.db.Directory(), "ann", "new", 1)
	if err != nil || role != model.RoleAdmin || !repo.IsPrivate() || repo.PushedAt == nil {
		t.Fatalf("repo %+v, role %q, %v", repo, role, err)
	}
	if n := f.events(repo.ID); n != 1 {
		t.Fatalf("%d push events", n)
	}
	if out, err := f.git("clone", "-q", f.as("ann", "ann/new"), "copy"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	copied, _ := f.git("-C", "copy", "rev-list", "--all")
	if copied != f.work("rev-list", "--all")+"\n" {
		t.Fatalf("history differs: %s", copied)
	}
}

func TestRefusalsSayWhy(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	ann := dbtest.User(t, f.db, "owner")
	dbtest.Repo(t, f.db, ann, "open", dbtest.RepoOpts{})
	closed := dbtest.Repo(t, f.db, ann, "closed", dbtest.RepoOpts{})
	dbtest.Repo(t, f.db, ann, "secret", dbtest.RepoOpts{Private: true})
	dbtest.Exec(t, f.db, "UPDATE directory.repos SET archived_at = ? WHERE id = ?", closed.CreatedAt, closed.ID)
	dbtest.Exec(t, f.db, "INSERT INTO directory.collaborators (repo_id, account_id, role, created_at) SELECT ?, id, 'write', ? FROM directory.accounts WHERE name = 'bob'",
		closed.ID, closed.CreatedAt)
	for _, tc := range []struct{ name, url, want, status string }{
		{"wrong token", f.as("nobody", "owner/open.git"), "Authentication failed", ""},
		{"no right", f.as("bob", "owner/open.git"), "remote: You need the write role in owner/open", "403"},
		{"archived", f.as("bob", "owner/closed.git"), "remote: This repository is archived and read-only", "403"},
		{"may not see", f.as("bob", "owner/secret.git"), "not found", ""},
		{"none and may not make", f.as("bob", "owner/other.git"), "not found", ""},
		{"bad name", f.as("bob", "bob/a..git.git"), "remote:", ""},
	} {
		out, err := f.git("-C", "work", "push", tc.url, "main")
		if err == nil || !strings.Contains(out, tc.want) || !strings.Contains(out, tc.status) || strings.Count(out, "remote: ") > 1 {
			t.Errorf("%s: %v\n%s", tc.name, err, out)
		}
	}
}

func TestFirstBranchBecomesDefault(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.work("push", "-q", f.as("ann", "ann/r"), "main:topic", "main:master")
	repo, _, err := repodb.Find(t.Context(), f.db.Directory(), "ann", "r", 1)
	if err != nil || repo.DefaultBranch != "master" {
		t.Fatalf("default branch %q, %v", repo.DefaultBranch, err)
	}
	out, err := f.git("ls-remote", "--symref", f.as("ann", "ann/r"), "HEAD")
	if err != nil || !strings.Contains(out, "ref: refs/heads/master") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestPushKilledOnTheWay stops a push at each of its points, as a killed
// process does, and settles what it left.
func TestInterruptedPushesAreSettled(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.work("push", "-q", f.as("ann", "ann/r"), "main")
	repo, _, err := repodb.Find(t.Context(), f.db.Directory(), "ann", "r", 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := f.repos.Open(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	head := git.OID(f.work("rev-parse", "main"))
	viewer := &model.Viewer{Account: repo.Owner}
	for i, moves := range []bool{true, false} {
		name := fmt.Sprintf("refs/heads/b%d", i)
		p := &repos.Push{Repo: repo, Actor: viewer, Via: "git", Updates: []git.RefUpdate{{Name: name, Old: g.ZeroOID(), New: head}}}
		if err := f.repos.BeginPush(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if moves {
			if err := g.UpdateRefs(t.Context(), p.Updates); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Another process starts on what the first left behind.
	next := repos.New(f.repos.Deps)
	for range 2 {
		if err := next.SettlePushes(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if n := f.events(repo.ID); n != 2 {
			t.Fatalf("%d push events, want the first and the one that moved", n)
		}
	}
}

// TestManyRefsAreOneEvent pushes so many refs that an event per ref would
// flood what comes behind it.
func TestManyRefsAreOneEvent(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	head := f.work("rev-parse", "main")
	var packed strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&packed, "%s refs/tags/t%04d\n", head, i)
	}
	if err := os.WriteFile(filepath.Join(f.dir, "work", ".git", "packed-refs"), []byte("# pack-refs with: peeled fully-peeled sorted \n"+packed.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	f.work("push", "-q", f.as("ann", "ann/many"), "main", "refs/tags/*:refs/tags/*")
	repo, _, err := repodb.Find(t.Context(), f.db.Directory(), "ann", "many", 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := f.events(repo.ID); n != 1 {
		t.Errorf("%d push events", n)
	}
	var listed, total int
	err = f.db.JobsPool().QueryRow(t.Context(), "SELECT jsonb_array_length(data->'refs'), (data->>'refs_total')::int FROM events.incoming WHERE repo_id = $1 AND type = 'git.push'", repo.ID).Scan(&listed, &total)
	if err != nil || listed != 100 || total != 1001 {
		t.Errorf("the event lists %d of %d refs, %v", listed, total, err)
	}
}
