package repodb

import (
	"context"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Deleted lists the repositories of these owners that can be restored, those
// deleted after since, the last first.
func Deleted(ctx context.Context, dir db.Directory, ownerIDs []int64, since time.Time) ([]*model.Repo, error) {
	var list []*model.Repo
	if len(ownerIDs) == 0 {
		return nil, nil
	}
	err := dir.NewSelect().Model(&list).Relation("Owner").Where("r.owner_id IN (?)", bun.List(ownerIDs)).
		Where("r.deleted_at > ? AND owner.deleted_at IS NULL", since).Order("r.deleted_at DESC", "r.id").Limit(200).Scan(ctx)
	return list, db.Map(err)
}

// Undelete brings a repository back that was deleted after since. ErrNotFound
// when it is too late, ErrConflict when its name was taken.
func Undelete(ctx context.Context, tx db.DirectoryTx, r *model.Repo, since time.Time) error {
	res, err := tx.NewRaw("UPDATE directory.repos SET deleted_at = NULL, updated_at = ? WHERE id = ? AND deleted_at > ?",
		tx.Now(), r.ID, since).Exec(ctx)
	if err != nil {
		return db.Map(err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return db.ErrNotFound
	}
	r.DeletedAt = nil
	return nil
}

// Expired lists repositories that were deleted before this time, by id; those
// of deleted accounts go with these.
func Expired(ctx context.Context, dir db.Directory, before time.Time, limit int) ([]*model.Repo, error) {
	var list []*model.Repo
	err := dir.NewSelect().Model(&list).Relation("Owner").Where("r.deleted_at < ? AND owner.deleted_at IS NULL", before).
		Order("r.id").Limit(int64(limit)).Scan(ctx)
	return list, db.Map(err)
}

// OwnedBy lists every repository of an account, the deleted ones too.
func OwnedBy(ctx context.Context, dir db.Directory, ownerID int64) ([]*model.Repo, error) {
	var list []*model.Repo
	err := dir.NewSelect().Model(&list).Relation("Owner").Where("r.owner_id = ?", ownerID).Order("r.id").Scan(ctx)
	return list, db.Map(err)
}

// NetworkUsed says whether a repository is left, deleted ones counted, that
// may borrow from the pool of the network that began with root.
func NetworkUsed(ctx context.Context, dir db.Directory, root int64) (bool, error) {
	var used bool
	err := dir.NewRaw("SELECT EXISTS (SELECT FROM directory.repos WHERE id = ? OR root_id = ?)", root, root).Scan(ctx, &used)
	return used, db.Map(err)
}

// Destroy deletes a deleted repository from the directory, with all that names
// it. Forks of it stay and are forks of nothing. ErrNotFound when it is not
// there, or was restored.
func Destroy(ctx context.Context, tx db.DirectoryTx, id int64) error {
	scope := db.RepoScope(id).String()
	for _, sql := range []string{
		"UPDATE directory.repos SET fork_of = NULL WHERE fork_of = ?0",
		"DELETE FROM directory.commit_signatures WHERE repo_id = ?0",
		"DELETE FROM directory.site_hosts WHERE scope = ?1",
		"DELETE FROM directory.scope_locators WHERE scope = ?1",
		"DELETE FROM directory.hourly_limits WHERE subject = ?2",
	} {
		if _, err := tx.NewRaw(sql, id, scope, "repo "+strconv.FormatInt(id, 10)).Exec(ctx); err != nil {
			return db.Map(err)
		}
	}
	res, err := tx.NewRaw("DELETE FROM directory.repos WHERE id = ? AND deleted_at IS NOT NULL", id).Exec(ctx)
	if err != nil {
		return db.Map(err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return db.ErrNotFound
	}
	return nil
}

// Stake is what deleting a repository takes from people.
type Stake struct {
	Stars, Watchers, Forks, Collaborators int
}

// StakeOf counts who is concerned when the repository is deleted.
func StakeOf(ctx context.Context, dir db.Directory, r *model.Repo) (Stake, error) {
	s := Stake{Stars: r.Stars, Watchers: r.Watchers}
	err := dir.NewRaw(`SELECT (SELECT count(*) FROM directory.repos WHERE fork_of = ? AND deleted_at IS NULL),
		(SELECT count(*) FROM directory.collaborators WHERE repo_id = ?)`, r.ID, r.ID).Scan(ctx, &s.Forks, &s.Collaborators)
	return s, db.Map(err)
}
