package lfsdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// LockFilter says which locks are wanted; zero values do not restrict.
type LockFilter struct {
	Path string
	ID   int64
	// After is the id of the last lock of the page before.
	After int64
	Limit int
}

// Locks returns a repository's locks, the oldest first.
func Locks(ctx context.Context, repo db.Repo, f LockFilter) ([]*model.LFSLock, error) {
	var rows []*model.LFSLock
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		s := q.NewSelect().Model(&rows).Where("id > ?", f.After).Order("id")
		if f.Path != "" {
			s.Where("path = ?", f.Path)
		}
		if f.ID != 0 {
			s.Where("id = ?", f.ID)
		}
		if f.Limit > 0 {
			s.Limit(int64(f.Limit))
		}
		return s.Scan(ctx)
	})
	return rows, err
}

// InsertLock adds a lock and gives it an id. db.ErrConflict when the path is
// locked.
func InsertLock(ctx context.Context, tx *db.RepoTx, l *model.LFSLock) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	if l.ID, err = tx.NextID(ctx); err != nil {
		return err
	}
	l.CreatedAt = tx.Now()
	_, err = q.NewInsert().Model(l).Returning("NULL").Exec(ctx)
	return db.Map(err)
}

// DeleteLock removes a lock; db.ErrNotFound when there is none of this id.
func DeleteLock(ctx context.Context, tx *db.RepoTx, id int64) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	res, err := q.NewDelete().Model((*model.LFSLock)(nil)).Where("id = ?", id).Exec(ctx)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return db.ErrNotFound
	}
	return nil
}
