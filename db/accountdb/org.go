package accountdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// OrgsOf returns the organisations that the user belongs to, by name.
func OrgsOf(ctx context.Context, dir db.Directory, userID int64) ([]*model.Account, error) {
	var orgs []*model.Account
	err := dir.NewSelect().Model(&orgs).Where("deleted_at IS NULL").
		Where("id IN (SELECT org_id FROM directory.org_members WHERE user_id = ?)", userID).Order("name_key").Scan(ctx)
	return orgs, db.Map(err)
}
