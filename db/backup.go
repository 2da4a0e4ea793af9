package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gitfor/gitfor/db/parcel"
	"github.com/gitfor/gitfor/db/schema"
	"github.com/jackc/pgx/v5"
)

// storesHeader is the header of the parcel of the global stores.
type storesHeader struct {
	Format int            `json:"format"`
	At     time.Time      `json:"at"`
	Stores map[string]int `json:"stores"`
	// Partitions are the tables' parts: name and bounds.
	Partitions []partitionOf `json:"partitions"`
}

type partitionOf struct {
	Table  string `json:"table"`
	Name   string `json:"name"`
	Bounds string `json:"bounds"`
}

// apart are the tables that are no part of the global stores' export: scopes
// are exported one by one, and spares are made again.
func apart(name string) bool {
	switch name {
	case "cell.scopes", "cell.asleep", "cell.spares", "cell.stores":
		return true
	}
	return false
}

// jobsTable is River's table of jobs, of which only those that are not done
// are exported.
const (
	jobsTable   = JobsSchema + ".river_job"
	jobsPending = "WHERE state NOT IN ('completed', 'cancelled')"
)

// ExportStores writes the directory, the events, the cell's own tables and the
// jobs that are not done as one parcel, as they are at one moment.
func (d *DB) ExportStores(ctx context.Context, out io.Writer) error {
	return mapped(pgx.BeginTxFunc(ctx, d.jobs, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		conn := tx.Conn()
		head := storesHeader{Format: exportFormat, At: time.Now().UTC(), Stores: map[string]int{}}
		for _, store := range schema.Stores {
			var version int
			if err := conn.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM cell.stores WHERE name = $1", store).Scan(&version); err != nil {
				return err
			}
			head.Stores[store] = version
		}
		rows, err := conn.Query(ctx, `SELECT pn.nspname || '.' || p.relname, n.nspname || '.' || c.relname, pg_get_expr(c.relpartbound, c.oid)
			FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace
			JOIN pg_class p ON p.oid = i.inhparent JOIN pg_namespace pn ON pn.oid = p.relnamespace
			WHERE c.relispartition AND c.relkind = 'r' AND pn.nspname = ANY($1)`, schema.Stores)
		if err != nil {
			return err
		}
		head.Partitions, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (p partitionOf, err error) {
			err = row.Scan(&p.Table, &p.Name, &p.Bounds)
			return p, err
		})
		if err != nil {
			return err
		}
		return exportStores(ctx, conn, head, out)
	}))
}

func exportStores(ctx context.Context, conn *pgx.Conn, head storesHeader, out io.Writer) error {
	w, err := parcel.NewWriter(out, head)
	if err != nil {
		return err
	}
	for _, store := range append(slices.Clone(schema.Stores), JobsSchema) {
		tables, err := tablesOf(ctx, conn, store)
		if err != nil {
			return err
		}
		for _, t := range tables {
			name, where := store+"."+t.Name, ""
			if apart(name) || store == JobsSchema && name != jobsTable {
				continue
			}
			if name == jobsTable {
				where = jobsPending
			}
			t.Name = name
			if err := copyOut(ctx, conn, w, t, strings.Split(name, "."), where); err != nil {
				return err
			}
		}
	}
	return w.Close()
}

// Empty says whether the database holds nothing of gitfor's.
func (d *DB) Empty(ctx context.Context) (bool, error) {
	var used bool
	err := d.jobs.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname IN ('cell', 'directory', 'events', $1))", JobsSchema).Scan(&used)
	return !used, mapped(err)
}

// ImportStores fills an empty database with what ExportStores wrote, at the
// versions of then; Migrate brings it to the newest ones.
func (d *DB) ImportStores(ctx context.Context, in io.Reader) error {
	head := new(storesHeader)
	r, err := parcel.NewReader(in, head)
	if err != nil {
		return err
	}
	defer r.Close()
	if head.Format != exportFormat {
		return fmt.Errorf("export of format %d: use a newer gitfor", head.Format)
	}
	if err := d.migrate(ctx, head.Stores); err != nil {
		return err
	}
	return mapped(pgx.BeginFunc(ctx, d.jobs, func(tx pgx.Tx) error {
		conn := tx.Conn()
		for _, p := range head.Partitions {
			_, err := conn.Exec(ctx, fmt.Sprintf("CREATE TABLE %s PARTITION OF %s %s",
				ident(strings.Split(p.Name, ".")...), ident(strings.Split(p.Table, ".")...), p.Bounds))
			if err != nil {
				return fmt.Errorf("partition %s: %w", p.Name, err)
			}
		}
		if err := emptyStores(ctx, conn); err != nil {
			return err
		}
		if err := copyIn(ctx, conn, r, func(name string) []string { return strings.Split(name, ".") }); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, "UPDATE "+jobsTable+" SET state = 'available' WHERE state = 'running'")
		return err
	}))
}

