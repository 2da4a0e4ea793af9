package deploykeys_test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

type site struct {
	*apptest.Server
	t   *testing.T
	ann *apptest.Client
	ssh string
	dir string
	env []string
}

func newSite(t *testing.T) *site {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	s := &site{t: t, dir: t.TempDir(), ssh: "ssh://git@" + addr}
	s.Server = apptest.New(t, func(c *app.Config) { c.SSHListen = addr })
	s.User(t, "root0")
	s.ann = s.User(t, "ann")
	for _, name := range []string{"one", "two"} {
		s.ann.API(http.MethodPost, "/user/repos", map[string]any{"name": name, "private": true}).Want(http.StatusCreated)
	}
	s.env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	s.git("init", "-q", "-b", "main")
	s.git("commit", "-q", "--allow-empty", "-m", "first")
	for _, name := range []string{"one", "two"} {
		s.git("push", "-q", s.http(s.ann.Token, "ann/"+name), "main")
	}
	return s
}

func (s *site) http(token, repo string) string {
	return strings.Replace(s.URL, "http://", "http://x:"+token+"@", 1) + "/" + repo + ".git"
}

func (s *site) try(args ...string) (string, error) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (s *site) git(args ...string) {
	s.t.Helper()
	if out, err := s.try(args...); err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// refused fails the test when git succeeds.
func (s *site) refused(what string, args ...string) {
	s.t.Helper()
	if out, err := s.try(args...); err == nil {
		s.t.Errorf("%s is let in: %s", what, out)
	}
}

// key makes a key pair that git then uses, and returns its public half.
func (s *site) key() string {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "key")
	if out, err := exec.CommandContext(s.t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "build", "-f", file).CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(file + ".pub")
	if err != nil {
		s.t.Fatal(err)
	}
	s.env = append(s.env, "GIT_SSH_COMMAND=ssh -i "+file+" -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR")
	return strings.TrimSpace(string(b))
}

func (s *site) token(write bool) (text string, url string) {
	s.t.Helper()
	m := s.ann.API(http.MethodPost, "/repos/ann/one/deploy-tokens", map[string]any{"name": "ci", "write": write}).Want(http.StatusCreated).JSON()
	text, _ = m["token"].(string)
	url, _ = m["url"].(string)
	return text, strings.TrimPrefix(url, s.URL+"/api/v3")
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	reads, readsAt := s.token(false)
	writes, _ := s.token(true)
	if !strings.HasPrefix(reads, "g1t_dep_") {
		t.Fatalf("token %q", reads)
	}
	s.git("fetch", "-q", s.http(reads, "ann/one"), "main")
	s.refused("a push that may only fetch", "push", s.http(reads, "ann/one"), "main:b")
	s.git("push", "-q", s.http(writes, "ann/one"), "main:b")
	s.refused("another repository", "fetch", s.http(writes, "ann/two"), "main")
	s.refused("a new repository", "push", s.http(writes, "ann/three"), "main")

	m := s.Anon()
	m.Token = reads
	m.API(http.MethodGet, "/repos/ann/one", nil).OK()
	m.API(http.MethodGet, "/repos/ann/one/commits", nil).OK()
	m.API(http.MethodGet, "/repos/ann/two", nil).Want(http.StatusNotFound)
	m.API(http.MethodGet, "/user", nil).Want(http.StatusUnauthorized)
	m.API(http.MethodGet, "/repos/ann/one/keys", nil).Want(http.StatusForbidden)
	file := map[string]any{"message": "m", "content": "eA==", "branch": "main"}
	m.API(http.MethodPut, "/repos/ann/one/contents/x", file).Want(http.StatusForbidden)
	m.Token = writes
	m.API(http.MethodPut, "/repos/ann/one/contents/x", file).Want(http.StatusCreated)
	m.API(http.MethodPatch, "/repos/ann/one", map[string]any{"private": false}).Want(http.StatusForbidden)

	// A rule of branches holds although the maker is exempt from it.
	s.ann.Post("/ann/one/settings/branches", "pattern", "main", "pull", "true").Want(http.StatusSeeOther)
	s.refused("a push past a rule", "push", "-f", s.http(writes, "ann/one"), "main")
	m.API(http.MethodPut, "/repos/ann/one/contents/y", file).Want(http.StatusForbidden)

	page := s.ann.Get("/ann/one/settings/tokens").OK()
	if got := page.Find("ul[aria-label='Deploy tokens'] li").Length(); got != 2 {
		t.Errorf("%d tokens on the page", got)
	}
	page.Has("Used")
	s.ann.API(http.MethodDelete, readsAt, nil).Want(http.StatusNoContent)
	s.ann.API(http.MethodDelete, readsAt, nil).Want(http.StatusNotFound)
	s.refused("a removed token", "fetch", s.http(reads, "ann/one"), "main")
	dbtest.Exec(t, s.DB, "UPDATE repo_1.deploy_credentials SET expires_at = ?", time.Now().Add(-time.Minute))
	s.refused("an ended token", "fetch", s.http(writes, "ann/one"), "main")
}

func TestTokenPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.ann.Post("/ann/one/settings/tokens", "name", " ", "expires", "30", "write", "true").Want(http.StatusUnprocessableEntity).Has("Name it after")
	s.ann.Post("/ann/one/settings/tokens", "name", "ci", "expires", "soon").Want(http.StatusUnprocessableEntity).Has(`value="ci"`)
	s.ann.Post("/ann/one/settings/tokens", "name", "ci", "expires", "30").Want(http.StatusSeeOther)
	text, _ := s.ann.Get("/ann/one/settings/tokens").OK().Find("[data-token]").Attr("value")
	s.git("fetch", "-q", s.http(text, "ann/one"), "main")
	if s.ann.Get("/ann/one/settings/tokens").OK().Find("[data-token]").Length() != 0 {
		t.Error("the token is shown twice")
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	public := s.key()
	remote := s.ssh + "/ann/one.git"
	s.refused("a stranger's key", "fetch", remote, "main")
	s.ann.Post("/ann/one/settings/keys", "key", "ssh-rsa nonsense").Want(http.StatusUnprocessableEntity).Has("ssh-rsa nonsense")
	m := s.ann.API(http.MethodPost, "/repos/ann/one/keys", map[string]any{"key": public, "read_only": true}).Want(http.StatusCreated).JSON()
	if m["title"] != "build" || m["read_only"] != true || m["added_by"] != "ann" || m["verified"] != true {
		t.Errorf("the key is %v", m)
	}
	s.git("fetch", "-q", remote, "main")
	s.refused("a push that may only fetch", "push", remote, "main:b")
	s.refused("another repository", "fetch", s.ssh+"/ann/two.git", "main")
	// A key opens one thing.
	for _, at := range []string{"/repos/ann/one/keys", "/repos/ann/two/keys", "/user/keys"} {
		s.ann.API(http.MethodPost, at, map[string]any{"title": "again", "key": public}).Want(http.StatusUnprocessableEntity).Has("in use")
	}
	// It stays when its maker has no access any more, and follows a new name.
	s.ann.API(http.MethodPatch, "/repos/ann/one", map[string]any{"name": "uno"}).OK()
	root := s.account("root0")
	dbtest.Exec(t, s.DB, "UPDATE directory.repos SET owner_id = ? WHERE name = 'uno'", root)
	s.refused("the maker", "fetch", s.http(s.ann.Token, "root0/uno"), "main")
	s.git("fetch", "-q", s.ssh+"/root0/uno.git", "main")
	dbtest.Exec(t, s.DB, "UPDATE directory.repos SET owner_id = ? WHERE name = 'uno'", s.ann.Account.ID)
	s.git("fetch", "-q", s.ssh+"/ann/one.git", "main")

	s.ann.Get("/ann/uno/settings/keys").OK().Has("build").Has("Fetch only")
	action, _ := s.ann.Get("/ann/uno/settings/keys").Find("form[action$='/delete']").Attr("action")
	s.ann.Post(action).Want(http.StatusSeeOther)
	s.refused("a removed key", "fetch", s.ssh+"/ann/uno.git", "main")
	s.ann.API(http.MethodGet, "/repos/ann/uno/keys", nil).OK().Has("[]")
	// And a key of an account is no deploy key.
	s.ann.API(http.MethodPost, "/user/keys", map[string]any{"title": "mine", "key": public}).Want(http.StatusCreated)
	s.ann.API(http.MethodPost, "/repos/ann/uno/keys", map[string]any{"title": "again", "key": public}).Want(http.StatusUnprocessableEntity)
}

func (s *site) account(name string) (id int64) {
	s.t.Helper()
	if err := s.DB.JobsPool().QueryRow(s.t.Context(), "SELECT id FROM directory.accounts WHERE name = $1", name).Scan(&id); err != nil {
		s.t.Fatal(err)
	}
	return id
}
