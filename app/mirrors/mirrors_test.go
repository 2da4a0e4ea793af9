package mirrors_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// pair is an instance, and another one that it copies from and to.
type pair struct {
	t           *testing.T
	here, there *apptest.Server
	ann, eve    *apptest.Client
	dir         string
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t, dir: t.TempDir(), there: apptest.New(t)}
	p.here = apptest.NewWorking(t, func(c *app.Config) { c.OutboundAllow = []string{"localhost"} })
	p.ann, p.eve = p.here.User(t, "ann"), p.there.User(t, "eve")
	p.eve.API(http.MethodPost, "/user/repos", map[string]any{"name": "src", "private": true}).Want(http.StatusCreated)
	p.git("init", "-q", "-b", "trunk")
	p.commit("first")
	p.git("tag", "v1")
	p.git("branch", "topic")
	p.git("push", "-q", p.remote(p.there, p.eve, "eve/src"), "trunk", "topic", "v1")
	return p
}

func (p *pair) remote(s *apptest.Server, c *apptest.Client, name string) string {
	return strings.Replace(s.URL, "http://", "http://x:"+c.Token+"@", 1) + "/" + name + ".git"
}

func (p *pair) try(args ...string) (string, error) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "git", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (p *pair) git(args ...string) string {
	p.t.Helper()
	out, err := p.try(args...)
	if err != nil {
		p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (p *pair) commit(message string) {
	p.t.Helper()
	p.git("commit", "-q", "--allow-empty", "-m", message)
}

// refs are the branches and tags of a repository by ls-remote.
func (p *pair) refs(s *apptest.Server, c *apptest.Client, name string) string {
	p.t.Helper()
	return p.git("ls-remote", p.remote(s, c, name), "refs/heads/*", "refs/tags/*")
}

// wait asks until ok, for at most 20 seconds.
func (p *pair) wait(what string, ok func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: not in time", what)
		}
	}
}

// status is the state of the import of a repository when it has ended.
func (p *pair) status(name string) (status, message string) {
	p.t.Helper()
	p.wait("the import of "+name, func() bool {
		m := p.ann.API(http.MethodGet, "/repos/ann/"+name+"/import", nil).OK().JSON()
		status, _ = m["status"].(string)
		message, _ = m["error_message"].(string)
		return status != "importing"
	})
	return status, message
}

// pushes is how many git.push events a repository has, when the log has them.
func (p *pair) pushes(name string) int {
	p.t.Helper()
	var list []map[string]any
	p.wait("the event", func() bool {
		p.ann.API(http.MethodGet, "/repos/ann/"+name+"/event-log?type=git.push", nil).OK().Into(&list)
		return len(list) > 0
	})
	return len(list)
}

