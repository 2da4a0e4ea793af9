package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gitfor/gitfor/db/embedpg"
)

// ask gets an address of the server and returns the status and the text; 0
// when nobody answers.
func (k *killed) ask(path string) (int, string) {
	k.Helper()
	req, err := http.NewRequestWithContext(k.Context(), http.MethodGet, "http://"+k.addr+path, nil)
	if err != nil {
		k.Fatal(err)
	}
	if strings.HasPrefix(path, "/api/") {
		req.Header.Set("Authorization", "Bearer "+k.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close() //nolint:errcheck // only read
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}

// until asks for an address until it answers with a status.
func (k *killed) until(path string, status int) string {
	k.Helper()
	var last string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		now, text := k.ask(path)
		if now == status {
			return text
		}
		last = strconv.Itoa(now) + " " + text
	}
	k.Fatalf("%s never answered %d: %s", path, status, last)
	return ""
}

func (k *killed) signUp() {
	k.Helper()
	k.run("admin", "user", "create", "ann", "--email", "ann@example.com")
	k.token = k.run("admin", "token", "create", "ann")
}

// The server outlives its database: meanwhile it says so, and goes on by
// itself when the database is back.
func TestDatabaseOutage(t *testing.T) {
	t.Parallel()
	cfg := embedpg.Config{Dir: filepath.Join(t.TempDir(), "pg"), BinDir: os.Getenv("GITFOR_PG_BIN"), ToolsDir: t.TempDir(), Fast: true}
	start := func() *embedpg.Server {
		s, err := embedpg.Start(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	server := start()
	t.Cleanup(func() { _ = server.Stop(t.Context()) }) //nolint:contextcheck // the end of the test
	k := newKilled(t, server.URL(embedpg.Database))
	k.signUp()
	k.start()
	t.Cleanup(k.kill)
	if err := k.api("POST", "/user/repos", map[string]any{"name": "box"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := k.until("/ann/box/issues", http.StatusServiceUnavailable); !strings.Contains(text, "The database cannot be reached") {
		t.Errorf("the page does not say what is wrong:\n%s", text)
	}
	if text := k.until("/api/v3/repos/ann/box/issues", http.StatusServiceUnavailable); !strings.Contains(text, `"message":"The database cannot`) {
		t.Errorf("the API says %s", text)
	}
	k.until("/ann/box.git/info/refs?service=git-upload-pack", http.StatusServiceUnavailable)
	k.until("/readyz", http.StatusServiceUnavailable)
	k.until("/healthz", http.StatusOK)
	server = start()
	k.until("/readyz", http.StatusOK)
	k.until("/ann/box/issues", http.StatusOK)
	if err := k.api("POST", "/repos/ann/box/issues", map[string]any{"title": "after it"}, nil); err != nil {
		t.Error(err)
	}
}

// A private database that is killed comes back, with all that was acknowledged.
func TestPrivateDatabaseKilled(t *testing.T) {
	t.Parallel()
	k := newKilled(t, "")
	k.signUp()
	k.start()
	t.Cleanup(func() {
		_ = k.cmd.Process.Signal(syscall.SIGTERM)
		_ = k.cmd.Wait()
	})
	for _, at := range []string{"/user/repos", "/repos/ann/box/issues"} {
		if err := k.api("POST", at, map[string]any{"name": "box", "title": "kept"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(k.data, "postgres", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.SplitN(string(text), "\n", 2)[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// What runs into the gap gets an honest answer at worst.
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		status, page := k.ask("/ann/box/issues")
		if status == http.StatusOK {
			break
		}
		if status != http.StatusServiceUnavailable {
			t.Fatalf("%d %s", status, page)
		}
	}
	k.until("/readyz", http.StatusOK)
	if page := k.until("/ann/box/issues", http.StatusOK); !strings.Contains(page, "kept") {
		t.Error("the issue is gone")
	}
	if err := k.api("POST", "/repos/ann/box/issues", map[string]any{"title": "after it"}, nil); err != nil {
		t.Error(err)
	}
}
