package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/gitfor/gitfor/db/parcel"
	"github.com/jackc/pgx/v5"
)

// ExportHeader is the header of a scope's export: its row in the register.
type ExportHeader struct {
	// Format is the version of this header.
	Format     int            `json:"format"`
	Scope      string         `json:"scope"`
	Domains    map[string]int `json:"domains"`
	NextID     int64          `json:"next_id"`
	NextNumber int64          `json:"next_number"`
	Counts     Counts         `json:"counts"`
	TouchedAt  time.Time      `json:"touched_at"`
}

const exportFormat = 1

// Export writes one scope as a parcel: what Import takes, and what a sleeping
// scope is kept as. locked, which may be nil, runs while nobody can write the
// scope. It returns the scope's state, "live" or "asleep". ErrNotFound when the
// scope was never written.
func (d *DB) Export(ctx context.Context, s Scope, w io.Writer, locked func(ctx context.Context) error) (state string, err error) {
	var out *spool
	defer func() {
		if out != nil {
			out.close()
		}
	}()
	err = d.run(ctx, d.bun, func(ctx context.Context, t *tx) error {
		if out != nil {
			out.close()
		}
		out = new(spool)
		row, err := holdScope(ctx, t, s)
		if err != nil {
			return err
		}
		if state = row.State; state == stateAsleep {
			err = readAsleep(ctx, t, s, out)
		} else {
			err = exportTo(ctx, t, s, row, out)
		}
		if err != nil || locked == nil {
			return err
		}
		return locked(ctx)
	})
	if err != nil {
		return "", err
	}
	r, err := out.reader()
	if err != nil {
		return "", err
	}
	_, err = io.Copy(w, r)
	return state, err
}

// holdScope locks the scope's row without touching the scope. ErrNotFound
// when there is none, or the scope is gone.
func holdScope(ctx context.Context, t *tx, s Scope) (*scopeRow, error) {
	row := new(scopeRow)
	if err := t.bun.NewSelect().Model(row).Where("scope = ?", s.String()).For("UPDATE").Scan(ctx); err != nil {
		return nil, mapped(err)
	}
	if row.State == stateGone {
		return nil, fmt.Errorf("scope %s was deleted: %w", s, ErrNotFound)
	}
	return row, nil
}

