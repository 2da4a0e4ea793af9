package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// softStop is how long running jobs may go on when the process stops; then
// they are interrupted and handed back without counting as a failure.
const softStop = 5 * time.Second

// Runner works the jobs of one process.
type Runner struct {
	db     *db.DB
	node   *node
	client *river.Client[pgx.Tx]
	kinds  []kind
}

// New makes the runner of a. Nothing runs before Start.
func New(a *app.App, dataDir string, log *slog.Logger) (*Runner, error) {
	n, err := claimNode(dataDir)
	if err != nil {
		return nil, err
	}
	reg := register(a)
	client, err := river.NewClient(riverpgxv5.New(a.DB.JobsPool()), &river.Config{
		ID: n.id, Schema: db.JobsSchema, Logger: slog.New(quiet{log.Handler()}).With("part", "jobs"),
		Queues: queueConfig(), Workers: reg.workers, PeriodicJobs: periodic(),
		FetchCooldown: 5 * time.Millisecond, FetchPollInterval: idlePoll,
		MaxAttempts: db.MaxAttempts, ErrorHandler: deadLetters{},
		// Dead letters stay until somebody deletes them.
		DiscardedJobRetentionPeriod: -1, CompletedJobRetentionPeriod: time.Hour,
		JobTimeout: time.Minute, RescueStuckJobsAfter: rescueAfter, SoftStopTimeout: softStop,
	})
	if err != nil {
		n.release()
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return &Runner{db: a.DB, node: n, client: client, kinds: reg.kinds}, nil
}

// Attach makes a run jobs, number events and ring alarms while it runs.
func Attach(a *app.App, dataDir string, log *slog.Logger) error {
	r, err := New(a, dataDir, log)
	if err != nil {
		return err
	}
	a.Attach(r)
	a.Attach(events.NewSequencer(a.Events))
	a.Attach(a.Alarms)
	return nil
}

// Start begins to work. Jobs that this node was working when it died are
// available again at once.
func (r *Runner) Start(ctx context.Context) error {
	if err := eventdb.Reclaim(ctx, r.db, r.node.id); err != nil {
		return err
	}
	return r.client.Start(context.WithoutCancel(ctx))
}

// Stop takes no new jobs, lets running ones finish for a while, and hands the
// others back.
func (r *Runner) Stop(ctx context.Context) error {
	defer r.node.release()
	return r.client.Stop(ctx)
}

// quiet leaves out River's reports of its own well-being.
type quiet struct{ slog.Handler }

// Enabled lets warnings and errors through.
func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}

// WithAttrs keeps the handler quiet.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup keeps the handler quiet.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
