package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// Destroy leaves no state of a scope: its schema or what it is kept as while
// asleep, its alarm and whatever else the cell and the events hold of it. A
// mark stays in the register, so that nobody who is late makes it anew; see
// ForgetGone; at is its time. Doing it twice is fine.
func (d *DB) Destroy(ctx context.Context, s Scope, at time.Time) error {
	return d.run(ctx, d.bun, func(ctx context.Context, t *tx) error {
		_, err := t.bun.NewRaw(`INSERT INTO cell.scopes AS s (scope, state, touched_at) VALUES (?, 'gone', ?)
			ON CONFLICT (scope) DO UPDATE SET state = 'gone', domains = '{}', counts = '{}', sleep_at = NULL,
			touched_at = CASE WHEN s.state = 'gone' THEN s.touched_at ELSE EXCLUDED.touched_at END`, s.String(), at).Exec(ctx)
		if err != nil {
			return err
		}
		if err := d.failPoint("destroy.marked"); err != nil {
			return err
		}
		if err := dropSchema(ctx, t, s); err != nil {
			return err
		}
		if err := d.failPoint("destroy.dropped"); err != nil {
			return err
		}
		if err := t.forget(ctx, s); err != nil {
			return err
		}
		t.AfterCommit(func() { d.registry.drop(s) })
		return d.failPoint("destroy.forgotten")
	})
}

// forget deletes the rows about a scope from the tables of the cell and of the
// events, those that features add later too: they name it by scope, repo_id or
// account_id.
func (t *tx) forget(ctx context.Context, s Scope) error {
	var columns []struct {
		Table  string `bun:"tab"`
		Column string `bun:"col"`
	}
	err := t.bun.NewRaw(`SELECT n.nspname || '.' || c.relname AS tab, a.attname AS col FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
		WHERE n.nspname IN ('cell', 'events') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
		AND a.attname IN ('scope', ?) AND c.relname NOT IN (?) ORDER BY 1, 2`,
		string(s.kind)+"_id", bun.List(remembering)).Scan(ctx, &columns)
	if err != nil {
		return err
	}
	for _, c := range columns {
		var value any = s.id
		if c.Column == "scope" {
			value = s.String()
		}
		_, err := t.bun.NewRaw("DELETE FROM "+ident(strings.Split(c.Table, ".")...)+" WHERE "+ident(c.Column)+" = ?", value).Exec(ctx)
		if err != nil {
			return fmt.Errorf("forget %s in %s: %w", s, c.Table, err)
		}
	}
	return nil
}

// remembering are the tables that keep what they know of a scope: the register
// its mark, the audit log its entries.
var remembering = []string{"scopes", "audit"}

// ForgetGone deletes the marks of scopes that were destroyed before this time,
// and returns how many.
func (d *DB) ForgetGone(ctx context.Context, before time.Time) (int64, error) {
	res, err := d.bun.NewRaw("DELETE FROM cell.scopes WHERE state = 'gone' AND touched_at < ?", before).Exec(ctx)
	if err != nil {
		return 0, mapped(err)
	}
	return res.RowsAffected()
}

// FailPoint is asked at each named step of what must survive a crash there,
// also outside transactions; see Options.
func (d *DB) FailPoint(step string) error { return d.failPoint(step) }
