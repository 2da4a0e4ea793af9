package embedpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// logName is the server's log, in the cluster's folder.
const logName = "gitfor-postgres.log"

// maxLog is the size in bytes at which the server's log begins anew; the
// earlier one is kept once.
const maxLog = 16 << 20

// launch starts postgres in one of the ways. The kernel ends it when the
// thread that started it ends (where it can), so the thread is kept until the
// server is gone.
func (s *Server) launch(bin string) error {
	path := filepath.Join(s.cfg.Dir, logName)
	rotate(path)
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	args := []string{"-D", s.cfg.Dir, "-k", s.socket}
	for _, set := range settings(s.cfg.Fast) {
		args = append(args, "-c", set)
	}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer log.Close() // the server has its own handle
		err := s.startAs(filepath.Join(bin, "postgres"), args, log)
		started <- err
		if err != nil {
			return
		}
		s.err = s.cmd.Wait()
		close(s.done)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	go s.watchLog(path)
	return nil
}

// startAs starts the server; as root, which Postgres refuses, in a user
// namespace or, where those are forbidden, as another user.
func (s *Server) startAs(program string, args []string, log *os.File) error {
	var tries failures
	for _, way := range ways(s.cfg) {
		if err := errors.Join(way.give(s.cfg.Dir), way.give(s.socket)); err != nil {
			tries = append(tries, err)
			continue
		}
		cmd := exec.Command(program, args...) //nolint:noctx // the server outlives the call that starts it
		cmd.Stdout, cmd.Stderr = log, log
		cmd.Env, cmd.Dir, cmd.SysProcAttr = environment(), "/", way.server()
		err := cmd.Start()
		if err == nil {
			s.cmd = cmd
			return nil
		}
		tries = append(tries, err)
	}
	return tries.err()
}

// failures are what went wrong in each of the ways, told in one line.
type failures []error

func (f failures) err() error {
	if len(f) == 0 {
		return errors.New("postgres does not run as root, and there is no user postgres or nobody")
	}
	var said []string
	for _, err := range f {
		if s := strings.ReplaceAll(err.Error(), "\n", "; "); !slices.Contains(said, s) {
			said = append(said, s)
		}
	}
	return errors.New(strings.Join(said, "; or "))
}

// rotate puts a log that has grown aside.
func rotate(path string) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
}

// watchLog begins the log anew when it has grown while the server runs. The
// server appends, so the file can be emptied under it.
func (s *Server) watchLog(path string) {
	tick := time.NewTicker(10 * time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
			if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
				_ = os.Truncate(path, 0)
			}
		}
	}
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
	list := []string{
		"listen_addresses=", "unix_socket_permissions=0700",
		"max_connections=80",
		// Creating a scope's tables takes a lock for each relation.
		"max_locks_per_transaction=1024",
		// One open and fsync per file at a start after a crash takes
		// minutes with many scopes; syncfs takes a second.
		"recovery_init_sync_method=" + syncMethod,
		fmt.Sprintf("shared_buffers=%dMB", min(max(mb/8, 64), 4096)),
		fmt.Sprintf("effective_cache_size=%dMB", max(mb/2, 128)),
		"work_mem=8MB", "maintenance_work_mem=128MB",
		// Enough for pg_basebackup through the socket.
		"wal_level=replica", "max_wal_senders=2",
		"max_wal_size=2GB", "checkpoint_timeout=15min", "wal_compression=on",
		"jit=off", "random_page_cost=1.1", "autovacuum_max_workers=3", "log_autovacuum_min_duration=10s",
		"log_min_duration_statement=2s", "log_line_prefix=%m [%p] ", "timezone=UTC", "log_timezone=UTC",
		"idle_in_transaction_session_timeout=5min",
	}
	if fast {
		list = append(list, "fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=64MB",
			"max_connections=200", "autovacuum=off", "wal_level=minimal", "max_wal_senders=0")
	}
	return list
}

// stopOrphans ends what a killed gitfor left on the folder: a whole server, or
// single backends whose postmaster is gone and which would keep a new server
// from starting. The caller holds the data folder's lock, so no living gitfor
// uses them.
func stopOrphans(ctx context.Context, cfg Config) error {
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{
		{syscall.SIGINT, 10 * time.Second}, {syscall.SIGQUIT, 3 * time.Second}, {syscall.SIGKILL, 3 * time.Second},
	} {
		left := processes(cfg.Dir)
		if len(left) == 0 {
			return removeStale(cfg.Dir)
		}
		cfg.Logger.WarnContext(ctx, "stopping the Postgres that an earlier run left", "pids", left)
		for _, pid := range left {
			_ = syscall.Kill(pid, step.signal)
		}
		if err := await(ctx, step.wait, func() bool { return len(processes(cfg.Dir)) == 0 }); err != nil {
			return err
		}
	}
	if left := processes(cfg.Dir); len(left) > 0 {
		return fmt.Errorf("a Postgres of an earlier run (process %d) on %s does not end: stop it", left[0], cfg.Dir)
	}
	return removeStale(cfg.Dir)
}

// await asks until done says yes or limit is over.
func await(ctx context.Context, limit time.Duration, done func() bool) error {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return nil
		case <-tick.C:
		}
	}
	return nil
}

// removeStale removes what a server that is gone left and a new one would trip
// over: its socket, and its pid file when the number belongs to another program
// by now or to a dead process that nobody has waited for. Of other pid files
// Postgres judges by itself, which also looks for memory still in use.
func removeStale(dir string) error {
	f, ok := readPidFile(dir)
	if !ok {
		return nil
	}
	var err error
	if f.socket != "" {
		path := filepath.Join(f.socket, ".s.PGSQL."+f.port)
		err = errors.Join(remove(path), remove(path+".lock"))
	}
	if syscall.Kill(f.pid, 0) == nil {
		err = errors.Join(err, remove(filepath.Join(dir, "postmaster.pid")))
	}
	return err
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// lastLine is the last line that says something.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
