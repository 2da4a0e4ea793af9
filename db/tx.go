package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/uptrace/bun"
)

// Tx is what a transaction of any store can do beside writing its store.
type Tx interface {
	// Publish adds events to the log; they appear when the transaction
	// commits, and never if it does not.
	Publish(ctx context.Context, events ...Event) error
	// Enqueue adds a River job that starts after the commit.
	Enqueue(ctx context.Context, args river.JobArgs, opts *river.InsertOpts) error
	// EnqueueMany adds many jobs in one statement.
	EnqueueMany(ctx context.Context, jobs []river.InsertManyParams) error
	// Handled notes that subscriber handled the event and says whether this
	// is the first time: what is written beside it is then written once.
	Handled(ctx context.Context, subscriber, eventID string) (first bool, err error)
	// Audit adds rows to the audit log; they are kept when the transaction
	// commits.
	Audit(entries ...AuditEntry)
	// AfterCommit runs fn in this process once the transaction committed;
	// only for hints that may be lost, such as dropping a cache entry.
	AfterCommit(fn func())
	// Now is the transaction's time, the same for all that it writes.
	Now() time.Time
}

type tx struct {
	d      *DB
	conn   bun.Conn
	bun    bun.Tx
	now    time.Time
	after  []func()
	events []Event
	audit  []AuditEntry
	wakes  bool
	queues []string
}

// Cell is the cell's own tables in this transaction.
func (t *tx) Cell() Cell { return Cell{t.bun} }

func (t *tx) Now() time.Time { return t.now }

func (t *tx) AfterCommit(fn func()) { t.after = append(t.after, fn) }

func (t *tx) Enqueue(ctx context.Context, args river.JobArgs, opts *river.InsertOpts) error {
	res, err := t.d.queue.InsertTx(ctx, t.bun.Tx, args, opts)
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", args.Kind(), mapped(err))
	}
	if res.Job.State == rivertype.JobStateAvailable {
		t.queues = append(t.queues, res.Job.Queue)
	}
	return nil
}

func (t *tx) EnqueueMany(ctx context.Context, jobs []river.InsertManyParams) error {
	if len(jobs) == 0 {
		return nil
	}
	res, err := t.d.queue.InsertManyTx(ctx, t.bun.Tx, jobs)
	if err != nil {
		return fmt.Errorf("enqueue %d jobs: %w", len(jobs), mapped(err))
	}
	for _, r := range res {
		if r.Job.State == rivertype.JobStateAvailable && !slices.Contains(t.queues, r.Job.Queue) {
			t.queues = append(t.queues, r.Job.Queue)
		}
	}
	return nil
}

func (t *tx) Handled(ctx context.Context, subscriber, eventID string) (bool, error) {
	res, err := t.bun.NewRaw("INSERT INTO events.handled (subscriber, event_id, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
		subscriber, eventID, t.now).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("note event as handled: %w", mapped(err))
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

func (t *tx) Publish(_ context.Context, events ...Event) error {
	for i := range events {
		if err := events[i].fill(t.now); err != nil {
			return err
		}
	}
	t.events = append(t.events, events...)
	t.wakes = t.wakes || len(events) > 0
	return nil
}

// writeEvents writes what was published, at the transaction's end.
func (t *tx) writeEvents(ctx context.Context) error {
	if len(t.events) == 0 {
		return nil
	}
	if _, err := t.bun.NewInsert().Model(&t.events).ExcludeColumn("id").Returning("NULL").Exec(ctx); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

// DirectoryTx is a transaction of the directory.
type DirectoryTx struct {
	Directory
	*tx
}

// CellTx is a transaction of the cell's own tables.
type CellTx struct {
	Cell
	*tx
}

// InDirectory runs fn in a transaction of the directory. fn may run twice.
func (d *DB) InDirectory(ctx context.Context, fn func(ctx context.Context, tx DirectoryTx) error) error {
	return d.run(ctx, d.bun, func(ctx context.Context, t *tx) error {
		return fn(ctx, DirectoryTx{Directory{t.bun}, t})
	})
}

// InCell runs fn in a transaction of the cell. fn may run twice.
func (d *DB) InCell(ctx context.Context, fn func(ctx context.Context, tx CellTx) error) error {
	return d.run(ctx, d.bun, func(ctx context.Context, t *tx) error {
		return fn(ctx, CellTx{Cell{t.bun}, t})
	})
}

// tries bounds how often a transaction that lost a race runs.
const tries = 4

func (d *DB) run(ctx context.Context, base *bun.DB, fn func(ctx context.Context, t *tx) error) error {
	var err error
	for try := range tries {
		var t *tx
		if t, err = d.once(ctx, base, fn); err == nil {
			d.committed(ctx, t)
			for _, after := range t.after {
				after()
			}
			return nil
		}
		if !again(err) || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(try*try) * 5 * time.Millisecond):
		}
	}
	return mapped(err)
}

// committed wakes whoever waits for what t published or enqueued. Notices
// from inside the transaction would halve the rate of commits.
func (d *DB) committed(ctx context.Context, t *tx) {
	if t.wakes {
		select {
		case d.wake <- struct{}{}:
		default:
		}
		if !d.sequencing.Load() {
			d.bus.Notify(ctx, PublishedChannel, "")
		}
	}
	for _, queue := range t.queues {
		d.bus.queue(ctx, notice{JobChannel, JobNotice(queue)})
	}
}

func (d *DB) once(ctx context.Context, base *bun.DB, fn func(ctx context.Context, t *tx) error) (*tx, error) {
	conn, err := base.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close() //nolint:errcheck // it only goes back to the pool
	btx, err := conn.BeginTx(ctx, &sql.TxOptions{})
	if err != nil {
		return nil, err
	}
	// Times have the database's precision, so that what was written and
	// what is read back compare equal.
	t := &tx{d: d, conn: conn, bun: btx, now: time.Now().UTC().Truncate(time.Microsecond)}
	done := false
	defer func() {
		if !done {
			_ = btx.Rollback()
		}
	}()
	if err := fn(ctx, t); err != nil {
		return t, err
	}
	if err := t.writeEvents(ctx); err != nil {
		return t, err
	}
	if err := t.writeAudit(ctx); err != nil {
		return t, err
	}
	done = true
	return t, btx.Commit()
}

// Event is one change as it is published: a row of events.incoming. Features
// build it with app/events.
type Event struct {
	bun.BaseModel `bun:"table:events.incoming,alias:e"`

	ID        int64           `bun:"id,pk,autoincrement"`
	EventID   string          `bun:"event_id"`
	Type      string          `bun:"type"`
	Source    string          `bun:"source"`
	Time      time.Time       `bun:"time"`
	RepoID    int64           `bun:"repo_id,nullzero"`
	AccountID int64           `bun:"account_id,nullzero"`
	ActorID   int64           `bun:"actor_id,nullzero"`
	Data      json.RawMessage `bun:"data,type:jsonb"`
}
