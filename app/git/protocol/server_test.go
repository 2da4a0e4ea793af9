package protocol_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/git/protocol"
)

// server is a store with one repository, served over HTTP and SSH.
type server struct {
	t       testing.TB
	store   *git.Store
	root    string
	id      int64
	url     string // of the repository over HTTP
	sshURL  string
	sshAddr string
	key     string // file of the key that may sign in
	known   string // file for the client's known hosts
	upload  *protocol.UploadPack
	receive *protocol.ReceivePack

	mu      sync.Mutex
	hooks   protocol.Hooks
	hide    []string
	bundles []protocol.Bundle
	runs    map[string]int
	errs    []error
	asked   []string // methods, paths and versions of HTTP requests
}

// option changes a server before it starts.
type option func(*server)

func newServer(t *testing.T, opts ...option) *server {
	t.Helper()
	s := newStore(t)
	for _, o := range opts {
		o(s)
	}
	s.startHTTP()
	return s
}

func newStore(t testing.TB) *server {
	t.Helper()
	s := &server{t: t, id: 7, runs: map[string]int{}}
	must(t, s.open(t.TempDir()))
	cache := s.upload.Cache
	t.Cleanup(func() { _ = cache.Close() })
	_, err := s.store.Init(context.Background(), s.id, "main")
	must(t, err)
	return s
}

// open opens the store in the folder root.
func (s *server) open(root string) error {
	store, err := git.NewStore(filepath.Join(root, "git"), git.StoreOptions{Observe: func(_ context.Context, name string, _ time.Duration) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.runs[name]++
	}})
	if err != nil {
		return err
	}
	cache, err := protocol.NewPackCache(filepath.Join(root, "git", "cache"), 1<<30, time.Hour)
	if err != nil {
		return err
	}
	s.store, s.root = store, root
	s.upload = &protocol.UploadPack{Cache: cache}
	s.receive = &protocol.ReceivePack{Quarantine: filepath.Join(root, "git", "incoming"), Agent: "gitfor/test"}
	return nil
}

func withFormat(f git.ObjectFormat) option {
	return func(s *server) {
		must(s.t, s.store.Remove(s.id))
		_, err := s.store.InitFormat(context.Background(), s.id, "main", f)
		must(s.t, err)
	}
}

func withHooks(h protocol.Hooks) option { return func(s *server) { s.hooks = h } }

func (s *server) target(ctx context.Context) (protocol.Target, error) {
	repo, err := s.store.Open(ctx, s.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	return protocol.Target{Repo: repo, Hide: s.hide, Bundles: s.bundles}, err
}

func (s *server) path() string { return s.store.Path(s.id) }

func (s *server) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[name]
}

func (s *server) fault(err error) {
	if err != nil {
		s.mu.Lock()
		s.errs = append(s.errs, err)
		s.mu.Unlock()
	}
}

func (s *server) startHTTP() {
	srv := httptest.NewServer(s.handler())
	s.t.Cleanup(srv.Close)
	s.url = srv.URL + "/r.git"
}

func (s *server) handler() http.Handler {
	h := &protocol.HTTP{Upload: s.upload, Receive: s.receive}
	mux := http.NewServeMux()
	with := func(serve func(w http.ResponseWriter, r *http.Request, t protocol.Target) error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Git-Protocol"))
			s.mu.Unlock()
			t, err := s.target(r.Context())
			if err != nil {
				http.Error(w, err.Error(), http.StatusNotFound)
				return
			}
			s.fault(serve(w, r, t))
		}
	}
	mux.HandleFunc("GET /r.git/info/refs", with(h.InfoRefs))
	mux.HandleFunc("POST /r.git/git-upload-pack", with(func(w http.ResponseWriter, r *http.Request, t protocol.Target) error {
		return h.UploadPack(w, r, t, "someone")
	}))
	mux.HandleFunc("POST /r.git/git-receive-pack", with(func(w http.ResponseWriter, r *http.Request, t protocol.Target) error {
		return h.ReceivePack(w, r, protocol.ReceiveRequest{Target: t, Hooks: s.hooks, Client: "someone",
			Identity: protocol.Identity{Name: "Pusher", Email: "pusher@example.org"}})
	}))
	return mux
}

