package accountdb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Credential returns the credential of a kind that key finds, an expired one
// too.
func Credential(ctx context.Context, acc db.Account, kind string, key []byte) (*model.Credential, error) {
	cr := new(model.Credential)
	err := acc.Find(ctx, SignIn, func(q bun.IDB) error {
		return q.NewSelect().Model(cr).Where("kind = ? AND key = ?", kind, key).Scan(ctx)
	})
	return cr, err
}

// CredentialByID returns the credential of a kind with this id.
func CredentialByID(ctx context.Context, acc db.Account, kind string, id int64) (*model.Credential, error) {
	cr := new(model.Credential)
	err := acc.Find(ctx, SignIn, func(q bun.IDB) error {
		return q.NewSelect().Model(cr).Where("kind = ? AND id = ?", kind, id).Scan(ctx)
	})
	return cr, err
}

// Credentials returns the account's credentials of the kinds, newest first.
func Credentials(ctx context.Context, acc db.Account, kinds ...string) ([]*model.Credential, error) {
	var list []*model.Credential
	err := acc.List(ctx, SignIn, func(q bun.IDB) error {
		return q.NewSelect().Model(&list).Where("kind IN (?)", bun.List(kinds)).Order("id DESC").Limit(1000).Scan(ctx)
	})
	return list, err
}

// InsertCredentials adds credentials, gives them ids, and arms the
// account's alarm for those that expire. ErrConflict when one is there already.
func InsertCredentials(ctx context.Context, tx *db.AccountTx, list ...*model.Credential) error {
	q, err := tx.Write(ctx, SignIn)
	if err != nil {
		return err
	}
	for _, cr := range list {
		if cr.ID, err = tx.NextID(ctx); err != nil {
			return err
		}
		cr.CreatedAt = tx.Now()
		if len(cr.Data) == 0 {
			cr.Data = []byte("{}")
		}
		if cr.ExpiresAt != nil {
			if err := tx.Arm(ctx, cr.ExpiresAt.AddDate(0, 1, 0)); err != nil {
				return err
			}
		}
	}
	_, err = q.NewInsert().Model(&list).Exec(ctx)
	return db.Map(err)
}

// SaveCredential writes a credential's name and data back.
func SaveCredential(ctx context.Context, tx *db.AccountTx, cr *model.Credential) error {
	q, err := tx.Write(ctx, SignIn)
	if err != nil {
		return err
	}
	res, err := q.NewUpdate().Model(cr).Column("name", "data", "used_at").WherePK().Exec(ctx)
	return affected(res, err)
}

// TouchCredential notes when a credential was used.
func TouchCredential(ctx context.Context, tx *db.AccountTx, id int64, at time.Time) error {
	q, err := tx.Write(ctx, SignIn)
	if err != nil {
		return err
	}
	_, err = q.NewUpdate().Model((*model.Credential)(nil)).Set("used_at = ?", at).Where("id = ?", id).Exec(ctx)
	return err
}

// DeleteCredential removes one credential; ErrNotFound when it is gone.
func DeleteCredential(ctx context.Context, tx *db.AccountTx, kind string, id int64) error {
	q, err := tx.Write(ctx, SignIn)
	if err != nil {
		return err
	}
	res, err := q.NewDelete().Model((*model.Credential)(nil)).Where("kind = ? AND id = ?", kind, id).Exec(ctx)
	return affected(res, err)
}

// DeleteKind removes all credentials of a kind.
func DeleteKind(ctx context.Context, tx *db.AccountTx, kind string) error {
	q, err := tx.Write(ctx, SignIn)
	if err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.Credential)(nil)).Where("kind = ?", kind).Exec(ctx)
	return err
}

// CountCredentials counts the account's credentials of a kind, in a
// transaction that will write some.
func CountCredentials(ctx context.Context, tx *db.AccountTx, kind string) (int, error) {
	q, err := tx.Write(ctx, SignIn)
	if err != nil {
		return 0, err
	}
	n, err := q.NewSelect().Model((*model.Credential)(nil)).Where("kind = ?", kind).Count(ctx)
	return int(n), err
}

// AppCredentials returns the tokens that an app holds, newest first, in a
// transaction that will change them. family, unless 0, restricts to those that
// came from one sign-in.
func AppCredentials(ctx context.Context, tx *db.AccountTx, clientID string, family int64) ([]*model.Credential, error) {
	q, err := tx.Write(ctx, SignIn)
	if err != nil {
		return nil, err
	}
	var list []*model.Credential
	sel := q.NewSelect().Model(&list).Where("kind IN (?, ?)", model.CredentialOAuth, model.CredentialRefresh).
		Where("data ->> 'app' = ?", clientID).Order("id DESC")
	if family != 0 {
		sel = sel.Where("(data ->> 'family')::bigint = ?", family)
	}
	return list, db.Map(sel.Scan(ctx))
}
