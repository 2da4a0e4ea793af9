package db

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// States of a scope in the register.
const (
	stateLive   = "live"
	stateAsleep = "asleep"
	stateGone   = "gone"
)

// idBlock is how many ids a transaction takes from its scope at once; the
// unused ones stay gaps.
const idBlock = 16

// scopeTx is a transaction of one scope. The scope's register row is locked
// from its first statement to its end, which orders the scope's events and
// keeps creation, migration and sleep of its domains apart from writes.
type scopeTx struct {
	*tx
	in      scoped
	nextID  int64
	lastID  int64
	counted bool
}

// RepoTx is a transaction of one repository's state.
type RepoTx struct {
	Repo
	*scopeTx
}

// AccountTx is a transaction of one account's state.
type AccountTx struct {
	Account
	*scopeTx
}

// InRepo runs fn in a transaction of a repository's state. fn may run twice,
// so it calls no git and no network.
func (d *DB) InRepo(ctx context.Context, id int64, fn func(ctx context.Context, tx *RepoTx) error) error {
	return d.inScope(ctx, RepoScope(id), func(ctx context.Context, t *scopeTx) error {
		return fn(ctx, &RepoTx{Repo{t.in}, t})
	})
}

// InAccount runs fn in a transaction of an account's state. fn may run twice.
func (d *DB) InAccount(ctx context.Context, id int64, fn func(ctx context.Context, tx *AccountTx) error) error {
	return d.inScope(ctx, AccountScope(id), func(ctx context.Context, t *scopeTx) error {
		return fn(ctx, &AccountTx{Account{t.in}, t})
	})
}

func (d *DB) inScope(ctx context.Context, s Scope, fn func(ctx context.Context, t *scopeTx) error) error {
	if s.id <= 0 {
		return fmt.Errorf("scope %s: %w", s, ErrNotFound)
	}
	base := d.bun.WithNamedArg("scope", s.safe())
	err := d.run(ctx, base, func(ctx context.Context, t *tx) error {
		row, err := d.lockScope(ctx, t, s)
		if err != nil {
			return err
		}
		st := &scopeTx{
			tx: t, in: scoped{d: d, scope: s, q: t.bun, row: row},
			nextID: row.NextID - idBlock, lastID: row.NextID,
		}
		if err := fn(ctx, st); err != nil {
			return err
		}
		return st.flush(ctx)
	})
	if missing(err) {
		d.registry.drop(s)
	}
	return err
}

