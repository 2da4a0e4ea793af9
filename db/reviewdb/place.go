package reviewdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Unplaced returns the comments that began a thread of a pull request and
// whose place in a round, which is compared with base, is not known.
func Unplaced(ctx context.Context, repo db.Repo, number int64, round int, base string) ([]*model.ReviewComment, error) {
	var rows []*model.ReviewComment
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Where("number = ? AND id = thread", number).
			Where("place IS NULL OR (place->>'round')::int <> ? OR side = 'LEFT' AND coalesce(place->>'base', '') <> ?", round, base).Order("id").Scan(ctx)
	})
	return rows, err
}

// SetPlace writes where a comment stands.
func SetPlace(ctx context.Context, tx *db.RepoTx, id int64, p *model.ReviewPlace) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	c := &model.ReviewComment{ID: id, Place: p}
	_, err = q.NewUpdate().Model(c).Column("place").WherePK().Exec(ctx)
	return err
}

// Thread returns the comments of a conversation in order: those that were
// submitted, and the pending ones of an account.
func Thread(ctx context.Context, repo db.Repo, thread, accountID int64) ([]*model.ReviewComment, error) {
	var rows []*model.ReviewComment
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Where("thread = ?", thread).Where("NOT pending OR author_id = ?", accountID).
			Order("id").Scan(ctx)
	})
	return rows, err
}

// Resolve notes who took a conversation for finished; 0 takes it back.
func Resolve(ctx context.Context, tx *db.RepoTx, thread, by int64) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	u := q.NewUpdate().Model((*model.ReviewComment)(nil)).Where("thread = ?", thread)
	if by == 0 {
		u.Set("resolved_by = NULL, resolved_at = NULL")
	} else {
		u.Set("resolved_by = ?, resolved_at = ?", by, tx.Now())
	}
	_, err = u.Exec(ctx)
	return err
}

// PageOf says which comments Page returns.
type PageOf struct {
	// Number is a pull request, 0 for all; Review one of its reviews.
	Number, Review int64
	// Since is a lower limit of the last change in RFC 3339, "" for none.
	Since string
	// ByUpdate orders by the last change instead of the time of writing.
	ByUpdate, Newest bool
	AccountID        int64
	Limit, Offset    int
}

// Page returns comments on changes, those that the account may see, and how
// many there are.
func Page(ctx context.Context, repo db.Repo, p PageOf) ([]*model.ReviewComment, int, error) {
	var rows []*model.ReviewComment
	total := int64(0)
	err := repo.List(ctx, Domain, func(q bun.IDB) (err error) {
		s := q.NewSelect().Model(&rows).Where("NOT pending OR author_id = ?", p.AccountID)
		if p.Number != 0 {
			s.Where("number = ?", p.Number)
		}
		if p.Review != 0 {
			s.Where("review_id = ?", p.Review)
		} else {
			s.Where("NOT pending")
		}
		if p.Since != "" {
			s.Where("updated_at >= ?::timestamptz", p.Since)
		}
		order, dir := "created_at", ""
		if p.ByUpdate {
			order = "updated_at"
		}
		if p.Newest {
			dir = " DESC"
		}
		total, err = s.OrderExpr(order + dir + ", id" + dir).Limit(int64(p.Limit)).Offset(int64(p.Offset)).ScanAndCount(ctx)
		return err
	})
	return rows, int(total), err
}
