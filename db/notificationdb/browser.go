package notificationdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// browserDomain is the domain of an account's scope that holds the browsers
// that take pushes.
const browserDomain = "push"

// Browsers are those of the account's that take pushes, the newest first.
func Browsers(ctx context.Context, acc db.Account) ([]*model.PushBrowser, error) {
	var list []*model.PushBrowser
	err := acc.List(ctx, browserDomain, func(q bun.IDB) error {
		return q.NewSelect().Model(&list).Order("created_at DESC", "id DESC").Scan(ctx)
	})
	return list, err
}

// Browser is one of them; db.ErrNotFound when there is none.
func Browser(ctx context.Context, acc db.Account, id int64) (*model.PushBrowser, error) {
	b := new(model.PushBrowser)
	err := acc.Find(ctx, browserDomain, func(q bun.IDB) error {
		return q.NewSelect().Model(b).Where("id = ?", id).Scan(ctx)
	})
	return b, err
}

// PutBrowser adds a browser in the place of the one with its key, and keeps the
// newest most.
func PutBrowser(ctx context.Context, tx *db.AccountTx, b *model.PushBrowser, most int) error {
	q, err := tx.Write(ctx, browserDomain)
	if err != nil {
		return err
	}
	if b.ID, err = tx.NextID(ctx); err != nil {
		return err
	}
	b.CreatedAt = tx.Now()
	if _, err := q.NewDelete().Model((*model.PushBrowser)(nil)).Where("key = ?", b.Key).Exec(ctx); err != nil {
		return db.Map(err)
	}
	if _, err := q.NewInsert().Model(b).Exec(ctx); err != nil {
		return db.Map(err)
	}
	_, err = q.NewRaw("DELETE FROM ?scope.push_browsers WHERE id IN (SELECT id FROM ?scope.push_browsers ORDER BY id DESC OFFSET ?)", most).Exec(ctx)
	return db.Map(err)
}

// DropBrowser removes a browser, none is no error, and says how many are left.
func DropBrowser(ctx context.Context, tx *db.AccountTx, id int64) (left int64, err error) {
	q, err := tx.Write(ctx, browserDomain)
	if err != nil {
		return 0, err
	}
	if _, err := q.NewDelete().Model((*model.PushBrowser)(nil)).Where("id = ?", id).Exec(ctx); err != nil {
		return 0, db.Map(err)
	}
	return q.NewSelect().Model((*model.PushBrowser)(nil)).Count(ctx)
}
