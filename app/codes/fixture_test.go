package codes_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/git/gittest"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/google/go-github/v89/github"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// site is an instance with ann, who owns the repositories, and bob, who may
// read what is public.
type site struct {
	*apptest.Server
	t        *testing.T
	ann, bob *apptest.Client
}

func newSite(t *testing.T, opts ...apptest.Option) *site {
	t.Helper()
	s := &site{Server: apptest.New(t, opts...), t: t}
	s.ann, s.bob = s.User(t, "ann"), s.User(t, "bob")
	return s
}

// repo makes the repository ann/name and pushes what make put into it.
func (s *site) repo(name string, fill ...gittest.Commit) *gittest.Repo {
	s.t.Helper()
	s.ann.API(http.MethodPost, "/user/repos", map[string]any{"name": name}).Want(http.StatusCreated)
	w := gittest.New(s.t)
	if len(fill) > 0 {
		w.Commits(fill...)
		s.push(w, name)
	}
	return w
}

// push pushes every branch and tag of w over HTTP.
func (s *site) push(w *gittest.Repo, name string, more ...string) {
	s.t.Helper()
	w.Git(append([]string{"push", "-q", s.remote(name), "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*"}, more...)...)
}

// fetch brings what the server has into w, as it is.
func (s *site) fetch(w *gittest.Repo, name string) {
	s.t.Helper()
	w.Git("fetch", "-q", "--prune", "-u", s.remote(name), "+refs/*:refs/*")
}

func (s *site) remote(name string) string {
	return strings.Replace(s.URL, "http://", "http://x:"+s.ann.Token+"@", 1) + "/ann/" + name + ".git"
}

// client is GitHub's own Go client at the instance's API.
func (s *site) client(c *apptest.Client) *github.Client {
	s.t.Helper()
	client, err := github.NewClient(github.WithAuthToken(c.Token), github.WithEnterpriseURLs(s.URL+"/api/v3/", s.URL+"/api/v3/"))
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

// queries is how many statements the answer took.
func queries(t *testing.T, r *apptest.Response) int {
	t.Helper()
	var n int
	timing := r.Header.Get("Server-Timing")
	if _, err := fmt.Sscanf(timing[strings.Index(timing, `desc="`):], `desc="%d queries"`, &n); err != nil {
		t.Fatalf("Server-Timing %q: %v", timing, err)
	}
	return n
}

func text(path, content string) gittest.File { return gittest.Text(path, content) }

func commit(message string, files ...gittest.File) gittest.Commit {
	return gittest.Commit{Message: message, Files: files}
}

func as[T error](err error, to *T) bool { return errors.As(err, to) }
