package eventdb

import (
	"context"
	"fmt"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/jackc/pgx/v5"
)

// How long events and the audit log are kept.
const (
	KeepLog   = 90 * 24 * time.Hour
	KeepAudit = 400 * 24 * time.Hour
)

const week = 7 * 24 * time.Hour

// weekOf is the Monday with which the week of t begins, in UTC.
func weekOf(t time.Time) time.Time {
	day := t.UTC().Truncate(24 * time.Hour)
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}

func partition(start time.Time) string { return "log_" + start.Format("20060102") }

// Prepare makes the log's partitions for the week of now and the one after,
// and returns the time until which the log can be written.
func Prepare(ctx context.Context, conn *pgx.Conn, now time.Time) (until time.Time, err error) {
	start := weekOf(now)
	for range 2 {
		end := start.Add(week)
		_, err := conn.Exec(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS events.%s PARTITION OF events.log FOR VALUES FROM ('%s') TO ('%s')",
			partition(start), start.Format(time.RFC3339), end.Format(time.RFC3339)))
		if err != nil {
			return time.Time{}, fmt.Errorf("partition of the log: %w", db.Map(err))
		}
		start = end
	}
	return start, nil
}

// Purge drops the partitions of the log that hold nothing newer than KeepLog,
// and deletes what is older in the other tables. It returns how many
// partitions it dropped.
func Purge(ctx context.Context, d *db.DB, now time.Time) (dropped int, err error) {
	pool := d.JobsPool()
	rows, err := pool.Query(ctx, `SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = 'events.log'::regclass ORDER BY 1`)
	if err != nil {
		return 0, db.Map(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, db.Map(err)
	}
	for _, name := range names {
		start, err := time.Parse("log_20060102", name)
		if err != nil || start.Add(week).After(now.Add(-KeepLog)) {
			continue
		}
		if err := dropPartition(ctx, d, name); err != nil {
			return dropped, fmt.Errorf("drop partition %s: %w", name, err)
		}
		dropped++
	}
	if err := forget(ctx, d, "events.handled", now.Add(-KeepLog)); err != nil {
		return dropped, err
	}
	return dropped, forget(ctx, d, "events.audit", now.Add(-KeepAudit))
}

// forget deletes the rows of table that are older than before, some thousands
// at a time.
func forget(ctx context.Context, d *db.DB, table string, before time.Time) error {
	const some = 5000
	sql := fmt.Sprintf("DELETE FROM %[1]s WHERE ctid IN (SELECT ctid FROM %[1]s WHERE at < $1 LIMIT %[2]d)", table, some)
	for {
		tag, err := d.JobsPool().Exec(ctx, sql, before)
		if err != nil {
			return db.Map(err)
		}
		if tag.RowsAffected() < some {
			return nil
		}
	}
}

// dropPartition waits only briefly for readers, who would otherwise queue
// behind it.
func dropPartition(ctx context.Context, d *db.DB, name string) error {
	return pgx.BeginFunc(ctx, d.JobsPool(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '2s'"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "DROP TABLE events."+pgx.Identifier{name}.Sanitize())
		return err
	})
}
