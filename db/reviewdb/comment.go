package reviewdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Comments returns the comments on the changes of a pull request, by thread
// and in order: those that were submitted, and the pending ones of an account.
func Comments(ctx context.Context, repo db.Repo, number, accountID int64) ([]*model.ReviewComment, error) {
	var rows []*model.ReviewComment
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Where("number = ?", number).Where("NOT pending OR author_id = ?", accountID).
			Order("thread", "id").Scan(ctx)
	})
	return rows, err
}

// Comment returns a comment by its id.
func Comment(ctx context.Context, repo db.Repo, id int64) (*model.ReviewComment, error) {
	c := new(model.ReviewComment)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(c).Where("id = ?", id).Scan(ctx)
	})
	return c, err
}

// InsertComment adds a comment and gives it an id; one without a thread
// begins one.
func InsertComment(ctx context.Context, tx *db.RepoTx, c *model.ReviewComment) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	if c.ID, err = tx.NextID(ctx); err != nil {
		return err
	}
	if c.Thread == 0 {
		c.Thread = c.ID
	}
	if c.Reactions == nil {
		c.Reactions = []model.Reaction{}
	}
	c.Version, c.CreatedAt, c.UpdatedAt = 1, tx.Now(), tx.Now()
	_, err = q.NewInsert().Model(c).Returning("NULL").Exec(ctx)
	return err
}

// UpdateComment writes the named columns of a comment.
func UpdateComment(ctx context.Context, tx *db.RepoTx, c *model.ReviewComment, columns ...string) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	c.UpdatedAt = tx.Now()
	_, err = q.NewUpdate().Model(c).Column(append(columns, "updated_at")...).WherePK().Exec(ctx)
	return err
}

// DeleteComment removes a comment. The next of its thread takes its place
// when it was the first.
func DeleteComment(ctx context.Context, tx *db.RepoTx, c *model.ReviewComment) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	if _, err := q.NewDelete().Model((*model.ReviewComment)(nil)).Where("id = ?", c.ID).Exec(ctx); err != nil || !c.First() {
		return err
	}
	_, err = q.NewRaw(`UPDATE ?scope.review_comments SET thread = n.id
		FROM (SELECT min(id) AS id FROM ?scope.review_comments WHERE thread = ?0) n
		WHERE thread = ?0 AND n.id IS NOT NULL`, c.ID).Exec(ctx)
	return err
}

// Publish makes the pending comments of a review visible to everyone and is
// how many there were.
func Publish(ctx context.Context, tx *db.RepoTx, reviewID int64) (int, error) {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return 0, err
	}
	res, err := q.NewUpdate().Model((*model.ReviewComment)(nil)).Set("pending = false").Set("created_at = ?", tx.Now()).
		Set("updated_at = ?", tx.Now()).Where("review_id = ? AND pending", reviewID).Exec(ctx)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// Unresolved counts the conversations that nobody has resolved.
func Unresolved(ctx context.Context, repo db.Repo, number int64) (n int, err error) {
	err = repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewRaw(`SELECT count(*) FROM ?scope.review_comments
			WHERE number = ? AND id = thread AND NOT pending AND resolved_at IS NULL`, number).Scan(ctx, &n)
	})
	return n, err
}

// CountComments counts the comments on the changes that everyone sees.
func CountComments(ctx context.Context, repo db.Repo, number int64) (n int, err error) {
	err = repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewRaw(`SELECT count(*) FROM ?scope.review_comments WHERE number = ? AND NOT pending`, number).Scan(ctx, &n)
	})
	return n, err
}