// startSSH serves the same repository over SSH.
func (s *server) startSSH(change ...func(*protocol.SSHServer)) *protocol.SSHServer {
	s.t.Helper()
	dir := s.t.TempDir()
	keys, err := protocol.HostKeys(filepath.Join(dir, "host"))
	must(s.t, err)
	s.key = filepath.Join(dir, "id")
	allowed := writeKey(s.t, s.key)
	srv := &protocol.SSHServer{
		HostKeys: keys,
		Authenticate: func(_ context.Context, key ssh.PublicKey, _ net.Addr) (any, bool) {
			return "ann", string(key.Marshal()) == string(allowed.Marshal())
		},
		Greeting: func(_ context.Context, who any) string { return fmt.Sprintf("Hi %v! There is no shell here.", who) },
		Serve:    s.serveSSH,
	}
	for _, c := range change {
		c(srv)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(s.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() { defer close(gone); _ = srv.Listen(ctx, l) }()
	s.t.Cleanup(func() { cancel(); <-gone; _ = srv.Shutdown(ctx) })
	s.sshAddr = l.Addr().String()
	s.sshURL = "ssh://git@" + s.sshAddr + "/ann/r.git"
	s.known = filepath.Join(dir, "known_hosts")
	return srv
}

func (s *server) serveSSH(ctx context.Context, sess *protocol.SSHSession) int {
	if sess.Path() != "ann/r" {
		fmt.Fprintf(sess.Stderr, "there is no repository %q\n", sess.Path())
		return 1
	}
	t, err := s.target(ctx)
	if err == nil {
		switch sess.Service {
		case protocol.UploadService:
			err = s.upload.Serve(ctx, protocol.UploadRequest{Target: t, Version: sess.Version, Client: "ann", In: sess.Stdin, Out: sess.Stdout})
		case protocol.ReceiveService:
			err = s.receive.Serve(ctx, protocol.ReceiveRequest{Target: t, Hooks: s.hooks, Version: sess.Version, Client: "ann", In: sess.Stdin, Out: sess.Stdout})
		}
	}
	s.fault(err)
	if err != nil {
		return 1
	}
	return 0
}

func writeKey(t testing.TB, path string) ssh.PublicKey {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	block, err := ssh.MarshalPrivateKey(key, "")
	must(t, err)
	must(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	p, err := ssh.NewPublicKey(pub)
	must(t, err)
	return p
}

// sshArgs are the options of a client that uses the key.
func (s *server) sshArgs(key string) []string {
	_, port, _ := net.SplitHostPort(s.sshAddr)
	return []string{"-F", "/dev/null", "-i", key, "-p", port, "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none",
		"-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=" + s.known}
}

// client is a git user with an empty home.
type client struct {
	t   testing.TB
	dir string
	env []string
}

func (s *server) client() *client {
	s.t.Helper()
	home := s.t.TempDir()
	c := &client{t: s.t, dir: home, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org",
		"GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=init.defaultBranch", "GIT_CONFIG_VALUE_0=main",
		"GIT_CONFIG_KEY_1=gc.auto", "GIT_CONFIG_VALUE_1=0",
	}}
	if s.key != "" {
		c.env = append(c.env, "GIT_SSH_COMMAND=ssh "+strings.Join(s.sshArgs(s.key), " "))
	}
	return c
}

func (c *client) cmd(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env, cmd.Dir = c.env, c.dir
	if dir != "" {
		cmd.Dir = filepath.Join(c.dir, dir)
	}
	return cmd
}

// try runs git and is what it said and whether it succeeded.
func (c *client) try(dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	out, err := c.cmd(ctx, dir, args...).CombinedOutput()
	return string(out), err
}

// git runs git and fails the test when that fails.
func (c *client) git(dir string, args ...string) string {
	c.t.Helper()
	out, err := c.try(dir, args...)
	if err != nil {
		c.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

// refused runs git, which must fail and say want.
func (c *client) refused(want, dir string, args ...string) string {
	c.t.Helper()
	out, err := c.try(dir, args...)
	if err == nil {
		c.t.Fatalf("git %q succeeded:\n%s", args, out)
	}
	if !strings.Contains(out, want) {
		c.t.Fatalf("git %q did not say %q:\n%s", args, want, out)
	}
	return out
}

func (c *client) write(path, text string) {
	c.t.Helper()
	full := filepath.Join(c.dir, path)
	must(c.t, os.MkdirAll(filepath.Dir(full), 0o777))
	must(c.t, os.WriteFile(full, []byte(text), 0o666))
}

// work makes a repository "work" with n commits and the remote url.
func (c *client) work(url string, n int) {
	c.t.Helper()
	c.git("", "init", "-q", "work")
	c.git("work", "remote", "add", "origin", url)
	c.commits("work", n)
}

// commits adds n commits of one file each.
func (c *client) commits(dir string, n int) {
	c.t.Helper()
	for i := range n {
		name := fmt.Sprintf("f%d-%d", time.Now().UnixNano(), i)
		c.write(dir+"/"+name, strings.Repeat(name+"\n", 20))
		c.git(dir, "add", "-A")
		c.git(dir, "commit", "-q", "-m", "add "+name)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// processesIn are the processes whose folder is dir.
func processesIn(dir string) []string {
	var found []string
	list, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, p := range list {
		if at, err := os.Readlink(p); err == nil && strings.HasPrefix(at, dir) {
			found = append(found, p)
		}
	}
	return found
}

// eventually asks again until ok, for 10 seconds at most.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("%s: not within 10 seconds", what)
}
