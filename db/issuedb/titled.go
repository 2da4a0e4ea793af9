package issuedb

import (
	"context"
	"strings"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/uptrace/bun"
)

// Titled returns threads of any kind whose titles hold each of the words, open
// ones first and what changed last first. Without seeAll it leaves out what is
// confidential to the account.
func Titled(ctx context.Context, repo db.Repo, words string, accountID int64, seeAll bool, limit int) ([]*model.Issue, error) {
	var list []*model.Issue
	err := repo.List(ctx, threaddb.Domain, func(q bun.IDB) error {
		s := q.NewSelect().Model(&list).Column("number", "kind", "title", "state", "author_id", "assignee_ids", "confidential").
			OrderExpr("state = 'open' DESC, updated_at DESC").Limit(int64(limit))
		for _, w := range strings.Fields(model.Key(words)) {
			s = s.Where("strpos(lower(title), ?) > 0", w)
		}
		if !seeAll {
			s = s.Where("(NOT confidential OR author_id = ? OR assignee_ids @> ARRAY[?]::bigint[])", accountID, accountID)
		}
		return s.Scan(ctx)
	})
	return list, err
}
