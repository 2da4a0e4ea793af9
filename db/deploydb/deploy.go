// Package deploydb holds the queries about deploy keys and tokens.
package deploydb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Domain is the domain, of repositories' and of accounts' scopes.
const Domain = "deploy"

// locateKey is the kind of a key's locator: its key is the fingerprint.
const locateKey = "deploy_key"

// List returns a repository's credentials of a kind, the newest first.
func List(ctx context.Context, repo db.Repo, kind string) ([]*model.DeployCredential, error) {
	var rows []*model.DeployCredential
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Where("kind = ?", kind).Order("id DESC").Scan(ctx)
	})
	return rows, err
}

// Find returns a credential by its id; db.ErrNotFound.
func Find(ctx context.Context, repo db.Repo, kind string, id int64) (*model.DeployCredential, error) {
	row := new(model.DeployCredential)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(row).Where("id = ? AND kind = ?", id, kind).Scan(ctx)
	})
	return row, err
}

// ByKey returns a credential by its fingerprint or hash; db.ErrNotFound.
func ByKey(ctx context.Context, repo db.Repo, kind string, key []byte) (*model.DeployCredential, error) {
	row := new(model.DeployCredential)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(row).Where("kind = ? AND key = ?", kind, key).Scan(ctx)
	})
	return row, err
}

// Insert adds a credential and gives it an id.
func Insert(ctx context.Context, tx *db.RepoTx, row *model.DeployCredential) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	if row.ID, err = tx.NextID(ctx); err != nil {
		return err
	}
	row.CreatedAt = tx.Now()
	_, err = q.NewInsert().Model(row).Returning("NULL").Exec(ctx)
	return db.Map(err)
}

// Delete removes a credential; none of this id is no error.
func Delete(ctx context.Context, tx *db.RepoTx, id int64) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.DeployCredential)(nil)).Where("id = ?", id).Exec(ctx)
	return err
}

// Used notes when a credential was last used.
func Used(ctx context.Context, tx *db.RepoTx, id int64, at time.Time) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewUpdate().Model((*model.DeployCredential)(nil)).Set("used_at = ?", at).Where("id = ?", id).Exec(ctx)
	return err
}

// Locate returns the repository that a key of this fingerprint opens.
func Locate(ctx context.Context, dir db.Directory, fingerprint string) (int64, error) {
	var text string
	err := dir.NewRaw("SELECT scope FROM directory.scope_locators WHERE kind = ? AND key = ?", locateKey, fingerprint).Scan(ctx, &text)
	if err != nil {
		return 0, db.Map(err)
	}
	scope, err := db.ParseScope(text)
	return scope.ID(), err
}

// AddLocator lets a fingerprint find the repository; db.ErrConflict when it
// finds one already, or an account.
func AddLocator(ctx context.Context, tx db.DirectoryTx, fingerprint string, repoID int64) error {
	var taken bool
	err := tx.NewRaw("SELECT EXISTS (SELECT 1 FROM directory.scope_locators WHERE kind = 'ssh_key' AND key = ?)", fingerprint).Scan(ctx, &taken)
	if err != nil {
		return db.Map(err)
	}
	if taken {
		return db.ErrConflict
	}
	_, err = tx.NewRaw("INSERT INTO directory.scope_locators (kind, key, scope, created_at) VALUES (?, ?, ?, ?)",
		locateKey, fingerprint, db.RepoScope(repoID).String(), tx.Now()).Exec(ctx)
	return db.Map(err)
}

// DropLocator forgets where a fingerprint leads.
func DropLocator(ctx context.Context, tx db.DirectoryTx, fingerprint string, repoID int64) error {
	_, err := tx.NewRaw("DELETE FROM directory.scope_locators WHERE kind = ? AND key = ? AND scope = ?",
		locateKey, fingerprint, db.RepoScope(repoID).String()).Exec(ctx)
	return db.Map(err)
}

// AddEntry notes in its maker's scope where a token is.
func AddEntry(ctx context.Context, tx *db.AccountTx, e *model.DeployTokenEntry) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	e.CreatedAt = tx.Now()
	_, err = q.NewInsert().Model(e).On("CONFLICT DO NOTHING").Returning("NULL").Exec(ctx)
	return err
}

// DropEntry forgets it.
func DropEntry(ctx context.Context, tx *db.AccountTx, repoID, tokenID int64) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.DeployTokenEntry)(nil)).Where("repo_id = ? AND token_id = ?", repoID, tokenID).Exec(ctx)
	return err
}

// Entries returns the deploy tokens that an account made, the newest first.
func Entries(ctx context.Context, account db.Account) ([]*model.DeployTokenEntry, error) {
	var rows []*model.DeployTokenEntry
	err := account.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Order("created_at DESC", "token_id DESC").Scan(ctx)
	})
	return rows, err
}
