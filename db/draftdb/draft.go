// Package draftdb holds the queries about what people are writing and the
// texts that they keep.
package draftdb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Domain is the domain of an account's scope that holds drafts.
const Domain = "drafts"

// Keep is how long a draft is kept that nobody goes on with.
const Keep = 30 * 24 * time.Hour

// Find returns the draft of a form.
func Find(ctx context.Context, account db.Account, key string) (*model.Draft, error) {
	d := new(model.Draft)
	err := account.Find(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(d).Where("key = ?", key).Scan(ctx)
	})
	return d, err
}

// Put keeps a draft, and of the others the newest most that are not too old.
func Put(ctx context.Context, tx *db.AccountTx, d *model.Draft, most int) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	d.At = tx.Now()
	if _, err := q.NewInsert().Model(d).On("CONFLICT (key) DO UPDATE").Set("fields = EXCLUDED.fields").Set("at = EXCLUDED.at").
		Returning("NULL").Exec(ctx); err != nil {
		return err
	}
	_, err = q.NewRaw("DELETE FROM ?scope.drafts WHERE at < ? OR key IN (SELECT key FROM ?scope.drafts ORDER BY at DESC OFFSET ?)",
		tx.Now().Add(-Keep), most).Exec(ctx)
	return err
}

// Drop removes the draft of a form; none is no error.
func Drop(ctx context.Context, tx *db.AccountTx, key string) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.Draft)(nil)).Where("key = ?", key).Exec(ctx)
	return err
}

// Replies returns the saved replies by their titles.
func Replies(ctx context.Context, account db.Account) ([]*model.SavedReply, error) {
	var rows []*model.SavedReply
	err := account.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).OrderExpr("lower(title), id").Scan(ctx)
	})
	return rows, err
}

// PutReply adds a saved reply, or writes the one with its id;
// db.ErrNotFound when there is none.
func PutReply(ctx context.Context, tx *db.AccountTx, r *model.SavedReply) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	r.UpdatedAt = tx.Now()
	if r.ID == 0 {
		if r.ID, err = tx.NextID(ctx); err != nil {
			return err
		}
		_, err = q.NewInsert().Model(r).Returning("NULL").Exec(ctx)
		return err
	}
	res, err := q.NewUpdate().Model(r).Column("title", "body", "updated_at").WherePK().Exec(ctx)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return db.ErrNotFound
	}
	return nil
}

// DeleteReply removes a saved reply; none is no error.
func DeleteReply(ctx context.Context, tx *db.AccountTx, id int64) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.SavedReply)(nil)).Where("id = ?", id).Exec(ctx)
	return err
}
