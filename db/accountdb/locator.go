package accountdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/uptrace/bun"
)

// Kinds of locators of an account's scope.
const (
	LocatePasskey = "passkey" // key: the credential id in base 64
	LocateSSHKey  = "ssh_key" // key: the fingerprint, SHA256:…
)

// Locate returns the account whose credential of this kind key finds.
func Locate(ctx context.Context, dir db.Directory, kind, key string) (int64, error) {
	var text string
	err := dir.NewRaw("SELECT scope FROM directory.scope_locators WHERE kind = ? AND key = ?", kind, key).Scan(ctx, &text)
	if err != nil {
		return 0, db.Map(err)
	}
	scope, err := db.ParseScope(text)
	if err != nil {
		return 0, err
	}
	return scope.ID(), nil
}

// AddLocator lets key find the account's credential; ErrConflict when it
// finds one already, or a repository's deploy key.
func AddLocator(ctx context.Context, tx db.DirectoryTx, kind, key string, accountID int64) error {
	var taken bool
	err := tx.NewRaw("SELECT ? AND EXISTS (SELECT 1 FROM directory.scope_locators WHERE kind = 'deploy_key' AND key = ?)",
		kind == LocateSSHKey, key).Scan(ctx, &taken)
	if err != nil {
		return db.Map(err)
	}
	if taken {
		return db.ErrConflict
	}
	_, err = tx.NewRaw("INSERT INTO directory.scope_locators (kind, key, scope, created_at) VALUES (?, ?, ?, ?)",
		kind, key, db.AccountScope(accountID).String(), tx.Now()).Exec(ctx)
	return db.Map(err)
}

// DropLocators forgets where the account's keys of this kind are.
func DropLocators(ctx context.Context, tx db.DirectoryTx, accountID int64, kind string, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := tx.NewRaw("DELETE FROM directory.scope_locators WHERE kind = ? AND key IN (?) AND scope = ?",
		kind, bun.List(keys), db.AccountScope(accountID).String()).Exec(ctx)
	return db.Map(err)
}
