// Package pushdb holds the queries about pushes that are under way.
package pushdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Insert writes an intent down.
func Insert(ctx context.Context, cell db.Cell, p *model.PushIntent) error {
	_, err := cell.NewInsert().Model(p).Exec(ctx)
	return db.Map(err)
}

// Delete forgets an intent and says whether it was there.
func Delete(ctx context.Context, q bun.IDB, id string) (bool, error) {
	res, err := q.NewRaw("DELETE FROM cell.push_intents WHERE id = ?", id).Exec(ctx)
	if err != nil {
		return false, db.Map(err)
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// List returns the intents of a repository (0: of all), the oldest first.
func List(ctx context.Context, cell db.Cell, repoID int64, limit int) ([]*model.PushIntent, error) {
	var out []*model.PushIntent
	q := cell.NewSelect().Model(&out).Order("created_at").Limit(int64(limit))
	if repoID != 0 {
		q = q.Where("repo_id = ?", repoID)
	}
	return out, db.Map(q.Scan(ctx))
}
