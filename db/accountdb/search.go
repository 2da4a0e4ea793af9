package accountdb

import (
	"context"
	"strings"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Search returns accounts whose name or display name is like the query, with
// typing errors allowed, the best first.
func Search(ctx context.Context, dir db.Directory, query string, limit int64) ([]*model.Account, error) {
	key := model.Key(strings.TrimSpace(query))
	var out []*model.Account
	q := dir.NewSelect().Model(&out).Where("deleted_at IS NULL AND suspended_at IS NULL").Limit(limit)
	prefix := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(key) + "%"
	if len(key) < 3 {
		q = q.Where("name_key LIKE ?", prefix)
	} else {
		q = q.Where("(name_key LIKE ? OR name_key % ? OR lower(display_name) LIKE ?)", prefix, key, "%"+prefix)
	}
	err := q.OrderExpr("name_key = ? DESC, name_key LIKE ? DESC, similarity(name_key, ?) DESC, name_key", key, prefix, key).Scan(ctx)
	return out, db.Map(err)
}
