// Package oauthdb holds the queries about apps and what people granted them.
package oauthdb

import (
	"context"
	"database/sql"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// domain is the domain of an account's scope that holds apps and grants.
const domain = "oauth"

// App returns the app of this client id.
func App(ctx context.Context, acc db.Account, clientID string) (*model.OAuthApp, error) {
	a := new(model.OAuthApp)
	err := acc.Find(ctx, domain, func(q bun.IDB) error {
		return q.NewSelect().Model(a).Where("client_id = ?", clientID).Scan(ctx)
	})
	return a, err
}

// AppByID returns one of the account's apps.
func AppByID(ctx context.Context, acc db.Account, id int64) (*model.OAuthApp, error) {
	a := new(model.OAuthApp)
	err := acc.Find(ctx, domain, func(q bun.IDB) error {
		return q.NewSelect().Model(a).Where("id = ?", id).Scan(ctx)
	})
	return a, err
}

// Apps returns the account's apps, by name.
func Apps(ctx context.Context, acc db.Account) ([]*model.OAuthApp, error) {
	var list []*model.OAuthApp
	err := acc.List(ctx, domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&list).Order("name", "id").Limit(500).Scan(ctx)
	})
	return list, err
}

// InsertApp adds an app; its ID and times are set.
func InsertApp(ctx context.Context, tx *db.AccountTx, a *model.OAuthApp) error {
	q, err := tx.Write(ctx, domain)
	if err != nil {
		return err
	}
	if a.ID, err = tx.NextID(ctx); err != nil {
		return err
	}
	a.CreatedAt, a.UpdatedAt = tx.Now(), tx.Now()
	_, err = q.NewInsert().Model(a).Exec(ctx)
	return db.Map(err)
}

// SaveApp writes an app back.
func SaveApp(ctx context.Context, tx *db.AccountTx, a *model.OAuthApp) error {
	q, err := tx.Write(ctx, domain)
	if err != nil {
		return err
	}
	a.UpdatedAt = tx.Now()
	res, err := q.NewUpdate().Model(a).ExcludeColumn("client_id", "created_at").WherePK().Exec(ctx)
	return affected(res, err)
}

// DeleteApp removes an app.
func DeleteApp(ctx context.Context, tx *db.AccountTx, id int64) error {
	q, err := tx.Write(ctx, domain)
	if err != nil {
		return err
	}
	res, err := q.NewDelete().Model((*model.OAuthApp)(nil)).Where("id = ?", id).Exec(ctx)
	return affected(res, err)
}

// Grant returns what the account grants the app.
func Grant(ctx context.Context, acc db.Account, clientID string) (*model.OAuthGrant, error) {
	g := new(model.OAuthGrant)
	err := acc.Find(ctx, domain, func(q bun.IDB) error {
		return q.NewSelect().Model(g).Where("client_id = ?", clientID).Scan(ctx)
	})
	return g, err
}

// Grants returns what the account grants, newest first.
func Grants(ctx context.Context, acc db.Account) ([]*model.OAuthGrant, error) {
	var list []*model.OAuthGrant
	err := acc.List(ctx, domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&list).Order("id DESC").Limit(500).Scan(ctx)
	})
	return list, err
}

// PutGrant adds scopes to what the account grants the app.
func PutGrant(ctx context.Context, tx *db.AccountTx, clientID string, scopes []string) error {
	q, err := tx.Write(ctx, domain)
	if err != nil {
		return err
	}
	id, err := tx.NextID(ctx)
	if err != nil {
		return err
	}
	g := &model.OAuthGrant{ID: id, ClientID: clientID, Scopes: scopes, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
	_, err = q.NewInsert().Model(g).On("CONFLICT (client_id) DO UPDATE").
		Set("scopes = ARRAY(SELECT DISTINCT unnest(g.scopes || EXCLUDED.scopes))").Set("updated_at = EXCLUDED.updated_at").
		Returning("NULL").Exec(ctx)
	return db.Map(err)
}

// DropGrant removes what the account grants the app; ErrNotFound when it
// grants nothing.
func DropGrant(ctx context.Context, tx *db.AccountTx, clientID string) error {
	q, err := tx.Write(ctx, domain)
	if err != nil {
		return err
	}
	res, err := q.NewDelete().Model((*model.OAuthGrant)(nil)).Where("client_id = ?", clientID).Exec(ctx)
	return affected(res, err)
}

// Index notes in the directory that an account grants the app something.
func Index(ctx context.Context, tx db.DirectoryTx, clientID string, accountID int64) error {
	_, err := tx.NewRaw("INSERT INTO directory.oauth_grants (client_id, account_id, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
		clientID, accountID, tx.Now()).Exec(ctx)
	return db.Map(err)
}

// Unindex forgets it.
func Unindex(ctx context.Context, tx db.DirectoryTx, clientID string, accountID int64) error {
	_, err := tx.NewRaw("DELETE FROM directory.oauth_grants WHERE client_id = ? AND account_id = ?", clientID, accountID).Exec(ctx)
	return db.Map(err)
}

// Granters returns accounts that grant the app something, at most limit.
func Granters(ctx context.Context, dir db.Directory, clientID string, limit int) ([]int64, error) {
	var ids []int64
	err := dir.NewRaw("SELECT account_id FROM directory.oauth_grants WHERE client_id = ? ORDER BY account_id LIMIT ?", clientID, limit).Scan(ctx, &ids)
	return ids, db.Map(err)
}

// CountGranters counts the accounts that grant each app something.
func CountGranters(ctx context.Context, dir db.Directory, clientIDs []string) (map[string]int, error) {
	out := map[string]int{}
	if len(clientIDs) == 0 {
		return out, nil
	}
	var rows []struct {
		ClientID string `bun:"client_id"`
		N        int    `bun:"n"`
	}
	err := dir.NewRaw("SELECT client_id, count(*) AS n FROM directory.oauth_grants WHERE client_id IN (?) GROUP BY client_id", bun.List(clientIDs)).Scan(ctx, &rows)
	for _, r := range rows {
		out[r.ClientID] = r.N
	}
	return out, db.Map(err)
}

func affected(res sql.Result, err error) error {
	if err != nil {
		return db.Map(err)
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = db.ErrNotFound
	}
	return err
}