// lockScope takes the scope's row, making it where it is not there, and a
// block of ids with it.
func (d *DB) lockScope(ctx context.Context, t *tx, s Scope) (*scopeRow, error) {
	row := &scopeRow{Scope: s.String(), State: stateLive, Domains: map[string]int{},
		NextID: 1 + idBlock, NextNumber: 1, Counts: Counts{}, TouchedAt: t.now}
	_, err := t.bun.NewInsert().Model(row).
		On("CONFLICT (scope) DO UPDATE").
		Set("next_id = s.next_id + ?", idBlock).
		Set("touched_at = EXCLUDED.touched_at").
		Set("sleep_at = NULL").
		Returning("scope, state, domains, next_id, next_number, counts").Exec(ctx)
	if err != nil {
		return nil, err
	}
	switch row.State {
	case stateGone:
		return nil, fmt.Errorf("scope %s was deleted: %w", s, ErrNotFound)
	case stateAsleep:
		if err := d.wakeLocked(ctx, t, s, row, touched); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// NextID gives a new id of the scope, unique in it and growing with each
// transaction; 0 never.
func (t *scopeTx) NextID(ctx context.Context) (int64, error) {
	if t.nextID >= t.lastID {
		var next int64
		err := t.bun.NewRaw("UPDATE cell.scopes SET next_id = next_id + ? WHERE scope = ? RETURNING next_id",
			idBlock*8, t.in.scope.String()).Scan(ctx, &next)
		if err != nil {
			return 0, err
		}
		t.nextID, t.lastID = next-idBlock*8, next
	}
	t.nextID++
	return t.nextID - 1, nil
}

// NextNumber gives the next number of the scope's issues and pull requests:
// without gaps, and never one that was given before.
func (t *scopeTx) NextNumber() int64 {
	t.in.row.NextNumber++
	t.counted = true
	return t.in.row.NextNumber - 1
}

// Count adds n to the scope's counter of this name.
func (t *scopeTx) Count(name string, n int64) {
	if n == 0 {
		return
	}
	if t.in.row.Counts == nil {
		t.in.row.Counts = Counts{}
	}
	t.in.row.Counts[name] += n
	t.counted = true
}

// SetCount sets the scope's counter of this name.
func (t *scopeTx) SetCount(name string, n int64) { t.Count(name, n-t.in.row.Counts[name]) }

// flush writes the number and counters back together with the published
// events, in one statement.
func (t *scopeTx) flush(ctx context.Context) error {
	if !t.counted {
		return nil
	}
	save := t.bun.NewUpdate().Model(t.in.row).Column("next_number", "counts").WherePK()
	if len(t.events) == 0 {
		_, err := save.Exec(ctx)
		return err
	}
	events := t.events
	t.events = nil
	_, err := t.bun.NewInsert().With("counted", save).Model(&events).ExcludeColumn("id").Returning("NULL").Exec(ctx)
	return err
}

// Write returns the tables of domain for writing, making or migrating them
// first where this scope does not have them at the newest version.
func (t *scopeTx) Write(ctx context.Context, domain string) (bun.IDB, error) {
	files, err := t.d.files.Files(t.in.scope.kind, domain)
	if err != nil {
		return nil, err
	}
	if t.in.row.Domains[domain] < len(files) {
		if err := t.ensure(ctx, domain, files); err != nil {
			return nil, fmt.Errorf("make %s of %s: %w", domain, t.in.scope, err)
		}
	}
	return t.in.q, nil
}

// ensure brings the scope's domain to the newest version. The register row is
// locked, so no other process does the same.
func (t *scopeTx) ensure(ctx context.Context, domain string, files []string) error {
	if len(t.in.row.Domains) == 0 {
		if err := t.claimSchema(ctx); err != nil {
			return err
		}
	}
	have := t.in.row.Domains[domain]
	if have < len(files) {
		if err := applyFiles(ctx, t.bun, t.in.scope.String(), files[have:]); err != nil {
			return err
		}
		t.in.row.Domains[domain] = len(files)
	}
	_, err := t.bun.NewUpdate().Model(t.in.row).Column("domains").WherePK().Exec(ctx)
	t.AfterCommit(func() { t.d.registry.drop(t.in.scope) })
	return err
}

// claimSchema gives the scope its schema: a spare one by rename where there
// is one, which is much cheaper than making its tables.
func (t *scopeTx) claimSchema(ctx context.Context) error {
	t.AfterCommit(func() {
		select {
		case t.d.spareTaken <- struct{}{}:
		default:
		}
	})
	var spare spareRow
	err := t.bun.NewRaw(`DELETE FROM cell.spares WHERE id = (
		SELECT id FROM cell.spares WHERE kind = ? ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING id, domains`, string(t.in.scope.kind)).Scan(ctx, &spare)
	if err == nil {
		t.in.row.Domains = spare.Domains
		_, err = t.bun.ExecContext(ctx, "ALTER SCHEMA "+spare.schema()+" RENAME TO "+t.in.scope.String())
		return err
	}
	if !errors.Is(mapped(err), ErrNotFound) {
		return err
	}
	t.in.row.Domains = map[string]int{}
	_, err = t.bun.ExecContext(ctx, "CREATE SCHEMA "+t.in.scope.String())
	return err
}

// applyFiles runs the files with ?scope replaced by the schema, in one round
// trip.
func applyFiles(ctx context.Context, q bun.Tx, schemaName string, files []string) error {
	sql := strings.ReplaceAll(strings.Join(files, "\n"), "?scope", schemaName)
	_, err := q.Tx.ExecContext(ctx, sql)
	return err
}

// Touched is when the scope was last written.
func (s scoped) Touched(ctx context.Context) (time.Time, error) {
	row := new(scopeRow)
	err := s.d.bun.NewSelect().Model(row).Column("touched_at").Where("scope = ?", s.scope.String()).Scan(ctx)
	return row.TouchedAt, mapped(err)
}
