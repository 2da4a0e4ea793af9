package threaddb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Append adds items to the timelines that their numbers name. Ids and times
// are filled in.
func Append(ctx context.Context, tx *db.RepoTx, items ...*model.TimelineItem) error {
	if len(items) == 0 {
		return nil
	}
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	for _, t := range items {
		if t.ID == 0 {
			if t.ID, err = tx.NextID(ctx); err != nil {
				return err
			}
		}
		if t.CreatedAt.IsZero() {
			t.CreatedAt = tx.Now()
		}
		if t.UpdatedAt.IsZero() {
			t.UpdatedAt = t.CreatedAt
		}
		if t.Version == 0 {
			t.Version = 1
		}
		if t.Refs == nil {
			t.Refs = []int64{}
		}
		if t.Reactions == nil {
			t.Reactions = []model.Reaction{}
		}
	}
	_, err = q.NewInsert().Model(&items).Returning("NULL").Exec(ctx)
	return err
}

// Window says which part of a timeline is wanted: the first and the last
// items, or all those after or before one.
type Window struct {
	// Kinds restricts the kinds of items; none means all.
	Kinds []string
	// After and Before are ids, exclusive; 0 is no limit.
	After, Before int64
	// Head and Tail are how many items from the start and from the end; 0
	// and 0 mean all.
	Head, Tail int
}

// Timeline returns the items of a thread in order, and how many the window
// left out between Head and Tail.
func Timeline(ctx context.Context, repo db.Repo, number int64, w Window) (items []*model.TimelineItem, hidden int, err error) {
	var rows []struct {
		model.TimelineItem `bun:",extend"`

		Count int `bun:"count,scanonly"`
	}
	err = repo.List(ctx, Domain, func(q bun.IDB) error {
		part := func(desc bool, limit int) *bun.SelectQuery {
			s := q.NewSelect().Model((*model.TimelineItem)(nil)).Where("number = ?", number)
			w.restrict(s)
			if desc {
				s.Order("id DESC")
			} else {
				s.Order("id")
			}
			if limit > 0 {
				s.Limit(int64(limit))
			}
			return s
		}
		if w.Head == 0 && w.Tail == 0 {
			return part(false, 0).Scan(ctx, &rows)
		}
		count := q.NewSelect().Model((*model.TimelineItem)(nil)).ColumnExpr("count(*)").Where("number = ?", number)
		w.restrict(count)
		head := q.NewSelect().TableExpr("(?) AS h", part(false, w.Head))
		all := q.NewSelect().TableExpr("(?) AS l", part(true, w.Tail))
		switch {
		case w.Head == 0:
		case w.Tail == 0:
			all = head
		default:
			all = head.Union(all)
		}
		return q.NewSelect().ColumnExpr("t.*").ColumnExpr("(?) AS count", count).
			TableExpr("(?) AS t", all).OrderExpr("t.id").Scan(ctx, &rows)
	})
	items = make([]*model.TimelineItem, len(rows))
	for i := range rows {
		items[i] = &rows[i].TimelineItem
		hidden = rows[i].Count - len(rows)
	}
	return items, max(0, hidden), err
}

func (w Window) restrict(s *bun.SelectQuery) {
	if len(w.Kinds) > 0 {
		s.Where("kind IN (?)", bun.List(w.Kinds))
	}
	if w.After > 0 {
		s.Where("id > ?", w.After)
	}
	if w.Before > 0 {
		s.Where("id < ?", w.Before)
	}
}

// PageOf says which comments ListItems returns.
type PageOf struct {
	// Number is the thread, 0 for all of the repository.
	Number   int64
	Kinds    []string // none means all
	NotKinds []string
	// Since is a lower limit of updated_at in RFC 3339, "" for none.
	Since            string
	Newest, ByUpdate bool
	Limit, Offset    int
	// SeeAll includes threads that are confidential to AccountID.
	SeeAll    bool
	AccountID int64
}

