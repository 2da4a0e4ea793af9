package notificationdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/uptrace/bun"
)

// Subscribed are who follows, wrote or is assigned to a thread of the
// repository, from after on: with its watchers, those whose inboxes tell of it.
func Subscribed(ctx context.Context, repo db.Repo, after int64, limit int) ([]int64, error) {
	var ids []int64
	err := repo.List(ctx, "issues", func(q bun.IDB) error {
		return q.NewRaw(`SELECT id FROM (
				SELECT id FROM ?scope.issue_records WHERE kind = 'subscription'
				UNION SELECT author_id FROM ?scope.issues
				UNION SELECT unnest(assignee_ids) FROM ?scope.issues) AS people
			WHERE id > ? ORDER BY id LIMIT ?`, after, limit).Scan(ctx, &ids)
	})
	return ids, err
}
