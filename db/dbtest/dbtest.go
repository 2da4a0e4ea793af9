// Package dbtest gives each test a database of its own on a real Postgres.
//
// A package that uses it has
//
//	func TestMain(m *testing.M) { dbtest.Main(m) }
//
// which starts one Postgres for the package's tests (or uses the one at
// GITFOR_TEST_DATABASE_URL) and makes a migrated template. Open then clones
// the template, so tests run in parallel and never see each other.
package dbtest

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/embedpg"
	"github.com/jackc/pgx/v5"
)

// server is the Postgres of this test process.
var server struct {
	once     sync.Once
	err      error
	url      func(database string) string
	template string
	stop     func()
	n        atomic.Int64
}

// Main runs a package's tests and stops the Postgres that they started.
func Main(m *testing.M) {
	code := m.Run()
	if server.stop != nil {
		server.stop()
	}
	os.Exit(code)
}

func start() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if base := os.Getenv("GITFOR_TEST_DATABASE_URL"); base != "" {
		server.url = func(database string) string {
			u, err := url.Parse(base)
			if err != nil {
				return base
			}
			u.Path = "/" + database
			return u.String()
		}
	} else if server.err = startOwn(ctx); server.err != nil {
		return
	}
	// A process that was killed leaves its own behind, and ids come again.
	server.template = fmt.Sprintf("gitfor_template_%d_%d", os.Getpid(), time.Now().UnixNano())
	server.err = makeTemplate(ctx)
}

func startOwn(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "gitfor-pg-")
	if err != nil {
		return err
	}
	// Where a machine has no Postgres, one is fetched once and kept.
	tools := filepath.Join(dir, "bin")
	if cache, err := os.UserCacheDir(); err == nil {
		tools = filepath.Join(cache, "gitfor", "postgres")
	}
	pg, err := embedpg.Start(ctx, embedpg.Config{
		Dir: filepath.Join(dir, "postgres"), BinDir: os.Getenv("GITFOR_PG_BIN"),
		ToolsDir: tools, Logger: slog.New(slog.DiscardHandler), Fast: true,
	})
	if err != nil {
		_ = os.RemoveAll(dir)
		return err
	}
	server.url = pg.URL
	server.stop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = pg.Stop(ctx)
		_ = os.RemoveAll(dir)
	}
	return nil
}

func makeTemplate(ctx context.Context) error {
	if err := exec(ctx, "CREATE DATABASE "+server.template+" TEMPLATE template0 LC_CTYPE 'C.UTF-8' LC_COLLATE 'C'"); err != nil {
		return err
	}
	d, err := db.Open(ctx, server.url(server.template), db.Options{MaxConns: 4})
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Migrate(ctx)
}

func exec(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, server.url("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // the statement's own error counts
	_, err = conn.Exec(ctx, sql)
	return err
}

// NewURL makes a migrated database of the test's own and returns its address.
func NewURL(t testing.TB) string {
	t.Helper()
	return newURL(t, false)
}

// NewEmptyURL makes an empty database of the test's own, not migrated.
func NewEmptyURL(t testing.TB) string {
	t.Helper()
	return newURL(t, true)
}

func newURL(t testing.TB, empty bool) string {
	t.Helper()
	server.once.Do(start)
	if server.err != nil {
		t.Fatalf("test postgres: %v", server.err)
	}
	name := fmt.Sprintf("gitfor_%d_%d", os.Getpid(), server.n.Add(1))
	template := server.template
	if empty {
		template = "template0 LC_CTYPE 'C.UTF-8' LC_COLLATE 'C'"
	}
	if err := exec(t.Context(), "CREATE DATABASE "+name+" STRATEGY WAL_LOG TEMPLATE "+template); err != nil {
		t.Fatalf("make test database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
		defer cancel()
		if err := exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop test database: %v", err)
		}
	})
	return server.url(name)
}

// Open makes a migrated database of the test's own and opens it. A statement
// that crosses stores fails the test.
func Open(t testing.TB) *db.DB {
	t.Helper()
	return OpenWith(t, db.Options{})
}

// OpenWith is Open with options.
func OpenWith(t testing.TB, opts db.Options) *db.DB {
	t.Helper()
	return OpenURL(t, NewURL(t), opts)
}

// OpenURL opens the database at an address that NewURL gave: twice, as two
// processes do.
func OpenURL(t testing.TB, url string, opts db.Options) *db.DB {
	t.Helper()
	opts.MaxConns = max(opts.MaxConns, 6)
	if opts.Check == nil {
		opts.Check = func(sql string) {
			if err := OneStore(sql); err != nil {
				t.Error(err)
			}
		}
	}
	d, err := db.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

var (
	literal = regexp.MustCompile(`'(?:[^']|'')*'`)
	store   = regexp.MustCompile(`\b(directory|repo_\d+|account_\d+)"?\s*\.\s*"?[a-z]`)
)

// OneStore reports an error when the statement names two stores that hold
// state: two scopes, or a scope and the directory.
func OneStore(sql string) error {
	seen := map[string]bool{}
	for _, m := range store.FindAllStringSubmatch(literal.ReplaceAllString(sql, "''"), -1) {
		seen[m[1]] = true
	}
	if len(seen) < 2 {
		return nil
	}
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	return fmt.Errorf("one statement names the stores %s: %s", strings.Join(names, " and "), sql)
}

// Count returns a context whose statements are counted.
func Count(ctx context.Context) (context.Context, *db.Stats) { return db.WithStats(ctx) }
