package pulldb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Waiting returns the open pull requests that are to be merged once nothing
// is missing, with their threads.
func Waiting(ctx context.Context, repo db.Repo) ([]*model.Pull, error) {
	var rows []*model.Pull
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Relation("Issue").Where("p.auto_merge IS NOT NULL AND p.merged_at IS NULL").
			Where("issue.state = 'open'").Order("p.number").Limit(100).Scan(ctx)
	})
	return rows, err
}

// maxStack is how many steps up and down a stack is followed.
const maxStack = 20

// Stack returns the open pull requests of the repository's own branches that
// one stands on, itself, and those that stand on it, with their threads, the
// lowest first.
func Stack(ctx context.Context, repo db.Repo, number int64) ([]*model.Pull, error) {
	var order []struct {
		Number int64 `bun:"number"`
	}
	var rows []*model.Pull
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		err := q.NewRaw(`WITH RECURSIVE
			own AS (SELECT p.number, p.base_ref, p.head_ref FROM ?scope.pulls p JOIN ?scope.issues i ON i.number = p.number
				WHERE p.merged_at IS NULL AND p.head_repo = ?0 AND i.state = 'open'),
			below AS (SELECT number, base_ref, head_ref, 0 AS step FROM own WHERE number = ?1
				UNION ALL SELECT o.number, o.base_ref, o.head_ref, b.step - 1 FROM own o JOIN below b ON o.head_ref = b.base_ref WHERE b.step > -?2),
			above AS (SELECT number, base_ref, head_ref, 0 AS step FROM own WHERE number = ?1
				UNION ALL SELECT o.number, o.base_ref, o.head_ref, a.step + 1 FROM own o JOIN above a ON o.base_ref = a.head_ref WHERE a.step < ?2)
			SELECT number FROM (SELECT number, min(step) AS step FROM (SELECT number, step FROM below UNION ALL SELECT number, step FROM above) x
				GROUP BY number) y ORDER BY step, number LIMIT 50`, repo.ID(), number, maxStack).Scan(ctx, &order)
		if err != nil || len(order) < 2 {
			return err
		}
		numbers := make([]int64, len(order))
		for i, o := range order {
			numbers[i] = o.Number
		}
		return q.NewSelect().Model(&rows).Column(prefixed(short)...).Relation("Issue").Where("p.number IN (?)", bun.List(numbers)).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	byNumber := map[int64]*model.Pull{}
	for _, r := range rows {
		byNumber[r.Number] = r
	}
	out := make([]*model.Pull, 0, len(rows))
	for _, o := range order {
		if p := byNumber[o.Number]; p != nil {
			out = append(out, p)
		}
	}
	return out, nil
}
