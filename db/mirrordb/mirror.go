// Package mirrordb holds the queries about mirrors and imports.
package mirrordb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Domain is the domain of a repository's scope that holds mirrors.
const Domain = "mirror"

// List returns a repository's mirrors, in the order in which they were made.
func List(ctx context.Context, repo db.Repo) ([]*model.Mirror, error) {
	var rows []*model.Mirror
	err := repo.List(ctx, Domain, func(q bun.IDB) error { return q.NewSelect().Model(&rows).Order("id").Scan(ctx) })
	return rows, err
}

// Find returns a mirror by its id; db.ErrNotFound.
func Find(ctx context.Context, repo db.Repo, id int64) (*model.Mirror, error) {
	row := new(model.Mirror)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error { return q.NewSelect().Model(row).Where("id = ?", id).Scan(ctx) })
	return row, err
}

// Insert adds a mirror; its id is given before, by tx.NextID.
func Insert(ctx context.Context, tx *db.RepoTx, m *model.Mirror) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	m.CreatedAt = tx.Now()
	_, err = q.NewInsert().Model(m).Returning("NULL").Exec(ctx)
	return err
}

// Update writes the named columns of a mirror.
func Update(ctx context.Context, tx *db.RepoTx, m *model.Mirror, columns ...string) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewUpdate().Model(m).Column(columns...).WherePK().Exec(ctx)
	return err
}

// Delete removes a mirror.
func Delete(ctx context.Context, tx *db.RepoTx, id int64) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.Mirror)(nil)).Where("id = ?", id).Exec(ctx)
	return err
}
