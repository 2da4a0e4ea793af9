package accountdb

import (
	"context"
	"encoding/json"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// SaveProfile writes what an account says of itself.
func SaveProfile(ctx context.Context, tx db.DirectoryTx, a *model.Account) error {
	a.UpdatedAt = tx.Now()
	res, err := tx.NewUpdate().Model(a).Column("display_name", "bio", "location", "website", "public_email", "settings", "updated_at").
		WherePK().Exec(ctx)
	return affected(res, err)
}

// SaveUser writes a person's own settings.
func SaveUser(ctx context.Context, tx db.DirectoryTx, u *model.User) error {
	res, err := tx.NewUpdate().Model(u).Column("email", "email_private", "time_zone", "theme").WherePK().Exec(ctx)
	return affected(res, err)
}

// SetAccountSetting keeps one thing that an account chose.
func SetAccountSetting(ctx context.Context, tx db.DirectoryTx, accountID int64, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	res, err := tx.NewRaw("UPDATE directory.accounts SET settings = settings || jsonb_build_object(?::text, ?::jsonb), updated_at = ? WHERE id = ?",
		key, string(text), tx.Now(), accountID).Exec(ctx)
	return affected(res, err)
}

// Rename gives an account another name and lets the old one redirect.
// ErrConflict when the name is taken.
func Rename(ctx context.Context, tx db.DirectoryTx, a *model.Account, name string) error {
	old := a.NameKey
	res, err := tx.NewRaw("UPDATE directory.accounts SET name = ?, name_key = ?, updated_at = ? WHERE id = ?",
		name, model.Key(name), tx.Now(), a.ID).Exec(ctx)
	if err := affected(res, err); err != nil {
		return err
	}
	if err := DropRedirect(ctx, tx, name); err != nil {
		return err
	}
	if old == model.Key(name) {
		return nil
	}
	_, err = tx.NewRaw(`INSERT INTO directory.account_redirects (name_key, account_id, created_at) VALUES (?, ?, ?)
		ON CONFLICT (name_key) DO UPDATE SET account_id = EXCLUDED.account_id, created_at = EXCLUDED.created_at`,
		old, a.ID, tx.Now()).Exec(ctx)
	return db.Map(err)
}

// AddSigningKeys lets the keys' ids find the account, for signatures on
// commits. kind is ssh or gpg.
func AddSigningKeys(ctx context.Context, tx db.DirectoryTx, accountID int64, kind string, ids ...string) error {
	for _, id := range ids {
		_, err := tx.NewRaw(`INSERT INTO directory.signing_key_ids (key_id, account_id, kind, created_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (key_id, account_id) DO NOTHING`, id, accountID, kind, tx.Now()).Exec(ctx)
		if err != nil {
			return db.Map(err)
		}
	}
	return nil
}

// DropSigningKey forgets a signing key's ids.
func DropSigningKey(ctx context.Context, tx db.DirectoryTx, accountID int64, ids ...string) error {
	for _, id := range ids {
		_, err := tx.NewRaw("DELETE FROM directory.signing_key_ids WHERE key_id = ? AND account_id = ?", id, accountID).Exec(ctx)
		if err != nil {
			return db.Map(err)
		}
	}
	return nil
}