// exportTo writes the scope, whose row is locked, as a parcel.
func exportTo(ctx context.Context, t *tx, s Scope, row *scopeRow, out io.Writer) error {
	w, err := parcel.NewWriter(out, ExportHeader{Format: exportFormat, Scope: s.String(), Domains: row.Domains,
		NextID: row.NextID, NextNumber: row.NextNumber, Counts: row.Counts, TouchedAt: row.TouchedAt})
	if err != nil {
		return err
	}
	err = t.raw(func(conn *pgx.Conn) error {
		tables, err := tablesOf(ctx, conn, s.String())
		if err != nil {
			return err
		}
		for _, table := range tables {
			if err := copyOut(ctx, conn, w, table, []string{s.String(), table.Name}, ""); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.Close()
}

// readAsleep writes what a sleeping scope is kept as.
func readAsleep(ctx context.Context, t *tx, s Scope, out io.Writer) error {
	return t.raw(func(conn *pgx.Conn) error {
		for part := 0; ; part++ {
			var data []byte
			err := conn.QueryRow(ctx, "SELECT data FROM cell.asleep WHERE scope = $1 AND part = $2", s.String(), part).Scan(&data)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			if _, err := out.Write(data); err != nil {
				return err
			}
		}
	})
}

// importFrom makes the scope's schema, which does not exist, as the parcel
// has it: at the versions with which it was exported. Newer files follow at
// the next write, as for every other scope.
func (d *DB) importFrom(ctx context.Context, t *tx, s Scope, in io.Reader) (*ExportHeader, error) {
	head := new(ExportHeader)
	r, err := parcel.NewReader(in, head)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if head.Format != exportFormat {
		return nil, fmt.Errorf("export of format %d: use a newer gitfor", head.Format)
	}
	if len(head.Domains) > 0 {
		if _, err := t.bun.ExecContext(ctx, "CREATE SCHEMA "+s.String()); err != nil {
			return nil, err
		}
	}
	for _, domain := range slices.Sorted(maps.Keys(head.Domains)) {
		version := head.Domains[domain]
		files, err := d.files.Files(s.kind, domain)
		if err != nil {
			return nil, err
		}
		if version > len(files) {
			return nil, fmt.Errorf("%s was exported at version %d and this gitfor knows %d: use a newer gitfor", domain, version, len(files))
		}
		if err := applyFiles(ctx, t.bun, s.String(), files[:version]); err != nil {
			return nil, err
		}
	}
	if err := t.raw(func(conn *pgx.Conn) error {
		if err := emptyScope(ctx, conn, s); err != nil {
			return err
		}
		return copyIn(ctx, conn, r, func(table string) []string { return []string{s.String(), table} })
	}); err != nil {
		return nil, err
	}
	return head, nil
}

// emptyScope deletes what the schema files themselves put into the tables.
func emptyScope(ctx context.Context, conn *pgx.Conn, s Scope) error {
	tables, err := tablesOf(ctx, conn, s.String())
	if err != nil {
		return err
	}
	for _, t := range slices.Backward(tables) {
		if _, err := conn.Exec(ctx, "DELETE FROM "+ident(s.String(), t.Name)); err != nil {
			return err
		}
	}
	return nil
}

// Import makes a scope what its export says, under any id. Where the scope
// has state already it is replaced if replace is set, and ErrConflict if not.
func (d *DB) Import(ctx context.Context, s Scope, r io.Reader, replace bool) error {
	in := new(spool)
	defer in.close()
	if _, err := io.Copy(in, r); err != nil {
		return err
	}
	return d.run(ctx, d.bun.WithNamedArg("scope", s.safe()), func(ctx context.Context, t *tx) error {
		if err := d.clearScope(ctx, t, s, replace); err != nil {
			return err
		}
		reader, err := in.reader()
		if err != nil {
			return err
		}
		head, err := d.importFrom(ctx, t, s, reader)
		if err != nil {
			return err
		}
		return t.putRow(ctx, s, head, stateLive)
	})
}

// putRow writes the register's row of an imported scope.
func (t *tx) putRow(ctx context.Context, s Scope, head *ExportHeader, state string) error {
	row := &scopeRow{Scope: s.String(), State: state, Domains: head.Domains, NextID: head.NextID,
		NextNumber: head.NextNumber, Counts: head.Counts, TouchedAt: head.TouchedAt}
	if row.Domains == nil {
		row.Domains = map[string]int{}
	}
	if row.Counts == nil {
		row.Counts = Counts{}
	}
	_, err := t.bun.NewInsert().Model(row).Exec(ctx)
	t.AfterCommit(func() { t.d.registry.drop(s) })
	return err
}

// clearScope leaves no trace of the scope, in a transaction that has its row.
func (d *DB) clearScope(ctx context.Context, t *tx, s Scope, replace bool) error {
	row, err := holdScope(ctx, t, s)
	if errors.Is(err, ErrNotFound) && row == nil {
		_, err = t.bun.NewRaw("DELETE FROM cell.scopes WHERE scope = ?", s.String()).Exec(ctx)
		return err
	}
	if err != nil {
		return err
	}
	if len(row.Domains) > 0 && !replace {
		return &Error{ErrConflict, fmt.Errorf("scope %s has state", s)}
	}
	if err := dropSchema(ctx, t, s); err != nil {
		return err
	}
	for _, table := range []string{"cell.asleep", "cell.scopes"} {
		if _, err := t.bun.NewRaw("DELETE FROM "+table+" WHERE scope = ?", s.String()).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// dropSchema waits only briefly for readers: those who come later would wait
// behind it.
func dropSchema(ctx context.Context, t *tx, s Scope) error {
	_, err := t.bun.ExecContext(ctx, lockWait+"; DROP SCHEMA IF EXISTS "+s.String()+" CASCADE")
	return err
}
