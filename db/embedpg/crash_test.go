package embedpg

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const childDir = "GITFOR_EMBEDPG_TEST_DIR"

// TestChild is the gitfor that the other tests kill: it starts a server, tells
// its address and waits.
func TestChild(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(childDir)
	if dir == "" {
		return // only as a process of its own
	}
	s, err := Start(t.Context(), Config{Dir: dir, BinDir: os.Getenv("GITFOR_PG_BIN"), ToolsDir: dir + "-bin"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stdout.WriteString("URL " + s.URL(Database) + "\n"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// child runs TestChild on dir and returns the process and the database.
func child(t *testing.T, dir string) (*os.Process, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if url, ok := strings.CutPrefix(lines.Text(), "URL "); ok {
			return cmd.Process, url
		}
		said.WriteString(lines.Text() + "\n")
	}
	t.Fatalf("the child did not start a server:\n%s", said.String())
	return nil, ""
}

func gone(t *testing.T, dir string) {
	t.Helper()
	if err := await(t.Context(), 20*time.Second, func() bool { return len(processes(dir)) == 0 }); err != nil {
		t.Fatal(err)
	}
	if left := processes(dir); len(left) > 0 {
		t.Fatalf("still running: %v", left)
	}
}

// TestServerEndsWithKilledGitfor holds where the kernel tells the server of
// its parent's death.
func TestServerEndsWithKilledGitfor(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	p, url := child(t, cfg.Dir)
	query(t, url, "CREATE TABLE kept AS SELECT 'yes' AS x; SELECT x FROM kept")
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	gone(t, cfg.Dir)
	if got := query(t, start(t, cfg).URL(Database), "SELECT x FROM kept"); got != "yes" {
		t.Fatalf("kept = %q", got)
	}
}

// TestEverythingKilled is a machine that loses power, but for its disk.
func TestEverythingKilled(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	p, url := child(t, cfg.Dir)
	query(t, url, "CREATE TABLE kept AS SELECT 'yes' AS x; SELECT x FROM kept")
	pids := processes(cfg.Dir)
	if len(pids) < 3 {
		t.Fatalf("found only processes %v", pids)
	}
	for _, pid := range append(pids, p.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if _, ok := readPidFile(cfg.Dir); !ok {
		t.Fatal("no pid file is left to trip over")
	}
	if got := query(t, start(t, cfg).URL(Database), "SELECT x FROM kept"); got != "yes" {
		t.Fatalf("kept = %q", got)
	}
}

// TestOrphanBackendIsEnded leaves one busy backend without its postmaster. A
// second server beside it would destroy the data.
func TestOrphanBackendIsEnded(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	s := start(t, cfg)
	conn, err := pgx.Connect(t.Context(), s.URL(Database))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	backend := int(conn.PgConn().PID())
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Exec(t.Context(), "DO $$ BEGIN LOOP END LOOP; END $$")
		ended <- err
	}()
	busy := func() bool {
		return query(t, s.URL(Database), "SELECT state FROM pg_stat_activity WHERE pid = "+strconv.Itoa(backend)) == "active"
	}
	if err := await(t.Context(), 10*time.Second, busy); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	again := start(t, cfg)
	if err := <-ended; err == nil {
		t.Fatal("the endless loop ended well")
	}
	if got := query(t, again.URL(Database), "SELECT 'ok'"); got != "ok" {
		t.Fatal(got)
	}
	if slices.Contains(processes(cfg.Dir), backend) {
		t.Fatal("the orphan still runs")
	}
}
