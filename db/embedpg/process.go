package embedpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// launch starts postgres. The kernel ends it when the thread that started it
// ends (where it can), so the thread is kept until the server is gone.
func (s *Server) launch(bin string) error {
	logFile, err := os.OpenFile(filepath.Join(s.cfg.Dir, logName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	args := []string{"-D", s.cfg.Dir, "-k", s.socket}
	for _, set := range settings(s.cfg.Fast) {
		args = append(args, "-c", set)
	}
	s.cmd = exec.Command(filepath.Join(bin, "postgres"), args...)
	s.cmd.Stdout, s.cmd.Stderr = logFile, logFile
	s.cmd.Env = environment()
	s.cmd.Dir = s.cfg.Dir
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := startAs(s.cmd)
		started <- err
		if err != nil {
			return
		}
		s.err = s.cmd.Wait()
		_ = logFile.Close()
		close(s.done)
	}()
	if err := <-started; err != nil {
		_ = logFile.Close()
		return fmt.Errorf("start postgres: %w", err)
	}
	return nil
}

// startAs starts cmd; as root, which Postgres refuses, first in a user
// namespace and, where those are forbidden, as the user postgres or nobody.
func startAs(cmd *exec.Cmd) error {
	var err error
	for _, attr := range attributes() {
		try := *cmd
		try.SysProcAttr = attr
		if err = try.Start(); err == nil {
			*cmd = try
			return nil
		}
	}
	return err
}

// environment is what Postgres gets of ours: nothing that could point it
// elsewhere.
func environment() []string {
	env := []string{"LC_ALL=C", "LANG=C", "TZ=UTC"}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// settings are the server's, for the machine's memory.
func settings(fast bool) []string {
	mb := memoryMB()
	shared := min(max(mb/8, 64), 4096)
	list := []string{
		"listen_addresses=", "unix_socket_permissions=0700",
		"max_connections=80",
		// Creating a scope's tables takes a lock for each relation.
		"max_locks_per_transaction=1024",
		// One open and fsync per file at a start after a crash takes
		// minutes with many scopes; syncfs takes a second.
		"recovery_init_sync_method=" + syncMethod,
		fmt.Sprintf("shared_buffers=%dMB", shared),
		fmt.Sprintf("effective_cache_size=%dMB", max(mb/2, 128)),
		"work_mem=8MB", "maintenance_work_mem=128MB",
		"max_wal_size=2GB", "checkpoint_timeout=15min", "wal_level=minimal", "max_wal_senders=0", "wal_compression=on",
		"jit=off", "random_page_cost=1.1", "autovacuum_max_workers=3", "log_autovacuum_min_duration=10s",
		"log_min_duration_statement=2s", "log_line_prefix=%m [%p] ", "timezone=UTC", "log_timezone=UTC",
		"idle_in_transaction_session_timeout=5min",
	}
	if fast {
		list = append(list, "fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=64MB",
			"max_connections=200", "autovacuum=off")
	}
	return list
}

// postmaster is the process id in the cluster's postmaster.pid.
func postmaster(dir string) (int, bool) {
	b, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	if err != nil {
		return 0, false
	}
	line, _, _ := strings.Cut(string(b), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	return pid, err == nil && pid > 1
}

// stopOrphan ends a server that a killed gitfor left on the folder and removes
// a pid file whose process is gone. The caller holds the data folder's lock,
// so no living gitfor uses the server.
func stopOrphan(ctx context.Context, dir string) error {
	pid, ok := postmaster(dir)
	if !ok {
		return nil
	}
	pidFile := filepath.Join(dir, "postmaster.pid")
	if !isPostgres(pid, dir) {
		// Another program has the number now, or in a namespace of its own
		// postgres could not tell: the file would keep it from starting.
		return removeStale(pidFile)
	}
	_ = syscall.Kill(pid, syscall.SIGINT)
	for range 1000 {
		if !isPostgres(pid, dir) {
			return removeStale(pidFile)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	_ = syscall.Kill(pid, syscall.SIGQUIT)
	for range 500 {
		if !isPostgres(pid, dir) {
			return removeStale(pidFile)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("a Postgres of an earlier run (process %d) on %s does not end: stop it", pid, dir)
}

func removeStale(path string) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}
