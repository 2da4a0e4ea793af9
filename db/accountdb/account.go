// Package accountdb holds the directory's queries about accounts and emails,
// and the sign-in state of an account's own scope.
package accountdb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// ByName returns the account of this name, whatever its case.
func ByName(ctx context.Context, dir db.Directory, name string) (*model.Account, error) {
	a := new(model.Account)
	err := dir.NewSelect().Model(a).Where("name_key = ? AND deleted_at IS NULL", model.Key(name)).Scan(ctx)
	return a, db.Map(err)
}

// ByID returns an account, a deleted one too.
func ByID(ctx context.Context, dir db.Directory, id int64) (*model.Account, error) {
	a := new(model.Account)
	err := dir.NewSelect().Model(a).Where("id = ?", id).Scan(ctx)
	return a, db.Map(err)
}

// ByIDs returns accounts by id, deleted ones too, for showing who did what.
// An id that is unknown is missing from the map.
func ByIDs(ctx context.Context, dir db.Directory, ids ...int64) (map[int64]*model.Account, error) {
	out := make(map[int64]*model.Account, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	var accounts []*model.Account
	if err := dir.NewSelect().Model(&accounts).Where("id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return nil, db.Map(err)
	}
	for _, a := range accounts {
		out[a.ID] = a
	}
	return out, nil
}

// ByNames returns the accounts that exist among the names, by Key of name.
func ByNames(ctx context.Context, dir db.Directory, names []string) (map[string]*model.Account, error) {
	out := make(map[string]*model.Account, len(names))
	if len(names) == 0 {
		return out, nil
	}
	keys := make([]string, len(names))
	for i, n := range names {
		keys[i] = model.Key(n)
	}
	var accounts []*model.Account
	err := dir.NewSelect().Model(&accounts).Where("name_key IN (?) AND deleted_at IS NULL", bun.List(keys)).Scan(ctx)
	if err != nil {
		return nil, db.Map(err)
	}
	for _, a := range accounts {
		out[a.NameKey] = a
	}
	return out, nil
}

// User returns a person's user record with the account, in one query.
func User(ctx context.Context, dir db.Directory, id int64) (*model.User, error) {
	u := new(model.User)
	err := dir.NewSelect().Model(u).Relation("Account").Where("u.account_id = ?", id).Scan(ctx)
	return u, db.Map(err)
}

// Redirect returns the account that was once called name.
func Redirect(ctx context.Context, dir db.Directory, name string) (*model.Account, error) {
	a := new(model.Account)
	err := dir.NewSelect().Model(a).Where("deleted_at IS NULL").
		Where("id = (SELECT account_id FROM directory.account_redirects WHERE name_key = ?)", model.Key(name)).Scan(ctx)
	return a, db.Map(err)
}

// OrgRole returns the role ("owner", "member") that the user has in the
// organisation, "" for none.
func OrgRole(ctx context.Context, dir db.Directory, orgID, userID int64) (string, error) {
	var role string
	err := dir.NewRaw("SELECT coalesce((SELECT role FROM directory.org_members WHERE org_id = ? AND user_id = ?), '')",
		orgID, userID).Scan(ctx, &role)
	return role, db.Map(err)
}

// Active notes that people did something at this time.
func Active(ctx context.Context, dir db.Directory, at time.Time, ids ...int64) error {
	_, err := dir.NewRaw("UPDATE directory.users SET last_active_at = ? WHERE account_id IN (?)", at, bun.List(ids)).Exec(ctx)
	return db.Map(err)
}

// Setting is a text among the instance's settings, "" when it is not set.
func Setting(ctx context.Context, dir db.Directory, key string) (string, error) {
	var value string
	err := dir.NewRaw("SELECT coalesce((SELECT value #>> '{}' FROM directory.instance_settings WHERE key = ?), '')", key).
		Scan(ctx, &value)
	return value, db.Map(err)
}

// SetSetting sets a text among the instance's settings.
func SetSetting(ctx context.Context, tx db.DirectoryTx, key, value string) error {
	_, err := tx.NewRaw(`INSERT INTO directory.instance_settings (key, value, updated_at) VALUES (?, to_jsonb(?::text), ?)
		ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, updated_at = EXCLUDED.updated_at`, key, value, tx.Now()).Exec(ctx)
	return db.Map(err)
}

// Counts are numbers that an account's page shows.
type Counts struct {
	PublicRepos, PrivateRepos, Followers, Following int
}

// CountsOf counts an account's repositories and followers in one query.
func CountsOf(ctx context.Context, dir db.Directory, id int64) (Counts, error) {
	var c Counts
	err := dir.NewRaw(`SELECT
		(SELECT count(*) FROM directory.repos WHERE owner_id = ? AND deleted_at IS NULL AND visibility = 'public'),
		(SELECT count(*) FROM directory.repos WHERE owner_id = ? AND deleted_at IS NULL AND visibility <> 'public'),
		(SELECT count(*) FROM directory.follows f JOIN directory.accounts a ON a.id = f.follower_id AND a.deleted_at IS NULL WHERE followed_id = ?),
		(SELECT count(*) FROM directory.follows f JOIN directory.accounts a ON a.id = f.followed_id AND a.deleted_at IS NULL WHERE follower_id = ?)`,
		id, id, id, id).Scan(ctx, &c.PublicRepos, &c.PrivateRepos, &c.Followers, &c.Following)
	return c, db.Map(err)
}

// ListAccounts returns accounts of a kind ("" for all) with ids above since.
func ListAccounts(ctx context.Context, dir db.Directory, kind model.AccountKind, since, limit int64) ([]*model.Account, error) {
	var list []*model.Account
	q := dir.NewSelect().Model(&list).Where("id > ? AND deleted_at IS NULL", since).Order("id").Limit(limit)
	if kind != "" {
		q = q.Where("kind = ?", kind)
	}
	return list, db.Map(q.Scan(ctx))
}
