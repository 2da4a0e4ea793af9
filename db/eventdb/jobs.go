package eventdb

import (
	"context"
	"fmt"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/jackc/pgx/v5"
)

// Reclaim makes the jobs that were running on a node, which is starting anew,
// available again. It is the only statement that writes River's own table:
// River itself waits until a job must be lost, and counts the attempt.
func Reclaim(ctx context.Context, d *db.DB, nodeID string) error {
	_, err := d.JobsPool().Exec(ctx, `UPDATE `+db.JobsSchema+`.river_job
		SET state = 'available', scheduled_at = now(), attempt = greatest(attempt - 1, 0)
		WHERE state = 'running' AND attempted_by[array_upper(attempted_by, 1)] = $1`, nodeID)
	if err != nil {
		return fmt.Errorf("reclaim jobs: %w", db.Map(err))
	}
	return nil
}

// Lag is how far a subscriber is behind the log.
type Lag struct {
	Subscriber string
	// Waiting and Dead are numbers of jobs: each a batch of up to BatchSize
	// events, the dead ones a single event.
	Waiting, Dead int64
	// Age is how long the oldest waiting one has been waiting.
	Age time.Duration
}

// Lags returns the lag of each subscriber that is behind or has dead letters.
func Lags(ctx context.Context, d *db.DB, now time.Time) ([]Lag, error) {
	rows, err := d.JobsPool().Query(ctx, `SELECT args->>'subscriber',
			count(*) FILTER (WHERE state <> 'discarded'), count(*) FILTER (WHERE state = 'discarded'),
			coalesce(min(created_at) FILTER (WHERE state <> 'discarded'), $1)
		FROM `+db.JobsSchema+`.river_job
		WHERE kind = 'events.batch' AND state IN ('available', 'running', 'retryable', 'scheduled', 'discarded')
		GROUP BY 1 ORDER BY 1`, now)
	if err != nil {
		return nil, db.Map(err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Lag, error) {
		var l Lag
		var oldest time.Time
		err := row.Scan(&l.Subscriber, &l.Waiting, &l.Dead, &oldest)
		l.Age = max(0, now.Sub(oldest))
		return l, err
	})
	return list, db.Map(err)
}

// Unsequenced is how many committed events the sequencer has not placed yet.
func Unsequenced(ctx context.Context, d *db.DB) (n int64, err error) {
	err = d.JobsPool().QueryRow(ctx, "SELECT count(*) FROM events.incoming").Scan(&n)
	return n, db.Map(err)
}

// QueueCount is how many jobs a queue has.
type QueueCount struct {
	Queue string
	// Waiting are those that can start or will be tried again, Later those
	// that are scheduled, Dead those that failed too often.
	Waiting, Running, Later, Dead int64
}

// Queues returns the numbers of each queue that has jobs.
func Queues(ctx context.Context, d *db.DB) ([]QueueCount, error) {
	rows, err := d.JobsPool().Query(ctx, `SELECT queue, count(*) FILTER (WHERE state IN ('available', 'retryable')),
			count(*) FILTER (WHERE state = 'running'), count(*) FILTER (WHERE state = 'scheduled'), count(*) FILTER (WHERE state = 'discarded')
		FROM `+db.JobsSchema+`.river_job WHERE state NOT IN ('completed', 'cancelled') GROUP BY 1 ORDER BY 1`)
	if err != nil {
		return nil, db.Map(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[QueueCount])
	return list, db.Map(err)
}