func (p *pair) repo(name string) *model.Repo {
	p.t.Helper()
	r, err := repodb.ByName(p.t.Context(), p.here.DB.Directory(), "ann", name)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func TestImport(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.ann.Get("/new/import").OK()
	p.ann.Post("/new/import", "url", "ssh://x/y", "owner", "ann", "visibility", "private", "every", "0").
		Want(http.StatusUnprocessableEntity).Has("Only https addresses").Has(`value="ssh://x/y"`)
	p.ann.Post("/new/import", "url", "http://example.com/x.git", "owner", "ann", "visibility", "private", "every", "0").
		Want(http.StatusUnprocessableEntity).Has("unless the operator has allowed")
	to := p.ann.Post("/new/import", "url", p.there.URL+"/eve/src.git", "username", "eve", "password", p.eve.Token, "owner", "ann",
		"visibility", "private", "every", "0").Want(http.StatusSeeOther).Location()
	if to != "/ann/src/import" {
		t.Fatalf("redirected to %s", to)
	}
	if status, message := p.status("src"); status != "complete" {
		t.Fatalf("import: %s %s", status, message)
	}
	if here, there := p.refs(p.here, p.ann, "ann/src"), p.refs(p.there, p.eve, "eve/src"); here != there {
		t.Errorf("here are\n%s\nthere are\n%s", here, there)
	}
	if all := p.git("ls-remote", p.remote(p.here, p.ann, "ann/src")); strings.Contains(all, "refs/mirror") {
		t.Errorf("clients see the staging: %s", all)
	}
	repo := p.repo("src")
	if repo.DefaultBranch != "trunk" || repo.Mirror {
		t.Errorf("the default branch is %s, mirror %v", repo.DefaultBranch, repo.Mirror)
	}
	if n := p.pushes("src"); n != 1 {
		t.Errorf("%d push events, want 1", n)
	}
	p.ann.Get("/ann/src/import").Want(http.StatusSeeOther)
	p.ann.Get("/ann/src/settings/mirrors").OK().Has("Imported once").Has("Up to date")
	var secrets int
	if err := p.here.DB.JobsPool().QueryRow(t.Context(), fmt.Sprintf("SELECT count(secret) FROM repo_%d.mirrors", repo.ID)).Scan(&secrets); err != nil || secrets != 0 {
		t.Errorf("the password is kept: %d, %v", secrets, err)
	}
	// What was imported is a repository like others.
	p.commit("more")
	p.git("push", "-q", p.remote(p.here, p.ann, "ann/src"), "trunk")
	p.ann.API(http.MethodPut, "/repos/ann/src/import", map[string]any{"vcs_url": p.there.URL + "/eve/src.git"}).Want(http.StatusConflict)
}

func TestImportFails(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	elsewhere := httptest.NewServer(http.RedirectHandler(p.there.URL+"/eve/src.git/info/refs", http.StatusFound))
	t.Cleanup(elsewhere.Close)
	redirecting := strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)
	for name, c := range map[string]struct{ url, password, want string }{
		"password":  {p.there.URL + "/eve/src.git", "wrong", "refuses these"},
		"anonymous": {p.there.URL + "/eve/src.git", "", "asks for a user name"},
		"inside":    {"https://127.0.0.1:1/x.git", "", "not on the public network"},
		"redirect":  {redirecting + "/x.git", "", "redirects elsewhere"},
		"closed":    {"http://localhost:1/x.git", "", "cannot be reached"},
	} {
		p.ann.API(http.MethodPost, "/user/repos", map[string]any{"name": name}).Want(http.StatusCreated)
		p.ann.API(http.MethodPut, "/repos/ann/"+name+"/import", map[string]any{"vcs_url": c.url, "vcs_username": "eve", "vcs_password": c.password}).
			Want(http.StatusCreated)
		if status, message := p.status(name); status != "error" || !strings.Contains(message, c.want) {
			t.Errorf("%s: %s %q, want %q", name, status, message, c.want)
		}
		p.ann.Get("/ann/" + name + "/import").OK().Has(c.want).Has("Try again")
	}
	p.ann.API(http.MethodDelete, "/repos/ann/closed/import", nil).Want(http.StatusNoContent)
	p.ann.API(http.MethodGet, "/repos/ann/closed/import", nil).Want(http.StatusNotFound)
}

