package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/state"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/embedpg"
)

// database is the Postgres that a command uses and, where the command started
// it, the server behind it.
type database struct {
	url  string
	cfg  embedpg.Config
	lock *embedpg.Lock

	mu     sync.Mutex
	server *embedpg.Server // nil when the command started none
	closed bool
}

// openDatabase finds the database: the given one, the one that a running
// gitfor has on the same data folder, or one of its own.
func openDatabase(ctx context.Context, c *config, log *slog.Logger, exclusive bool) (*database, error) {
	if err := os.MkdirAll(c.data, 0o750); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if _, err := os.Stat(filepath.Join(c.data, state.Marker)); err == nil && !c.restoring {
		return nil, fmt.Errorf("a restore into %s did not end: delete the folder and restore again", c.data)
	}
	var lock *embedpg.Lock
	var err error
	if exclusive || c.databaseURL == "" {
		lock, err = embedpg.Acquire(c.data)
	}
	if err != nil {
		if url, ok := embedpg.Running(filepath.Join(c.data, "postgres")); ok && !exclusive && c.databaseURL == "" {
			return &database{url: url}, nil
		}
		return nil, err
	}
	if c.databaseURL != "" {
		return &database{url: c.databaseURL, lock: lock}, nil
	}
	cfg := embedpg.Config{
		Dir: filepath.Join(c.data, "postgres"), BinDir: os.Getenv("GITFOR_PG_BIN"),
		ToolsDir: filepath.Join(c.data, "postgres-bin"), Logger: log,
	}
	server, err := embedpg.Start(ctx, cfg)
	if err != nil {
		_ = lock.Release()
		return nil, err
	}
	return &database{url: server.URL(embedpg.Database), cfg: cfg, server: server, lock: lock}, nil
}

// keep starts the server again whenever it ends by itself, until close: a
// database that was killed must not take the forge down with it.
func (d *database) keep(ctx context.Context) {
	for d.server != nil {
		select {
		case <-ctx.Done():
			return
		case <-d.server.Done():
		}
		for wait := 100 * time.Millisecond; !d.restart(ctx); wait = min(2*wait, 10*time.Second) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
		}
	}
}

// restart starts the server anew; true when it runs, or is not wanted any more.
func (d *database) restart(ctx context.Context) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return true
	}
	d.cfg.Logger.ErrorContext(ctx, "the database stopped by itself and is started again", "err", d.server.Err())
	server, err := embedpg.Start(ctx, d.cfg)
	if err != nil {
		d.cfg.Logger.ErrorContext(ctx, "the database does not start", "err", err)
		return false
	}
	d.server = server
	return true
}

// close stops what openDatabase started.
func (d *database) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	var err error
	if d.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err = d.server.Stop(ctx)
	}
	if d.lock != nil {
		err = errors.Join(err, d.lock.Release())
	}
	return err
}

// withApp runs fn with an instance that has no background services, for the
// administration commands; they work beside a running server and without one.
func withApp(ctx context.Context, c *config, fn func(ctx context.Context, a *app.App) error) (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	base, err := openDatabase(ctx, c, log, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, base.close()) }()
	d, err := db.Open(ctx, base.url, db.Options{MaxConns: 3, Logger: log})
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Migrate(ctx); err != nil {
		return err
	}
	cfg, err := c.app()
	if err != nil {
		return err
	}
	// A command serves nothing, and a server may run beside it.
	cfg.SSHListen, cfg.SMTPListen, cfg.Alone = "", "", false
	a, err := app.New(ctx, cfg, d, log)
	if err != nil {
		return err
	}
	return fn(ctx, a)
}
