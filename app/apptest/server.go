// Package apptest runs the whole of gitfor in the test's process: every
// route, over a database of the test's own and a temporary data folder.
//
//	s := apptest.New(t)
//	ann := s.User(t, "ann")
//	page := ann.Get("/settings/profile")
//	page.OK().Find("h1").Text()
//
// A package that uses it has func TestMain(m *testing.M) { dbtest.Main(m) }.
package apptest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/jobs"
)

// Server is a running instance.
type Server struct {
	*httptest.Server
	App *app.App
	DB  *db.DB
	// URL is the public address, at the host localhost: passkeys need a name.
	URL     string
	keyFile string
	t       testing.TB
}

// Option changes the configuration before the start.
type Option func(*app.Config)

// New starts an instance that ends with the test.
func New(t testing.TB, opts ...Option) *Server {
	t.Helper()
	return Over(t, dbtest.Open(t), opts...)
}

// Over is New over a database that the test opened.
func Over(t testing.TB, d *db.DB, opts ...Option) *Server {
	t.Helper()
	return start(t, d, false, opts)
}

// NewWorking is New with the jobs running: events reach their subscribers.
func NewWorking(t testing.TB, opts ...Option) *Server {
	t.Helper()
	return start(t, dbtest.Open(t), true, opts)
}

func start(t testing.TB, d *db.DB, working bool, opts []Option) *Server {
	t.Helper()
	s := &Server{DB: d, t: t}
	var handler http.Handler
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(s.Close)
	s.URL = strings.Replace(s.Server.URL, "127.0.0.1", "localhost", 1)
	cfg := app.Config{DataDir: t.TempDir(), URL: s.URL, Version: "test"}
	for _, o := range opts {
		o(&cfg)
	}
	if s.keyFile = cfg.SecretKeyFile; s.keyFile == "" {
		s.keyFile = filepath.Join(cfg.DataDir, "secret.key")
	}
	log := slog.New(slog.NewTextHandler(testLog{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	a, err := app.New(t.Context(), cfg, d, log)
	if err != nil {
		t.Fatalf("build the instance: %v", err)
	}
	if working {
		if err := jobs.Attach(a, cfg.DataDir, log); err != nil {
			t.Fatalf("attach the jobs: %v", err)
		}
	}
	s.App, handler = a, a.Handler()
	if err := a.Start(t.Context()); err != nil {
		t.Fatalf("start the instance: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		a.Drain()
		s.CloseClientConnections()
		a.Stop(ctx)
		// Whatever the test did, its events are as the catalogue says.
		catalogue, told := app.Catalogue(), map[string]bool{}
		for _, e := range dbtest.Events(ctx, t, d) {
			if err := catalogue.Check(e); err != nil && !told[e.Type] {
				told[e.Type] = true
				t.Errorf("%v: %s", err, e.Data)
			}
		}
	})
	return s
}

// testLog writes the instance's log into the test's.
type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Logf("%s", strings.TrimSpace(string(p)))
	return len(p), nil
}

// Anon is a browser that nobody is signed in with.
func (s *Server) Anon() *Client { return newClient(s, nil) }

// User makes an account of this name and signs it in: the client has a
// session for pages and a token with all scopes for the API. The first
// account of the instance is its administrator.
func (s *Server) User(t testing.TB, name string) *Client {
	t.Helper()
	user, err := s.App.Accounts.CreateUser(t.Context(), accounts.CreateInput{Name: name, Email: name + "@example.com"})
	if err != nil {
		t.Fatalf("make account %s: %v", name, err)
	}
	return s.As(t, user.Account)
}

// As signs an account in that the test made.
func (s *Server) As(t testing.TB, account *model.Account) *Client {
	t.Helper()
	cookie, err := s.App.Auth.StartSession(t.Context(), account.ID, auth.Device{Agent: "apptest", Remote: "127.0.0.1", Way: auth.ByPasskey})
	if err != nil {
		t.Fatalf("sign %s in: %v", account.Name, err)
	}
	token, err := s.App.Auth.NewToken(t.Context(), account.ID, auth.TokenInput{Name: "apptest"})
	if err != nil {
		t.Fatalf("make a token for %s: %v", account.Name, err)
	}
	c := newClient(s, account)
	c.Token = token
	c.Jar.set(s.App.Kit.CookieName("session"), cookie)
	return c
}

// Member makes an ordinary account, after an administrator called "root0"
// where there is nobody yet.
func (s *Server) Member(t testing.TB, name string) *Client {
	t.Helper()
	_, err := s.App.Accounts.CreateUser(t.Context(), accounts.CreateInput{Name: "root0", Email: "root0@example.com"})
	if err != nil && !strings.Contains(err.Error(), "taken") {
		t.Fatalf("make an administrator: %v", err)
	}
	return s.User(t, name)
}

// SameKey gives another instance the secret key of s, as two processes of one
// instance have.
func SameKey(s *Server) Option { return func(c *app.Config) { c.SecretKeyFile = s.keyFile } }
