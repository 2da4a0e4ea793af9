package accountdb

import (
	"context"
	"strings"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Search returns accounts whose name or display name is like the query, with
// typing errors allowed, the best first. Names that begin with it come from an
// index in their order; only where they are few is the rest looked at.
func Search(ctx context.Context, dir db.Directory, query string, limit int64) ([]*model.Account, error) {
	list, _, err := SearchPage(ctx, dir, query, limit, 0)
	return list, err
}

// SearchPage is Search by pages, and says whether more follow.
func SearchPage(ctx context.Context, dir db.Directory, query string, limit, offset int64) (list []*model.Account, more bool, err error) {
	key := model.Key(strings.TrimSpace(query))
	prefix := likePrefix(key)
	begin := func(out *[]*model.Account) *bun.SelectQuery {
		return dir.NewSelect().Model(out).Where("deleted_at IS NULL AND suspended_at IS NULL").Limit(limit + 1)
	}
	if err := begin(&list).Where("name_key LIKE ?", prefix).OrderExpr("name_key").Offset(offset).Scan(ctx); err != nil {
		return nil, false, db.Map(err)
	}
	if int64(len(list)) > limit {
		return list[:limit], true, nil
	}
	if len(key) < 3 || offset > 0 {
		return list, false, nil
	}
	var near []*model.Account
	err = begin(&near).Where("(name_key % ? OR lower(display_name) LIKE ?)", key, "%"+prefix).Where("name_key NOT LIKE ?", prefix).
		OrderExpr("similarity(name_key, ?) DESC, name_key", key).Scan(ctx)
	if rs := []rune(key); err == nil && len(list)+len(near) == 0 && len(rs) > 3 {
		// Nothing is near: what begins with the same letter and looks somewhat alike.
		err = begin(&near).Where("name_key LIKE ?", likePrefix(string(rs[:1]))).Where("similarity(name_key, ?) > 0.2", key).
			OrderExpr("similarity(name_key, ?) DESC, name_key", key).Scan(ctx)
	}
	list = append(list, near...)
	if int64(len(list)) > limit {
		list = list[:limit]
	}
	return list, false, db.Map(err)
}

func likePrefix(key string) string {
	return strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(key) + "%"
}
