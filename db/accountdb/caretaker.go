package accountdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Caretakers are those who look after what an account owns: the person
// themselves, or an organisation's owners, and also, while they may sign in,
// the person also. With owner 0 they are also alone.
func Caretakers(ctx context.Context, dir db.Directory, owner, also int64) ([]*model.User, error) {
	var list []*model.User
	err := dir.NewSelect().Model(&list).Relation("Account").
		Where("u.account_id IN (?0, ?1) OR u.account_id IN (SELECT user_id FROM directory.org_members WHERE org_id = ?0 AND role = 'owner')", owner, also).
		Where("account.deleted_at IS NULL AND account.suspended_at IS NULL").
		OrderExpr("u.account_id").Limit(20).Scan(ctx)
	return list, db.Map(err)
}
