// Package reviewdb holds the queries about reviews of pull requests and the
// comments on their changes.
package reviewdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Domain is the domain of a repository's scope that reviews live in, with the
// pull requests.
const Domain = "pulls"

// List returns the reviews of a pull request in the order in which they were
// begun: those that were submitted, and the pending one of an account.
func List(ctx context.Context, repo db.Repo, number, accountID int64) ([]*model.Review, error) {
	var rows []*model.Review
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Where("number = ?", number).
			Where("state <> ? OR author_id = ?", model.ReviewPending, accountID).Order("id").Scan(ctx)
	})
	return rows, err
}

// Find returns a review by its id.
func Find(ctx context.Context, repo db.Repo, number, id int64) (*model.Review, error) {
	r := new(model.Review)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(r).Where("id = ? AND number = ?", id, number).Scan(ctx)
	})
	return r, err
}

// Pending returns an account's review that is not submitted yet.
func Pending(ctx context.Context, repo db.Repo, number, accountID int64) (*model.Review, error) {
	r := new(model.Review)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(r).Where("number = ? AND author_id = ? AND state = ?", number, accountID, model.ReviewPending).
			Limit(1).Scan(ctx)
	})
	return r, err
}

// Insert adds a review and gives it an id.
func Insert(ctx context.Context, tx *db.RepoTx, r *model.Review) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	if r.ID, err = tx.NextID(ctx); err != nil {
		return err
	}
	if r.Reactions == nil {
		r.Reactions = []model.Reaction{}
	}
	r.CreatedAt, r.UpdatedAt = tx.Now(), tx.Now()
	_, err = q.NewInsert().Model(r).Returning("NULL").Exec(ctx)
	return err
}

// Update writes the named columns of a review.
func Update(ctx context.Context, tx *db.RepoTx, r *model.Review, columns ...string) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	r.UpdatedAt = tx.Now()
	_, err = q.NewUpdate().Model(r).Column(append(columns, "updated_at")...).WherePK().Exec(ctx)
	return err
}

// Delete removes a review with its comments that are pending.
func Delete(ctx context.Context, tx *db.RepoTx, r *model.Review) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	if _, err := q.NewDelete().Model((*model.ReviewComment)(nil)).Where("review_id = ? AND pending", r.ID).Exec(ctx); err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.Review)(nil)).Where("id = ?", r.ID).Exec(ctx)
	return err
}

// Standing is each author's last word among reviews that were submitted, by
// author: an approval or a request for changes that was not dismissed. Reviews
// that only comment change no vote.
func Standing(list []*model.Review) map[int64]*model.Review {
	out := map[int64]*model.Review{}
	for _, r := range list {
		if r.Decides() || r.State == model.ReviewDismissed {
			if old := out[r.AuthorID]; old == nil || later(r, old) {
				out[r.AuthorID] = r
			}
		}
	}
	for id, r := range out {
		if r.State == model.ReviewDismissed {
			delete(out, id)
		}
	}
	return out
}

func later(a, b *model.Review) bool {
	return a.SubmittedAt != nil && (b.SubmittedAt == nil || !a.SubmittedAt.Before(*b.SubmittedAt))
}
