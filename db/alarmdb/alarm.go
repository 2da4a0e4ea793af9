// Package alarmdb holds the queries of the alarms' clock.
package alarmdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// Grace is when an alarm that rang rings again unless its job settles it: a
// lost job heals itself.
const Grace = 5 * time.Minute

// Due is an alarm that rang. Gen tells whether somebody armed it since.
type Due struct {
	Scope string
	Gen   int64
}

// Fire makes up to limit due alarms ring: it moves each on by Grace and
// inserts the job that plan makes of it, in one transaction. Two clocks never
// take the same alarm.
func Fire(ctx context.Context, d *db.DB, now time.Time, limit int, plan func(Due) river.InsertManyParams) (int, error) {
	var due []Due
	err := pgx.BeginFunc(ctx, d.JobsPool(), func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `WITH due AS (SELECT scope FROM cell.alarms WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
			UPDATE cell.alarms a SET due_at = $3 FROM due WHERE a.scope = due.scope RETURNING a.scope, a.gen`,
			now, limit, now.Add(Grace))
		if err != nil {
			return err
		}
		if due, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Due]); err != nil {
			return err
		}
		jobs := make([]river.InsertManyParams, len(due))
		for i, a := range due {
			jobs[i] = plan(a)
		}
		return d.EnqueueMany(ctx, tx, jobs)
	})
	if err != nil {
		return 0, fmt.Errorf("fire alarms: %w", db.Map(err))
	}
	return len(due), nil
}

// Next is when the next alarm is due; false when there is none.
func Next(ctx context.Context, d *db.DB) (time.Time, bool, error) {
	var at *time.Time
	if err := d.JobsPool().QueryRow(ctx, "SELECT min(due_at) FROM cell.alarms").Scan(&at); err != nil {
		return time.Time{}, false, db.Map(err)
	}
	if at == nil {
		return time.Time{}, false, nil
	}
	return *at, true, nil
}

// Settle ends the ringing of an alarm: it is set to next, or removed where
// next is zero. Where somebody armed it since gen it may only get earlier:
// what they armed it for may not have been seen.
func Settle(ctx context.Context, d *db.DB, a Due, next time.Time) error {
	pool := d.JobsPool()
	var err error
	if next.IsZero() {
		_, err = pool.Exec(ctx, "DELETE FROM cell.alarms WHERE scope = $1 AND gen = $2", a.Scope, a.Gen)
	} else {
		_, err = pool.Exec(ctx, `UPDATE cell.alarms SET due_at = CASE WHEN gen = $2 THEN $3 ELSE least(due_at, $3) END WHERE scope = $1`,
			a.Scope, a.Gen, next)
	}
	if err != nil {
		return fmt.Errorf("settle alarm of %s: %w", a.Scope, db.Map(err))
	}
	return nil
}

// Of returns when the alarm of a scope rings; false when it is not armed.
func Of(ctx context.Context, d *db.DB, scope string) (time.Time, bool, error) {
	var at time.Time
	err := d.JobsPool().QueryRow(ctx, "SELECT due_at FROM cell.alarms WHERE scope = $1", scope).Scan(&at)
	if errors.Is(err, pgx.ErrNoRows) {
		return at, false, nil
	}
	return at, err == nil, db.Map(err)
}