func TestPullMirror(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.ann.Post("/new/import", "url", p.there.URL+"/eve/src.git", "username", "eve", "password", p.eve.Token, "owner", "ann",
		"name", "copy", "visibility", "private", "every", "60").Want(http.StatusSeeOther)
	if status, message := p.status("copy"); status != "complete" {
		t.Fatalf("import: %s %s", status, message)
	}
	// Changes, a branch that went, and one whose name became a folder.
	p.commit("second")
	p.git("branch", "-D", "topic")
	p.git("branch", "topic/one")
	p.git("push", "-q", p.remote(p.there, p.eve, "eve/src"), ":topic")
	p.git("push", "-q", p.remote(p.there, p.eve, "eve/src"), "trunk", "topic/one")
	settings := p.ann.Get("/ann/copy/settings/mirrors").OK().Has("Every hour").Has("Stop following")
	run, _ := settings.Find("form[action$='/run']").Attr("action")
	p.ann.Post(run).Want(http.StatusSeeOther)
	want := p.refs(p.there, p.eve, "eve/src")
	p.wait("the mirror", func() bool { return p.refs(p.here, p.ann, "ann/copy") == want })
	// It is read-only here, by git and by the API.
	if out, err := p.try("push", p.remote(p.here, p.ann, "ann/copy"), "trunk:mine"); err == nil || !strings.Contains(out, "follows another") {
		t.Errorf("push: %v %s", err, out)
	}
	file := map[string]any{"message": "m", "content": "eA==", "branch": "trunk"}
	p.ann.API(http.MethodPut, "/repos/ann/copy/contents/x", file).Want(http.StatusForbidden).Has("follows another")
	end, _ := settings.Find("form[action$='/delete']").Attr("action")
	p.ann.Post(end).Want(http.StatusSeeOther)
	p.ann.API(http.MethodPut, "/repos/ann/copy/contents/x", file).Want(http.StatusCreated)
}

func TestPushMirror(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.ann.API(http.MethodPost, "/user/repos", map[string]any{"name": "own", "private": true}).Want(http.StatusCreated)
	p.eve.API(http.MethodPost, "/user/repos", map[string]any{"name": "copy", "private": true}).Want(http.StatusCreated)
	p.git("push", "-q", p.remote(p.here, p.ann, "ann/own"), "trunk", "v1")
	p.ann.Post("/ann/own/settings/mirrors", "url", "nonsense").Want(http.StatusUnprocessableEntity).Has(`value="nonsense"`)
	address := strings.Replace(p.there.URL, "http://", "http://eve:"+p.eve.Token+"@", 1) + "/eve/copy.git"
	p.ann.Post("/ann/own/settings/mirrors", "url", address).Want(http.StatusSeeOther)
	same := func() bool { return p.refs(p.here, p.ann, "ann/own") == p.refs(p.there, p.eve, "eve/copy") }
	p.wait("the first copy", same)
	page := p.ann.Get("/ann/own/settings/mirrors").OK()
	if strings.Contains(page.Body, p.eve.Token) {
		t.Error("the page shows the password")
	}
	p.ann.Post("/ann/own/settings/mirrors", "url", p.there.URL+"/eve/copy.git").Want(http.StatusUnprocessableEntity).Has("already")
	p.commit("second")
	p.git("push", "-q", p.remote(p.here, p.ann, "ann/own"), "trunk", "trunk:other")
	p.wait("the copy of a push", same)
	p.git("push", "-q", p.remote(p.here, p.ann, "ann/own"), ":other")
	p.wait("the copy of a deletion", same)
	// Its owner is told when it keeps failing, once.
	run, _ := page.Find("form[action$='/run']").Attr("action")
	p.eve.API(http.MethodPatch, "/repos/eve/copy", map[string]any{"archived": true}).OK()
	p.commit("third")
	p.git("push", "-q", p.remote(p.here, p.ann, "ann/own"), "trunk")
	count := func(sql string) (n int) {
		t.Helper()
		if err := p.here.DB.JobsPool().QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i := range 4 {
		if i > 0 {
			p.ann.Post(run).Want(http.StatusSeeOther)
		}
		p.wait("a failure", func() bool { return count("SELECT max(failures) FROM repo_1.mirrors") > i })
	}
	mails := func() int {
		return count("SELECT count(*) FROM jobs.river_job WHERE kind = 'mail.send'")
	}
	p.wait("the mail", func() bool { return mails() > 0 })
	if n := count("SELECT count(*) FROM jobs.river_job WHERE kind = 'mirrors.warn'"); n != 1 || mails() != 1 {
		t.Errorf("%d warnings, %d mails", n, mails())
	}
}
