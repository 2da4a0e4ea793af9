// Package db is gitfor's state: the directory, the scopes of repositories and
// accounts, and the transactions that change them.
//
// Handles are typed by store. Directory is the small global store that turns
// names, ids and credentials into scopes. Repo and Account are one scope each;
// their tables are named ?scope.<table> and live in the scope's own schema.
// A read of a domain that a scope does not have yet is empty and creates
// nothing; the first write creates it. No statement and no transaction crosses
// stores, except that every transaction may publish events, arm alarms and
// enqueue jobs, which commit or roll back with it.
package db

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"golang.org/x/time/rate"
)

// JobsSchema is the schema of River's tables.
const JobsSchema = "jobs"

// Options are the settings of a database connection.
type Options struct {
	// MaxConns bounds the connections of requests (default 16); jobs have
	// a pool of their own of half that size.
	MaxConns int
	// Check, when set, sees every statement; tests use it to refuse SQL
	// that crosses stores.
	Check func(sql string)
	// Domains replaces the embedded schema files; for tests.
	Domains DomainFiles
	// StrangerWakes is how many sleeping scopes a minute strangers wake
	// (default 30).
	StrangerWakes int
	// FailPoint, when set, is asked at each named step of what must survive
	// a crash there; its error ends the transaction. For tests.
	FailPoint func(step string) error
	// Logger receives what has no caller to go to; default slog.Default.
	Logger *slog.Logger
}

// DB is one database with its directory, scopes, events and jobs.
type DB struct {
	pool       *pgxpool.Pool
	jobs       *pgxpool.Pool
	bun        *bun.DB
	queue      *river.Client[*sql.Tx]
	registry   *registry
	files      DomainFiles
	log        *slog.Logger
	wake       chan struct{}
	bus        *Bus
	pgxQueue   *river.Client[pgx.Tx]
	spareTaken chan struct{}
	strangers  *rate.Limiter
	touches    touches
	fail       func(step string) error
	// sequencing says that this process numbers the events itself.
	sequencing atomic.Bool
}

// Open connects to the database at url. It does not migrate; see Migrate.
func Open(ctx context.Context, url string, opts Options) (*DB, error) {
	if opts.MaxConns <= 0 {
		opts.MaxConns = 16
	}
	if opts.StrangerWakes <= 0 {
		opts.StrangerWakes = 30
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	if opts.Domains == nil {
		opts.Domains = embeddedDomains{}
	}
	d := &DB{files: opts.Domains, log: opts.Logger, registry: newRegistry(), wake: make(chan struct{}, 1),
		strangers: rate.NewLimiter(rate.Every(time.Minute/time.Duration(opts.StrangerWakes)), opts.StrangerWakes), fail: opts.FailPoint,
		spareTaken: make(chan struct{}, 1)}
	var err error
	// bun writes arguments into the text, so every text is new and a
	// statement cache only fills the server's memory: mode exec.
	if d.pool, err = openPool(ctx, url, opts.MaxConns, pgx.QueryExecModeExec, opts.Check); err != nil {
		return nil, err
	}
	// River's SQL is constant and profits from prepared statements.
	if d.jobs, err = openPool(ctx, url, max(4, opts.MaxConns/2), pgx.QueryExecModeCacheStatement, nil); err != nil {
		d.pool.Close()
		return nil, err
	}
	sqldb := stdlib.OpenDBFromPool(d.pool)
	// Idle conns belong to the pgx pool; database/sql must not hold them.
	sqldb.SetMaxIdleConns(0)
	d.bun = bun.NewDB(sqldb, pgdialect.New(), bun.WithDiscardUnknownColumns())
	d.bus = newBus(d.jobs, opts.Logger)
	if err := d.openQueues(sqldb); err != nil {
		d.Close()
		return nil, fmt.Errorf("job queue: %w", err)
	}
	return d, nil
}

func openPool(ctx context.Context, url string, conns int, mode pgx.QueryExecMode, check func(string)) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database url: %w", err)
	}
	cfg.MaxConns = int32(conns)
	cfg.MinConns = 1
	// A backend keeps memory for each scope it has touched and gives none
	// back before it ends, so connections are recycled.
	cfg.MaxConnLifetime = 8 * time.Minute
	cfg.MaxConnLifetimeJitter = 2 * time.Minute
	cfg.MaxConnIdleTime = 2 * time.Minute
	cfg.ConnConfig.DefaultQueryExecMode = mode
	cfg.ConnConfig.Tracer = &tracer{check: check}
	cfg.ConnConfig.RuntimeParams["application_name"] = "gitfor"
	cfg.ConnConfig.RuntimeParams["timezone"] = "UTC"
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	return pool, nil
}

// Close ends all connections.
func (d *DB) Close() {
	_ = d.bun.Close()
	d.pool.Close()
	d.jobs.Close()
}

// Ping reports whether the database answers.
func (d *DB) Ping(ctx context.Context) error { return mapped(d.pool.Ping(ctx)) }

// JobsPool is the pool that River's workers and the event sequencer use.
func (d *DB) JobsPool() *pgxpool.Pool { return d.jobs }

// Published is signalled, without blocking, after each commit that published
// an event in this process.
func (d *DB) Published() <-chan struct{} { return d.wake }

// Directory is the handle of the global store, for reading.
func (d *DB) Directory() Directory { return Directory{IDB: d.bun} }

// Cell is the handle of the cell's own tables (register, alarms, intents).
func (d *DB) Cell() Cell { return Cell{IDB: d.bun} }

// Events is the handle of the event store.
func (d *DB) Events() Events { return Events{IDB: d.bun} }

// Repo is the handle of a repository's state, for reading.
func (d *DB) Repo(id int64) Repo { return Repo{d.scoped(RepoScope(id))} }

// Account is the handle of an account's state, for reading.
func (d *DB) Account(id int64) Account { return Account{d.scoped(AccountScope(id))} }

// Directory is the global store. Only packages under db query it.
type Directory struct{ bun.IDB }

// Cell is the set of tables that serve the scopes of this database.
type Cell struct{ bun.IDB }

// Events is the event store.
type Events struct{ bun.IDB }

// Repo is the state of one repository.
type Repo struct{ scoped }

// Account is the state of one account.
type Account struct{ scoped }