// emptyStores deletes what the schema files themselves put into the tables.
func emptyStores(ctx context.Context, conn *pgx.Conn) error {
	var names []string
	for _, store := range schema.Stores {
		tables, err := tablesOf(ctx, conn, store)
		if err != nil {
			return err
		}
		for _, t := range tables {
			if !apart(store + "." + t.Name) {
				names = append(names, ident(store, t.Name))
			}
		}
	}
	_, err := conn.Exec(ctx, "TRUNCATE "+strings.Join(names, ", ")+" CASCADE")
	return err
}

// Sequences are the last values of the global stores' sequences.
func (d *DB) Sequences(ctx context.Context) (map[string]int64, error) {
	rows, err := d.jobs.Query(ctx, `SELECT schemaname || '.' || sequencename, last_value FROM pg_sequences
		WHERE schemaname = ANY($1) AND last_value IS NOT NULL`, append(slices.Clone(schema.Stores), JobsSchema))
	if err != nil {
		return nil, mapped(err)
	}
	out := map[string]int64{}
	var name string
	var last int64
	_, err = pgx.ForEachRow(rows, []any{&name, &last}, func() error {
		out[name] = last
		return nil
	})
	return out, mapped(err)
}

// SetSequences makes sequences go on after these values.
func (d *DB) SetSequences(ctx context.Context, last map[string]int64) error {
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if _, err := d.jobs.Exec(ctx, "SELECT setval($1::text::regclass, $2)", ident(strings.Split(name, ".")...), last[name]); err != nil {
			return fmt.Errorf("sequence %s: %w", name, mapped(err))
		}
	}
	return nil
}

// ScopeNames lists the scopes after the one named after, those that are gone
// left out; "" is before the first.
func (d *DB) ScopeNames(ctx context.Context, after string, limit int) ([]Scope, error) {
	var names []string
	err := d.bun.NewRaw("SELECT scope FROM cell.scopes WHERE scope > ? AND state <> 'gone' ORDER BY scope LIMIT ?", after, limit).Scan(ctx, &names)
	if err != nil {
		return nil, mapped(err)
	}
	out := make([]Scope, len(names))
	for i, name := range names {
		if out[i], err = ParseScope(name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ImportAsleep keeps a scope's export as that of a sleeping scope, for its
// next touch, after reading it through for damage. ErrConflict when there is
// such a scope already.
func (d *DB) ImportAsleep(ctx context.Context, s Scope, r io.Reader) error {
	in := new(spool)
	defer in.close()
	if _, err := io.Copy(in, r); err != nil {
		return err
	}
	again, err := in.reader()
	if err != nil {
		return err
	}
	head, err := verify(again)
	if err != nil {
		return fmt.Errorf("scope %s: %w", s, err)
	}
	return d.run(ctx, d.bun, func(ctx context.Context, t *tx) error {
		if err := t.putRow(ctx, s, head, stateAsleep); err != nil {
			return err
		}
		r, err := in.reader()
		if err != nil {
			return err
		}
		return writeAsleep(ctx, t, s, r)
	})
}

// verify reads an export through.
func verify(in io.Reader) (*ExportHeader, error) {
	head := new(ExportHeader)
	r, err := parcel.NewReader(in, head)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			return head, nil
		} else if err != nil {
			return nil, err
		}
		count := &lineCounter{}
		if _, err := io.Copy(count, r); err != nil {
			return nil, err
		}
		if err := r.EndTable(count.n); err != nil {
			return nil, err
		}
	}
}

// lineCounter counts rows of COPY's text format: it escapes line ends in
// values.
type lineCounter struct{ n int64 }

func (c *lineCounter) Write(b []byte) (int, error) {
	for _, x := range b {
		if x == '\n' {
			c.n++
		}
	}
	return len(b), nil
}
