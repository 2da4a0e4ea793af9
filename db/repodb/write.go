package repodb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Insert adds a repository and sets its id and times. Its name stops
// redirecting elsewhere. db.ErrConflict when the owner has one of this name.
func Insert(ctx context.Context, tx db.DirectoryTx, r *model.Repo) error {
	r.CreatedAt, r.UpdatedAt = tx.Now(), tx.Now()
	if _, err := tx.NewInsert().Model(r).ExcludeColumn("id").Returning("id").Exec(ctx); err != nil {
		return db.Map(err)
	}
	return forget(ctx, tx, r.OwnerID, r.NameKey)
}

func forget(ctx context.Context, tx db.DirectoryTx, ownerID int64, key string) error {
	_, err := tx.NewRaw("DELETE FROM directory.repo_redirects WHERE owner_id = ? AND name_key = ?", ownerID, key).Exec(ctx)
	return db.Map(err)
}

// Update writes the named columns of a repository and its time of change.
func Update(ctx context.Context, tx db.DirectoryTx, r *model.Repo, columns ...string) error {
	r.UpdatedAt = tx.Now()
	_, err := tx.NewUpdate().Model(r).Column(append(columns, "updated_at")...).WherePK().Exec(ctx)
	return db.Map(err)
}

// Move gives a repository another owner or name; what it was called redirects
// to it until somebody takes that name.
func Move(ctx context.Context, tx db.DirectoryTx, r *model.Repo, ownerID int64, name string) error {
	oldOwner, oldKey := r.OwnerID, r.NameKey
	r.OwnerID, r.Name, r.NameKey = ownerID, name, model.Key(name)
	if err := Update(ctx, tx, r, "owner_id", "name", "name_key"); err != nil {
		return err
	}
	if err := forget(ctx, tx, r.OwnerID, r.NameKey); err != nil {
		return err
	}
	if r.OwnerID != oldOwner {
		// The teams of the owner before have no say any more.
		_, err := tx.NewRaw(`DELETE FROM directory.team_repos WHERE repo_id = ? AND team_id IN (
			SELECT id FROM directory.teams WHERE org_id = ?)`, r.ID, oldOwner).Exec(ctx)
		if err != nil {
			return db.Map(err)
		}
	}
	if oldOwner == r.OwnerID && oldKey == r.NameKey {
		return nil
	}
	_, err := tx.NewRaw(`INSERT INTO directory.repo_redirects (owner_id, name_key, repo_id, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (owner_id, name_key) DO UPDATE SET repo_id = EXCLUDED.repo_id`, oldOwner, oldKey, r.ID, tx.Now()).Exec(ctx)
	return db.Map(err)
}

// Pushed notes when a repository was last pushed to, and its size.
func Pushed(ctx context.Context, dir db.Directory, id int64, at time.Time) error {
	_, err := dir.NewRaw("UPDATE directory.repos SET pushed_at = ?, updated_at = ? WHERE id = ?", at, at, id).Exec(ctx)
	return db.Map(err)
}

// ByIDAny returns a repository with its owner, a deleted one too.
func ByIDAny(ctx context.Context, dir db.Directory, id int64) (*model.Repo, error) {
	r := new(model.Repo)
	err := dir.NewSelect().Model(r).Relation("Owner").Where("r.id = ?", id).Scan(ctx)
	return r, db.Map(err)
}

// Learn writes what is known of a repository's files.
func Learn(ctx context.Context, dir db.Directory, id int64, languages map[string]int64, licence string, sizeKB int64) error {
	r := &model.Repo{ID: id, Languages: languages, Licence: licence, SizeKB: sizeKB}
	_, err := dir.NewUpdate().Model(r).Column("languages", "licence", "size_kb").WherePK().Exec(ctx)
	return db.Map(err)
}

// ByName returns a repository with its owner, whoever may see it.
func ByName(ctx context.Context, dir db.Directory, owner, name string) (*model.Repo, error) {
	r := new(model.Repo)
	err := dir.NewSelect().Model(r).Relation("Owner").Where("owner.name_key = ? AND owner.deleted_at IS NULL", model.Key(owner)).
		Where("r.name_key = ? AND r.deleted_at IS NULL", model.Key(name)).Scan(ctx)
	return r, db.Map(err)
}
