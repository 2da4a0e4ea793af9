package accountdb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Expired lists accounts that were deleted before this time, by id.
func Expired(ctx context.Context, dir db.Directory, before time.Time, limit int) ([]*model.Account, error) {
	var list []*model.Account
	err := dir.NewSelect().Model(&list).Where("deleted_at < ?", before).Order("id").Limit(int64(limit)).Scan(ctx)
	return list, db.Map(err)
}

// DeletedOrgs lists the organisations that a person owned and that can be
// restored, those deleted after since.
func DeletedOrgs(ctx context.Context, dir db.Directory, userID int64, since time.Time) ([]*model.Account, error) {
	var list []*model.Account
	err := dir.NewSelect().Model(&list).Where("deleted_at > ? AND kind = ?", since, model.KindOrganization).
		Where("id IN (SELECT org_id FROM directory.org_members WHERE user_id = ? AND role = 'owner')", userID).
		Order("deleted_at DESC").Scan(ctx)
	return list, db.Map(err)
}

// Destroy deletes a deleted account, which owns no repository any more, from
// the directory. What it wrote in repositories of others stays there under
// nobody's name. With retire its name can never be taken again. ErrNotFound
// when it is not there, or was restored.
func Destroy(ctx context.Context, tx db.DirectoryTx, a *model.Account, retire bool) error {
	scope := db.AccountScope(a.ID).String()
	for _, sql := range []string{
		"UPDATE directory.repos SET stars = greatest(stars - 1, 0) WHERE id IN (SELECT repo_id FROM directory.stars WHERE account_id = ?0)",
		"UPDATE directory.repos SET watchers = greatest(watchers - 1, 0) WHERE id IN (SELECT repo_id FROM directory.watches WHERE account_id = ?0)",
		"UPDATE directory.commit_signatures SET account_id = NULL WHERE account_id = ?0",
		"DELETE FROM directory.site_hosts WHERE scope = ?1",
		"DELETE FROM directory.scope_locators WHERE scope = ?1",
	} {
		if _, err := tx.NewRaw(sql, a.ID, scope).Exec(ctx); err != nil {
			return db.Map(err)
		}
	}
	if retire {
		_, err := tx.NewRaw(`INSERT INTO directory.retired_names (name_key, reason, created_at) VALUES (?, 'deleted', ?)
			ON CONFLICT DO NOTHING`, a.NameKey, tx.Now()).Exec(ctx)
		if err != nil {
			return db.Map(err)
		}
	}
	res, err := tx.NewRaw("DELETE FROM directory.accounts WHERE id = ? AND deleted_at IS NOT NULL", a.ID).Exec(ctx)
	return affected(res, err)
}
