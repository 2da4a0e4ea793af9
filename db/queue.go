package db

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
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

// DeadLetters are the jobs that failed too often, the newest first.
func (d *DB) DeadLetters(ctx context.Context, limit int) ([]*rivertype.JobRow, error) {
	res, err := d.pgxQueue.JobList(ctx, river.NewJobListParams().States(rivertype.JobStateDiscarded).
		OrderBy(river.JobListOrderByFinalizedAt, river.SortOrderDesc).First(limit))
	if err != nil {
		return nil, mapped(err)
	}
	return res.Jobs, nil
}

// Replay gives a dead letter another try. ErrNotFound when there is no job
// with this id.
func (d *DB) Replay(ctx context.Context, jobID int64) error {
	job, err := d.pgxQueue.JobRetry(ctx, jobID)
	if errors.Is(err, rivertype.ErrNotFound) {
		return ErrNotFound
	}
	if err != nil {
		return mapped(err)
	}
	d.NotifyQueues(ctx, job.Queue)
	return nil
}

// ForgetJob deletes a job that is not running.
func (d *DB) ForgetJob(ctx context.Context, jobID int64) error {
	_, err := d.pgxQueue.JobDelete(ctx, jobID)
	if errors.Is(err, rivertype.ErrNotFound) {
		return ErrNotFound
	}
	return mapped(err)
}
