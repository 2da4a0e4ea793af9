package repodb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Filter chooses repositories for an operator.
type Filter struct {
	Query string
	// State is "", "public", "private", "archived" or "deleted"; deleted
	// ones are in no other list.
	State string
	// Sort is "" for the newest first, "size" or "pushed".
	Sort          string
	Limit, Offset int
}

// Oversee lists repositories for an operator, whoever may read them, with one
// more than limit where there are more.
func Oversee(ctx context.Context, dir db.Directory, f Filter) ([]*model.Repo, error) {
	var list []*model.Repo
	q := dir.NewSelect().Model(&list).Relation("Owner").Limit(int64(f.Limit + 1)).Offset(int64(f.Offset))
	switch f.State {
	case "deleted":
		q = q.Where("r.deleted_at IS NOT NULL")
	case "archived":
		q = q.Where("r.deleted_at IS NULL AND r.archived_at IS NOT NULL")
	case model.Public, model.Private:
		q = q.Where("r.deleted_at IS NULL AND r.visibility = ?", f.State)
	default:
		q = q.Where("r.deleted_at IS NULL")
	}
	switch f.Sort {
	case "size":
		q = q.OrderExpr("r.size_kb DESC, r.id DESC")
	case "pushed":
		q = q.OrderExpr("r.pushed_at DESC NULLS LAST, r.id DESC")
	default:
		q = q.OrderExpr("r.id DESC")
	}
	return list, db.Map(search(q, f.Query).Scan(ctx))
}
