package instancedb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Backfills are the runs so far, by name.
func Backfills(ctx context.Context, dir db.Directory) (map[string]*model.BackfillRun, error) {
	var list []*model.BackfillRun
	if err := dir.NewSelect().Model(&list).Scan(ctx); err != nil {
		return nil, db.Map(err)
	}
	out := make(map[string]*model.BackfillRun, len(list))
	for _, b := range list {
		out[b.Name] = b
	}
	return out, nil
}

// StartBackfill makes a run begin anew, or for the first time.
func StartBackfill(ctx context.Context, tx db.DirectoryTx, name string, total int64) error {
	row := &model.BackfillRun{Name: name, Total: total, UpdatedAt: tx.Now()}
	_, err := tx.NewInsert().Model(row).On("CONFLICT (name) DO UPDATE").
		Set("cursor = '', done = 0, total = EXCLUDED.total, finished_at = NULL, error = '', updated_at = EXCLUDED.updated_at").Exec(ctx)
	return db.Map(err)
}

// StepBackfill moves a run on from the cursor was, and says whether it did:
// another may have.
func StepBackfill(ctx context.Context, tx db.DirectoryTx, name, was, next string, done int64) (bool, error) {
	finished := any(nil)
	if next == "" {
		finished = tx.Now()
	}
	res, err := tx.NewRaw(`UPDATE directory.backfills SET cursor = ?, done = done + ?, finished_at = ?, error = '', updated_at = ?
		WHERE name = ? AND cursor = ? AND finished_at IS NULL`, next, done, finished, tx.Now(), name, was).Exec(ctx)
	if err != nil {
		return false, db.Map(err)
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// FailBackfill notes why a page failed.
func FailBackfill(ctx context.Context, dir db.Directory, name, why string) error {
	_, err := dir.NewRaw("UPDATE directory.backfills SET error = ? WHERE name = ?", why, name).Exec(ctx)
	return db.Map(err)
}
