package accountdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// SetFollow lets an account follow another, or stop.
func SetFollow(ctx context.Context, tx db.DirectoryTx, follower, followed int64, on bool) error {
	var err error
	if on {
		_, err = tx.NewRaw(`INSERT INTO directory.follows (follower_id, followed_id, created_at) VALUES (?, ?, ?)
			ON CONFLICT DO NOTHING`, follower, followed, tx.Now()).Exec(ctx)
	} else {
		_, err = tx.NewRaw("DELETE FROM directory.follows WHERE follower_id = ? AND followed_id = ?", follower, followed).Exec(ctx)
	}
	return db.Map(err)
}

// Follows says whether an account follows another.
func Follows(ctx context.Context, dir db.Directory, follower, followed int64) (bool, error) {
	var on bool
	err := dir.NewRaw("SELECT EXISTS (SELECT FROM directory.follows WHERE follower_id = ? AND followed_id = ?)", follower, followed).Scan(ctx, &on)
	return on, db.Map(err)
}

// Followers returns who follows the account, or with following whom it
// follows, the newest first.
func Followers(ctx context.Context, dir db.Directory, id int64, following bool, limit, offset int64) ([]*model.Account, error) {
	var list []*model.Account
	here, there := "followed_id", "follower_id"
	if following {
		here, there = there, here
	}
	err := dir.NewSelect().Model(&list).Join("JOIN directory.follows f ON f."+there+" = a.id").
		Where("f."+here+" = ? AND a.deleted_at IS NULL", id).OrderExpr("f.created_at DESC, a.id").Limit(limit).Offset(offset).Scan(ctx)
	return list, db.Map(err)
}
