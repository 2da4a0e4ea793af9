package db

import (
	"context"
	"fmt"
	"strconv"

	"github.com/uptrace/bun"
)

// spareRow is a schema made ahead of need, claimed by rename.
type spareRow struct {
	bun.BaseModel `bun:"table:cell.spares,alias:sp"`

	ID      int64          `bun:"id,pk,autoincrement"`
	Kind    string         `bun:"kind"`
	Domains map[string]int `bun:"domains,type:jsonb"`
}

func (s spareRow) schema() string { return "spare_" + strconv.FormatInt(s.ID, 10) }

// SpareDomains are the domains that a spare schema of each kind already has:
// those that nearly every scope that has any will need.
var SpareDomains = map[Kind][]string{
	RepoKind:    {"issues"},
	AccountKind: {"signin"},
}

// SpareTaken is signalled, without blocking, when a scope took a spare schema,
// or would have taken one.
func (d *DB) SpareTaken() <-chan struct{} { return d.spareTaken }

// FillSpares makes spare schemas of kind until there are want of them, one
// transaction each, and returns how many it made. Spares of older versions are
// dropped first; whoever takes one before migrates it.
func (d *DB) FillSpares(ctx context.Context, kind Kind, want int) (made int, err error) {
	if err := d.dropOldSpares(ctx, kind); err != nil {
		return 0, fmt.Errorf("old spare schema: %w", err)
	}
	count, err := d.bun.NewSelect().Model((*spareRow)(nil)).Where("kind = ?", string(kind)).Count(ctx)
	if err != nil {
		return 0, mapped(err)
	}
	have := int(count)
	for range max(0, want-have) {
		if err := d.addSpare(ctx, kind); err != nil {
			return made, fmt.Errorf("spare schema: %w", err)
		}
		made++
	}
	return made, nil
}

// old says whether a spare lacks what the newest would have.
func (d *DB) old(row *spareRow) (bool, error) {
	for _, domain := range SpareDomains[Kind(row.Kind)] {
		files, err := d.files.Files(Kind(row.Kind), domain)
		if err != nil || row.Domains[domain] < len(files) {
			return true, err
		}
	}
	return false, nil
}

func (d *DB) dropOldSpares(ctx context.Context, kind Kind) error {
	var rows []spareRow
	if err := d.bun.NewSelect().Model(&rows).Where("kind = ?", string(kind)).Scan(ctx); err != nil {
		return mapped(err)
	}
	for i := range rows {
		is, err := d.old(&rows[i])
		if err != nil {
			return err
		}
		if !is {
			continue
		}
		err = d.run(ctx, d.bun, func(ctx context.Context, t *tx) error {
			res, err := t.bun.NewRaw("DELETE FROM cell.spares WHERE id = ?", rows[i].ID).Exec(ctx)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil || n == 0 {
				return err // somebody took it
			}
			_, err = t.bun.ExecContext(ctx, "DROP SCHEMA "+rows[i].schema()+" CASCADE")
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *DB) addSpare(ctx context.Context, kind Kind) error {
	return d.run(ctx, d.bun, func(ctx context.Context, t *tx) error {
		row := &spareRow{Kind: string(kind), Domains: map[string]int{}}
		var all []string
		for _, domain := range SpareDomains[kind] {
			files, err := d.files.Files(kind, domain)
			if err != nil {
				return err
			}
			row.Domains[domain] = len(files)
			all = append(all, files...)
		}
		if _, err := t.bun.NewInsert().Model(row).Returning("id").Exec(ctx); err != nil {
			return err
		}
		if _, err := t.bun.ExecContext(ctx, "CREATE SCHEMA "+row.schema()); err != nil {
			return err
		}
		return applyFiles(ctx, t.bun, row.schema(), all)
	})
}
