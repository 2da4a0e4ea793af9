package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
)

// A scope that nobody touched for long sleeps: its tables are exported into a
// parcel in cell.asleep and its schema is dropped, in one transaction. The next
// touch brings it back before it goes on.
const (
	// SleepAfter is how long a scope is untouched before it sleeps, where
	// the operator set nothing else.
	SleepAfter = 60 * 24 * time.Hour
	// restless is how long a scope stays awake that was woken by what does
	// not count as a touch.
	restless = time.Hour
	// partSize is the size of the parts of a parcel in cell.asleep.
	partSize = 8 << 20
)

// ErrAsleep says that a scope sleeps and was not woken: strangers have woken
// many just now. Try again after a while.
var ErrAsleep = errors.New("asleep, and too many were woken just now")

// Sleep puts a scope to sleep, whenever it was touched. Nothing happens when
// it sleeps already or has no tables. ErrNotFound when there is no such scope.
func (d *DB) Sleep(ctx context.Context, s Scope) error {
	_, err := d.sleepIf(ctx, s, func(*scopeRow) bool { return true })
	return err
}

// SleepIdle puts a scope to sleep if it was not touched after before, and says
// whether it did.
func (d *DB) SleepIdle(ctx context.Context, s Scope, before time.Time) (bool, error) {
	now := time.Now()
	slept, err := d.sleepIf(ctx, s, func(row *scopeRow) bool { return row.idle(before, now) })
	if sqlState(err) == lockTimeout {
		return false, nil // somebody reads it just now
	}
	return slept, err
}

// idle says whether a scope may sleep.
func (r *scopeRow) idle(before, now time.Time) bool {
	if r.SleepAt != nil {
		return r.SleepAt.Before(now)
	}
	return r.TouchedAt.Before(before)
}

func (d *DB) sleepIf(ctx context.Context, s Scope, may func(*scopeRow) bool) (slept bool, err error) {
	err = d.run(ctx, d.bun, func(ctx context.Context, t *tx) error {
		slept = false
		row, err := holdScope(ctx, t, s)
		if err != nil || row.State != stateLive || len(row.Domains) == 0 || !may(row) {
			return err
		}
		slept = true
		return d.sleepLocked(ctx, t, s, row)
	})
	return slept && err == nil, err
}

// sleepLocked puts the scope to sleep, whose row is locked.
func (d *DB) sleepLocked(ctx context.Context, t *tx, s Scope, row *scopeRow) error {
	if err := lockTables(ctx, t, s); err != nil {
		return err
	}
	if err := d.failPoint("sleep.locked"); err != nil {
		return err
	}
	out := new(spool)
	defer out.close()
	if err := exportTo(ctx, t, s, row, out); err != nil {
		return fmt.Errorf("export %s: %w", s, err)
	}
	if err := d.failPoint("sleep.exported"); err != nil {
		return err
	}
	r, err := out.reader()
	if err != nil {
		return err
	}
	if err := writeAsleep(ctx, t, s, r); err != nil {
		return err
	}
	if err := d.failPoint("sleep.written"); err != nil {
		return err
	}
	if err := dropSchema(ctx, t, s); err != nil {
		return err
	}
	if err := d.failPoint("sleep.dropped"); err != nil {
		return err
	}
	_, err = t.bun.NewRaw("UPDATE cell.scopes SET state = ?, sleep_at = NULL WHERE scope = ?", stateAsleep, s.String()).Exec(ctx)
	t.AfterCommit(func() { d.registry.drop(s) })
	return err
}

// lockWait is how long Postgres waits for a lock on a scope's tables. It is less
// than the server's deadlock_timeout of a second: of a reader and who takes all
// tables in another order, the latter gives way and tries again.
const lockWait = "SET LOCAL lock_timeout = '300ms'"

// lockTables keeps everybody from the scope's tables, also those who read them
// without a transaction. It gives up where one of them does not end soon.
func lockTables(ctx context.Context, t *tx, s Scope) error {
	return t.raw(func(conn *pgx.Conn) error {
		tables, err := tablesOf(ctx, conn, s.String())
		if err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, lockWait); err != nil {
			return err
		}
		for _, table := range tables {
			if _, err := conn.Exec(ctx, "LOCK TABLE "+ident(s.String(), table.Name)+" IN ACCESS EXCLUSIVE MODE"); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeAsleep(ctx context.Context, t *tx, s Scope, r io.Reader) error {
	return t.raw(func(conn *pgx.Conn) error {
		buf := make([]byte, partSize)
		for part := 0; ; part++ {
			n, err := io.ReadFull(r, buf)
			if n == 0 {
				return nil
			}
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				return err
			}
			_, err = conn.Exec(ctx, "INSERT INTO cell.asleep (scope, part, data) VALUES ($1, $2, $3)", s.String(), part, buf[:n])
			if err != nil {
				return fmt.Errorf("keep %s: %w", s, err)
			}
		}
	})
}

// Wake brings a sleeping scope back, which counts as a touch.
func (d *DB) Wake(ctx context.Context, s Scope) error {
	return d.rouse(ctx, s, touched)
}

// wakeScope brings a sleeping scope back before a read goes on.
func (d *DB) wakeScope(ctx context.Context, s Scope) error {
	how := unnoticed
	switch reader(ctx) {
	case person:
		how = touched
	case stranger:
		if !d.strangers.Allow() {
			return fmt.Errorf("scope %s: %w", s, ErrAsleep)
		}
	}
	return d.rouse(ctx, s, how)
}

func (d *DB) rouse(ctx context.Context, s Scope, how touch) error {
	return d.run(ctx, d.bun.WithNamedArg("scope", s.safe()), func(ctx context.Context, t *tx) error {
		row, err := holdScope(ctx, t, s)
		if err != nil || row.State != stateAsleep {
			return err
		}
		return d.wakeLocked(ctx, t, s, row, how)
	})
}

// wakeLocked brings the scope back inside a transaction that holds its row.
func (d *DB) wakeLocked(ctx context.Context, t *tx, s Scope, row *scopeRow, how touch) error {
	in := new(spool)
	defer in.close()
	if err := readAsleep(ctx, t, s, in); err != nil {
		return err
	}
	r, err := in.reader()
	if err != nil {
		return err
	}
	head, err := d.importFrom(ctx, t, s, r)
	if err != nil {
		return fmt.Errorf("wake %s: %w", s, err)
	}
	if err := d.failPoint("wake.imported"); err != nil {
		return err
	}
	row.State, row.Domains, row.SleepAt = stateLive, head.Domains, nil
	columns := []string{"state", "domains", "sleep_at"}
	if how == touched {
		row.TouchedAt = t.now
		columns = append(columns, "touched_at")
	} else {
		at := t.now.Add(restless)
		row.SleepAt = &at
	}
	if _, err := t.bun.NewUpdate().Model(row).Column(columns...).WherePK().Exec(ctx); err != nil {
		return err
	}
	if _, err := t.bun.NewRaw("DELETE FROM cell.asleep WHERE scope = ?", s.String()).Exec(ctx); err != nil {
		return err
	}
	t.AfterCommit(func() { d.registry.drop(s) })
	return d.failPoint("wake.done")
}

func (d *DB) failPoint(name string) error {
	if d.fail == nil {
		return nil
	}
	return d.fail(name)
}
