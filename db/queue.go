package db

import (
	"context"
	"database/sql"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// MaxAttempts is how often a job may be fetched. It is far more than the
// failures that a job is allowed, because a fetch by a process that is then
// killed counts as an attempt too.
const MaxAttempts = 25

// The clients that only insert send no notices themselves: River would do it
// inside the transaction, which halves the rate of commits, and leaves out
// those that follow another within its cooldown, whose job then waits for a
// poll. The bus sends them after the commit instead.
type (
	quietSQL struct{ *riverdatabasesql.Driver }
	quietPgx struct{ *riverpgxv5.Driver }
)

// SupportsListenNotify tells River to send no notices.
func (quietSQL) SupportsListenNotify() bool { return false }

// SupportsListenNotify tells River to send no notices.
func (quietPgx) SupportsListenNotify() bool { return false }

// SupportsListener tells River that it cannot listen either.
func (quietPgx) SupportsListener() bool { return false }

func (d *DB) openQueues(sqldb *sql.DB) (err error) {
	cfg := &river.Config{Schema: JobsSchema, Logger: d.log, MaxAttempts: MaxAttempts}
	if d.queue, err = river.NewClient(quietSQL{riverdatabasesql.New(sqldb)}, cfg); err != nil {
		return err
	}
	d.pgxQueue, err = river.NewClient(quietPgx{riverpgxv5.New(d.jobs)}, cfg)
	return err
}

// EnqueueMany adds jobs in a transaction of the jobs' pool; JobNotice tells
// the workers when it has committed.
func (d *DB) EnqueueMany(ctx context.Context, tx pgx.Tx, jobs []river.InsertManyParams) error {
	if len(jobs) == 0 {
		return nil
	}
	_, err := d.pgxQueue.InsertManyFastTx(ctx, tx, jobs)
	return mapped(err)
}

// JobNotice is the payload by which River's workers learn, on JobChannel, that
// a queue has new jobs.
func JobNotice(queue string) string { return `{"queue": ` + strconv.Quote(queue) + `}` }

// NotifyQueues tells the workers that these queues have new jobs.
func (d *DB) NotifyQueues(ctx context.Context, queues ...string) {
	for _, queue := range queues {
		d.bus.queue(ctx, notice{JobChannel, JobNotice(queue)})
	}
}

// Sequencing says whether this process numbers the events, so that its own
// commits need not tell another one.
func (d *DB) Sequencing(on bool) { d.sequencing.Store(on) }
