// Package threaddb holds the queries about numbered threads that issues, pull
// requests and discussions share: the first post, the timeline, reactions,
// subscriptions and the history of texts.
package threaddb

import (
	"context"
	"slices"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Domain is the domain of a repository's scope that holds threads.
const Domain = "issues"

// Find returns a thread by its number.
func Find(ctx context.Context, repo db.Repo, number int64) (*model.Issue, error) {
	issue := new(model.Issue)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(issue).Where("number = ?", number).Scan(ctx)
	})
	return issue, err
}

// FindMany returns the threads among the numbers that exist, by number.
func FindMany(ctx context.Context, repo db.Repo, numbers []int64) (map[int64]*model.Issue, error) {
	out := map[int64]*model.Issue{}
	if len(numbers) == 0 {
		return out, nil
	}
	var rows []*model.Issue
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).ExcludeColumn("body").Where("number IN (?)", bun.List(numbers)).Scan(ctx)
	})
	for _, r := range rows {
		out[r.Number] = r
	}
	return out, err
}

// Insert adds a thread.
func Insert(ctx context.Context, tx *db.RepoTx, issue *model.Issue) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	fill(issue)
	_, err = q.NewInsert().Model(issue).Returning("NULL").Exec(ctx)
	return err
}

func fill(i *model.Issue) {
	for _, list := range []*[]int64{&i.LabelIDs, &i.AssigneeIDs, &i.Children, &i.BlockedBy, &i.Blocking, &i.Refs} {
		if *list == nil {
			*list = []int64{}
		}
	}
	if i.Reactions == nil {
		i.Reactions = []model.Reaction{}
	}
}

// Update writes the named columns of a thread, and updated_at.
func Update(ctx context.Context, tx *db.RepoTx, issue *model.Issue, columns ...string) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	fill(issue)
	issue.UpdatedAt = tx.Now()
	_, err = q.NewUpdate().Model(issue).Column(append(columns, "updated_at")...).WherePK().Exec(ctx)
	return err
}

// Delete removes a thread with its timeline and records; its number is never
// used again.
func Delete(ctx context.Context, tx *db.RepoTx, number int64) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	if _, err = q.NewDelete().Model((*model.Issue)(nil)).Where("number = ?", number).Exec(ctx); err != nil {
		return err
	}
	if _, err = q.NewDelete().Model((*model.TimelineItem)(nil)).Where("number = ?", number).Exec(ctx); err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.IssueRecord)(nil)).
		Where("kind IN (?)", bun.List([]string{model.RecordSubscription, model.RecordEdit, model.RecordDraft})).
		Where("key LIKE ?", prefix(number)+"%").Exec(ctx)
	return err
}

// Known returns which of the numbers are threads of the repository, as short
// records for links.
func Known(ctx context.Context, repo db.Repo, numbers []int64) (map[int64]*model.Issue, error) {
	out := map[int64]*model.Issue{}
	if len(numbers) == 0 {
		return out, nil
	}
	var rows []*model.Issue
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Column(shortColumns...).Where("number IN (?)", bun.List(numbers)).Scan(ctx)
	})
	for _, r := range rows {
		out[r.Number] = r
	}
	return out, err
}

var shortColumns = []string{"number", "id", "kind", "title", "state", "state_reason", "author_id", "assignee_ids", "confidential", "draft"}

// SetReactions writes the reactions of a thread's first post, or of a comment
// when it is not 0. Other times than those of edits stay.
func SetReactions(ctx context.Context, tx *db.RepoTx, number, comment int64, list []model.Reaction) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	if list == nil {
		list = []model.Reaction{}
	}
	if comment != 0 {
		_, err = q.NewUpdate().Model(&model.TimelineItem{ID: comment, Reactions: list}).Column("reactions").WherePK().Exec(ctx)
	} else {
		_, err = q.NewUpdate().Model(&model.Issue{Number: number, Reactions: list}).Column("reactions").WherePK().Exec(ctx)
	}
	return err
}

// CountPins counts the pinned threads of a kind.
func CountPins(ctx context.Context, repo db.Repo, kind string) (n int, err error) {
	err = repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewRaw("SELECT count(*) FROM ?scope.issues WHERE kind = ? AND pinned_at IS NOT NULL", kind).Scan(ctx, &n)
	})
	return n, err
}

// Untie takes a thread out of the sub-issues and dependencies of others.
func Untie(ctx context.Context, tx *db.RepoTx, i *model.Issue) error {
	others := slices.Concat([]int64{i.Parent}, i.Children, i.BlockedBy, i.Blocking)
	if !slices.ContainsFunc(others, func(n int64) bool { return n != 0 }) {
		return nil
	}
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewRaw(`UPDATE ?scope.issues SET children = array_remove(children, ?0), blocked_by = array_remove(blocked_by, ?0),
		blocking = array_remove(blocking, ?0), parent = NULLIF(parent, ?0) WHERE number IN (?1)`, i.Number, bun.List(others)).Exec(ctx)
	return err
}
