package repodb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Reach counts the repositories that the account may read and that are not
// everybody's, and those of them that it may write, up to 1,000 each, with the
// names of the owners, at most eight.
type Reach struct {
	Private, Write int
	Owners         []string
}

// ReachOf says how far an account's own rights reach.
func ReachOf(ctx context.Context, dir db.Directory, accountID int64) (Reach, error) {
	var rows []*found
	q := dir.NewSelect().Model(&rows).ColumnExpr("r.id, r.owner_id, r.visibility").ColumnExpr(roles+" AS roles", accountID).
		Relation("Owner", func(q *bun.SelectQuery) *bun.SelectQuery { return q.Column("id", "name", "kind") })
	q = Readable(q, accountID).Where(`(r.visibility = 'private' OR r.owner_id = ?0
		OR r.id IN (SELECT repo_id FROM directory.collaborators WHERE account_id = ?0)
		OR r.owner_id IN (SELECT org_id FROM directory.org_members WHERE user_id = ?0))`, accountID).OrderExpr("r.id").Limit(1000)
	var out Reach
	if err := q.Scan(ctx); err != nil {
		return out, db.Map(err)
	}
	seen := map[int64]bool{}
	for _, r := range rows {
		role := model.RoleNone
		for _, one := range r.Roles {
			role = model.MaxRole(role, model.Role(one))
		}
		if r.Visibility == model.Private {
			out.Private++
		}
		if role.AtLeast(model.RoleWrite) {
			out.Write++
		}
		if !seen[r.OwnerID] && r.Owner != nil && len(out.Owners) < 8 {
			seen[r.OwnerID], out.Owners = true, append(out.Owners, r.Owner.Name)
		}
	}
	return out, nil
}