// Items returns a page of timeline items, oldest first unless Newest. It asks
// for one more than Limit, so that the caller knows whether more follow.
func Items(ctx context.Context, repo db.Repo, p PageOf) ([]*model.TimelineItem, error) {
	var rows []*model.TimelineItem
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		s := q.NewSelect().Model(&rows).Limit(int64(p.Limit) + 1).Offset(int64(p.Offset))
		if p.Number != 0 {
			s.Where("number = ?", p.Number)
		} else if !p.SeeAll {
			s.Where("number NOT IN (SELECT number FROM ?scope.issues WHERE confidential AND author_id <> ? AND NOT assignee_ids @> ARRAY[?]::bigint[])",
				p.AccountID, p.AccountID)
		}
		if len(p.Kinds) > 0 {
			s.Where("kind IN (?)", bun.List(p.Kinds))
		}
		if len(p.NotKinds) > 0 {
			s.Where("kind NOT IN (?)", bun.List(p.NotKinds))
		}
		if p.Since != "" {
			s.Where("updated_at >= ?", p.Since)
		}
		order := "id"
		if p.ByUpdate {
			order = "updated_at"
		}
		if p.Newest {
			order += " DESC"
		}
		return s.OrderExpr(order).Scan(ctx)
	})
	return rows, err
}

// Item returns one item of any thread by its id.
func Item(ctx context.Context, repo db.Repo, id int64) (*model.TimelineItem, error) {
	item := new(model.TimelineItem)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(item).Where("id = ?", id).Scan(ctx)
	})
	return item, err
}

// UpdateItem writes the named columns of an item, and updated_at.
func UpdateItem(ctx context.Context, tx *db.RepoTx, item *model.TimelineItem, columns ...string) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	item.UpdatedAt = tx.Now()
	if item.Refs == nil {
		item.Refs = []int64{}
	}
	_, err = q.NewUpdate().Model(item).Column(append(columns, "updated_at")...).WherePK().Exec(ctx)
	return err
}

// DeleteItem removes an item.
func DeleteItem(ctx context.Context, tx *db.RepoTx, id int64) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.TimelineItem)(nil)).Where("id = ?", id).Exec(ctx)
	return err
}

// CrossRefs returns which of the numbers have a line already that says that
// the thread source refers to them.
func CrossRefs(ctx context.Context, repo db.Repo, numbers []int64, sourceRepo, source int64) (map[int64]bool, error) {
	out := map[int64]bool{}
	var have []int64
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model((*model.TimelineItem)(nil)).Column("number").Where("number IN (?)", bun.List(numbers)).
			Where("kind = ?", model.ItemCrossRef).
			Where("coalesce((data->>'repo')::bigint, 0) = ? AND (data->>'number')::bigint = ?", sourceRepo, source).
			Scan(ctx, &have)
	})
	for _, n := range have {
		out[n] = true
	}
	return out, err
}

// Participants returns the accounts that wrote in a thread or are assigned.
func Participants(ctx context.Context, repo db.Repo, number int64) ([]int64, error) {
	var ids []int64
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewRaw(`SELECT author_id FROM ?scope.issues WHERE number = ?0
			UNION SELECT unnest(assignee_ids) FROM ?scope.issues WHERE number = ?0
			UNION SELECT author_id FROM ?scope.timeline WHERE number = ?0 AND kind = 'comment' ORDER BY 1`, number).Scan(ctx, &ids)
	})
	return ids, err
}

// CommitRefs returns which of the threads have a line of a commit already.
func CommitRefs(ctx context.Context, repo db.Repo, commit string, among []int64) ([]int64, error) {
	var numbers []int64
	if len(among) == 0 {
		return nil, nil
	}
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model((*model.TimelineItem)(nil)).Column("number").
			Where("kind IN (?)", bun.List([]string{model.ItemReferenced, model.ItemClosed})).
			Where("number IN (?)", bun.List(among)).Where("data->>'commit' = ?", commit).Scan(ctx, &numbers)
	})
	return numbers, err
}

// SetReviewBody replaces the text of a review in its thread's timeline.
func SetReviewBody(ctx context.Context, tx *db.RepoTx, number, review int64, body string) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewUpdate().Model((*model.TimelineItem)(nil)).Set("body = ?", body).Set("edited_at = ?", tx.Now()).
		Where("number = ? AND kind = ? AND (data->>'review')::bigint = ?", number, model.ItemReviewed, review).Exec(ctx)
	return err
}
