package embedpg

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOrdinaryUser runs the package's tests as nobody when the suite runs as
// root, as it does in CI.
func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // every other test is this test
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := open(t)
	binary := filepath.Join(dir, "embedpg.test")
	// Copied by a process of its own: a file that this one had open for
	// writing could be refused as busy.
	if out, err := exec.CommandContext(t.Context(), "cp", self, binary).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.skip=TestBinariesFromNPM")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("as nobody: %v\n%s", err, out)
	}
}

// open is a folder that every user may enter and write.
func open(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pguser")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestWithoutUserNamespaces is root in a container that forbids them, also on
// a folder that was made with one.
func TestWithoutUserNamespaces(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // Postgres runs as this user then
	}
	base := open(t)
	cfg := Config{Dir: filepath.Join(base, "data", "postgres"), BinDir: os.Getenv("GITFOR_PG_BIN"), ToolsDir: filepath.Join(base, "bin"), Fast: true}
	for _, other := range []bool{false, true, false} {
		cfg.otherUser = other
		s := start(t, cfg)
		query(t, s.URL(Database), "CREATE TABLE IF NOT EXISTS kept (x int); SELECT count(*)::text FROM kept")
		if url, ok := Running(cfg.Dir); !ok || url != s.URL(Database) {
			t.Fatalf("Running = %q, %v", url, ok)
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(base, "data"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm()&0o006 != 0 {
		t.Fatalf("others may read the data folder: %v", info.Mode())
	}
}

// TestClosedFolderWithoutUserNamespaces is the same below a folder that only
// root may enter, as /root is.
func TestClosedFolderWithoutUserNamespaces(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // Postgres runs as this user then
	}
	cfg := config(t, "data")
	cfg.otherUser = true
	s := start(t, cfg)
	if got := query(t, s.URL(Database), "SELECT 'ok'"); got != "ok" {
		t.Fatal(got)
	}
	info, err := os.Stat(filepath.Join(cfg.Dir, "PG_VERSION"))
	if err != nil {
		t.Fatal(err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid == 0 {
		t.Fatal("the cluster belongs to root")
	}
}
