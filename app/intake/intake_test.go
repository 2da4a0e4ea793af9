package intake_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/intake"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/repodb"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// clone is somebody's working folder whose remote is a repository of a server.
type clone struct {
	t   *testing.T
	dir string
}

func newClone(t *testing.T, s *apptest.Server, c *apptest.Client, full string) *clone {
	t.Helper()
	w := &clone{t, t.TempDir()}
	w.ok("init", "-q", "-b", "main")
	w.ok("remote", "add", "origin", strings.Replace(s.URL, "://", "://x:"+c.Token+"@", 1)+"/"+full+".git")
	return w
}

func (w *clone) git(args ...string) (string, error) {
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *clone) ok(args ...string) string {
	w.t.Helper()
	out, err := w.git(args...)
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

func (w *clone) commit(name, content string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.ok("add", "-A")
	w.ok("commit", "-q", "-m", "add "+name)
	return w.ok("rev-parse", "HEAD")
}

// refused pushes and wants a refusal that has all the words.
func (w *clone) refused(words []string, push ...string) string {
	w.t.Helper()
	out, err := w.git(append([]string{"push"}, push...)...)
	if err == nil {
		w.t.Fatalf("the push was taken:\n%s", out)
	}
	for _, word := range words {
		if !strings.Contains(out, word) {
			w.t.Errorf("the refusal lacks %q:\n%s", word, out)
		}
	}
	return out
}

// secret is a token in GitHub's form that opens nothing. It is put together here
// so that no scanner takes this file for a leak.
func secret(tail string) string {
	return "ghp_" + "9aB3dE5fG7hJ1kL2mN4pQ6rS8tU0vW2xY4z"[:36-len(tail)-1] + "A" + tail
}

func TestSecretsAtPush(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	repo := dbtest.Repo(t, s.DB, ann.Account, "box", dbtest.RepoOpts{})
	w := newClone(t, s, ann, "ann/box")
	w.commit("README.md", "# Box\n")
	w.ok("push", "-q", "origin", "main")
	one, two := secret("x1"), secret("y2")
	bad := w.commit("conf/app.env", "# settings\nNAME=box\nTOKEN="+one+"\n")
	// Taking it out in a later commit does not help: the history has it.
	w.commit("conf/app.env", "# settings\nNAME=box\n")
	out := w.refused([]string{"remote:", bad[:7], "conf/app.env:3", "github-pat", "push -o secret.allow=", "push holds secrets"}, "origin", "main")
	if strings.Contains(out, one) {
		t.Error("the refusal tells the secret")
	}
	w.refused(nil, "-o", "secret.allow=", "origin", "main")
	w.ok("push", "-q", "-o", "secret.allow=it is made up", "origin", "main")
	var audited int
	if err := s.DB.JobsPool().QueryRow(t.Context(), `SELECT count(*) FROM events.audit WHERE action = 'secret_scanning_push_protection.bypass'
		AND after->>'reason' = 'it is made up' AND after->'secrets'->>0 = 'github-pat in conf/app.env'`).Scan(&audited); err != nil || audited != 1 {
		t.Errorf("%d entries in the audit log, %v", audited, err)
	}
	// What is there already is not looked at again.
	w.ok("push", "-q", "origin", "main:refs/heads/other")

	// Another one is let in on the page.
	w.commit("second.env", "KEY="+two+"\n")
	out = w.refused([]string{"allow-secret?code="}, "origin", "main")
	address := strings.Fields(out[strings.Index(out, "/ann/box/allow-secret"):])[0]
	page := ann.Get(address).OK().Has("second.env")
	form := apptest.Form("reason", "")
	page.Find("main form input[type=hidden]").Each(func(_ int, in *goquery.Selection) {
		name, _ := in.Attr("name")
		value, _ := in.Attr("value")
		form.Set(name, value)
	})
	ann.PostForm("/ann/box/allow-secret", form).Want(http.StatusUnprocessableEntity).Has("Say why it may be pushed")
	form.Set("reason", "a sample for the docs")
	ann.PostForm("/ann/box/allow-secret", form).Want(http.StatusSeeOther)
	w.ok("push", "-q", "origin", "main")
	ann.Get("/ann/box/settings/pushes").OK().Has("a sample for the docs").Has("github-pat")
	s.Member(t, "bob").Get(address).Want(http.StatusForbidden)

	// The editor and the API are asked too.
	res := ann.API(http.MethodPut, "/repos/ann/box/contents/x.env", map[string]any{"message": "m", "content": b64("T=" + secret("z3"))})
	res.Want(http.StatusUnprocessableEntity).Has("github-pat")

	// Switched off, all comes in.
	ann.Post("/ann/box/settings/pushes", "max_mb", "", "paths", "").Want(http.StatusSeeOther)
	w.commit("third.env", "KEY="+secret("w4")+"\n")
	w.ok("push", "-q", "origin", "main")
	if r, err := repodb.ByIDAny(t.Context(), s.DB.Directory(), repo.ID); err != nil || !r.Settings.SecretPushAllow || len(r.Settings.SecretsAllowed) != 1 {
		t.Errorf("settings: %+v %v", r.Settings, err)
	}
}

func TestFileRules(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	dbtest.Repo(t, s.DB, ann.Account, "box", dbtest.RepoOpts{})
	ann.Post("/ann/box/settings/pushes", "secrets", "on", "max_mb", "many", "paths", "x").Want(http.StatusUnprocessableEntity).Has("number of megabytes")
	ann.Post("/ann/box/settings/pushes", "secrets", "on", "max_mb", "0.001", "paths", "*.exe\nnode_modules/\n").Want(http.StatusSeeOther)
	w := newClone(t, s, ann, "ann/box")
	w.commit("README.md", "# Box\n")
	w.ok("push", "-q", "origin", "main")
	for name, words := range map[string][]string{
		"tools/SETUP.exe":          {"tools/SETUP.exe", "forbidden-path"},
		"a/node_modules/p/main.js": {"node_modules/ are not allowed"},
	} {
		w.commit(name, "x\n")
		w.refused(append(words, "files are not allowed here"), "origin", "main")
		w.ok("reset", "-q", "--hard", "HEAD~1")
	}
	w.commit("big.txt", strings.Repeat("text\n", 400))
	w.refused([]string{"big.txt", "at most 1048 are allowed", "git-lfs"}, "origin", "main")
	w.ok("reset", "-q", "--hard", "HEAD~1")
	ann.API(http.MethodPut, "/repos/ann/box/contents/x.exe", map[string]any{"message": "m", "content": b64("x")}).
		Want(http.StatusUnprocessableEntity).Has("not allowed here")
	w.commit("fine.txt", "fine\n")
	w.ok("push", "-q", "origin", "main")
	w.ok("push", "-q", "origin", ":refs/heads/gone", "main:refs/tags/v1")
}

// TestLargePushesAreBounded pushes more commits than are looked at.
func TestLargePushesAreBounded(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	repo := dbtest.Repo(t, s.DB, ann.Account, "box", dbtest.RepoOpts{})
	g, err := s.App.Repos.Open(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	w := newClone(t, s, ann, "ann/box")
	var in strings.Builder
	for i := range 2500 {
		in.WriteString("commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nm\nM 644 inline f\ndata <<E\n" + strings.Repeat("x", i%50+1) + "\nE\n\n")
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = w.dir, strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if out := w.ok("push", "origin", "main"); !strings.Contains(out, "only its newest commits were searched") {
		t.Errorf("nothing is said of the bound:\n%s", out)
	}
	if n, err := g.CommitCount(t.Context(), git.OID(w.ok("rev-parse", "main"))); err != nil || n != 2500 {
		t.Errorf("%d commits, %v", n, err)
	}
}

// TestDoubtfulFindings are told apart from secrets: what only looks like a key
// by its line, and keys among tests.
func TestDoubtfulFindings(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	dbtest.Repo(t, s.DB, ann.Account, "box", dbtest.RepoOpts{})
	w := newClone(t, s, ann, "ann/box")
	key := "-----BEGIN RSA PRIVATE" + " KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEAx3Vd9qT8bJ2mXw5uYc0eRkPz7fHs1aLgNo4tKi6DvBjQlUhE\n", 8) + "-----END RSA PRIVATE" + " KEY-----\n"
	w.commit("app.go", `api_key = "`+"q8Zt2Lw9Xc4Vb7Nm1Kj5Hg3Fd6Sa0Pu"+`"`+"\n")
	w.commit("ssh/testdata/id_rsa", key)
	w.ok("push", "-q", "origin", "main")
	w.commit("deploy/id_rsa", key+"\n")
	w.refused([]string{"deploy/id_rsa", "private-key"}, "origin", "main")
}

// TestHistoryMovesIn with the secrets that it has, which are told; later pushes
// are held to the rules.
func TestHistoryMovesIn(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	dbtest.Repo(t, s.DB, ann.Account, "box", dbtest.RepoOpts{})
	w := newClone(t, s, ann, "ann/box")
	w.commit("conf.env", "TOKEN="+secret("m1")+"\n")
	for range 60 {
		w.ok("commit", "-q", "--allow-empty", "-m", "more")
	}
	if out := w.ok("push", "origin", "main"); !strings.Contains(out, "conf.env:1") || !strings.Contains(out, "let in as it is") {
		t.Errorf("nothing is said of the secret:\n%s", out)
	}
	w.commit("conf.env", "TOKEN="+secret("m2")+"\n")
	w.refused([]string{"conf.env:1", "github-pat"}, "origin", "main")
}

func TestMatchPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{"*.exe", "a/b/c.EXE", true}, {"*.exe", "exe", false}, {"build/*.o", "build/x.o", true}, {"build/*.o", "a/build/x.o", false},
		{"node_modules/", "node_modules/a", true}, {"node_modules/", "x/node_modules/a/b", true}, {"node_modules/", "node_modules", false},
		{"secret", "deep/secret", true}, {"/secret", "deep/secret", false}, {"/secret", "secret", true},
	} {
		if got := intake.MatchPath(c.pattern, c.file); got != c.want {
			t.Errorf("%q %q: %v", c.pattern, c.file, got)
		}
	}
}

func b64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
