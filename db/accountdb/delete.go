package accountdb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Needed says in a sentence why an account cannot go, "" when it can: it is
// the last administrator, or the last owner of an organisation.
func Needed(ctx context.Context, dir db.Directory, id int64) (string, error) {
	var lastAdmin bool
	var org string
	err := dir.NewRaw(`SELECT EXISTS (SELECT FROM directory.users WHERE account_id = ? AND admin) AND NOT EXISTS (
			SELECT FROM directory.users u JOIN directory.accounts a ON a.id = u.account_id AND a.deleted_at IS NULL
			WHERE u.admin AND u.account_id <> ?) AND EXISTS (
			SELECT FROM directory.users u JOIN directory.accounts a ON a.id = u.account_id AND a.deleted_at IS NULL
			WHERE u.account_id <> ?),
		coalesce((SELECT min(a.name) FROM directory.org_members m JOIN directory.accounts a ON a.id = m.org_id AND a.deleted_at IS NULL
			WHERE m.user_id = ? AND m.role = 'owner' AND NOT EXISTS (
				SELECT FROM directory.org_members o WHERE o.org_id = m.org_id AND o.role = 'owner' AND o.user_id <> m.user_id)), '')`,
		id, id, id, id).Scan(ctx, &lastAdmin, &org)
	switch {
	case err != nil:
		return "", db.Map(err)
	case lastAdmin:
		return "You are the only administrator of this site. Make somebody else one first.", nil
	case org != "":
		return "You are the only owner of " + org + ". Make somebody else an owner, or delete the organisation first.", nil
	}
	return "", nil
}

// MarkDeleted marks an account and its repositories as deleted.
func MarkDeleted(ctx context.Context, tx db.DirectoryTx, id int64) error {
	res, err := tx.NewRaw("UPDATE directory.accounts SET deleted_at = ?, updated_at = ? WHERE id = ? AND deleted_at IS NULL",
		tx.Now(), tx.Now(), id).Exec(ctx)
	if err := affected(res, err); err != nil {
		return err
	}
	_, err = tx.NewRaw("UPDATE directory.repos SET deleted_at = ? WHERE owner_id = ? AND deleted_at IS NULL", tx.Now(), id).Exec(ctx)
	return db.Map(err)
}

// Undelete brings an account back that was deleted after since, with the
// repositories that went with it. ErrNotFound when it is too late,
// ErrConflict when its name was taken.
func Undelete(ctx context.Context, tx db.DirectoryTx, id int64, since time.Time) (*model.Account, error) {
	a := new(model.Account)
	err := tx.NewSelect().Model(a).Where("id = ? AND deleted_at > ?", id, since).For("UPDATE").Scan(ctx)
	if err != nil {
		return nil, db.Map(err)
	}
	_, err = tx.NewRaw("UPDATE directory.repos SET deleted_at = NULL WHERE owner_id = ? AND deleted_at = ?", id, *a.DeletedAt).Exec(ctx)
	if err != nil {
		return nil, db.Map(err)
	}
	_, err = tx.NewRaw("UPDATE directory.accounts SET deleted_at = NULL, updated_at = ? WHERE id = ?", tx.Now(), id).Exec(ctx)
	a.DeletedAt = nil
	return a, db.Map(err)
}
