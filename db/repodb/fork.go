package repodb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// ForkOfOwner returns the fork of a repository that an account owns.
func ForkOfOwner(ctx context.Context, dir db.Directory, repoID, ownerID int64) (*model.Repo, error) {
	r := new(model.Repo)
	err := dir.NewSelect().Model(r).Relation("Owner").
		Where("r.fork_of = ? AND r.owner_id = ? AND r.deleted_at IS NULL", repoID, ownerID).Order("r.id").Limit(1).Scan(ctx)
	return r, db.Map(err)
}

// CountFork adds to the number of a repository's forks.
func CountFork(ctx context.Context, tx db.DirectoryTx, repoID int64, by int) error {
	_, err := tx.NewRaw("UPDATE directory.repos SET forks = greatest(forks + ?, 0) WHERE id = ?", by, repoID).Exec(ctx)
	return db.Map(err)
}
