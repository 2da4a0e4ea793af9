// Package involvementdb holds the queries about what accounts have to do with
// threads.
package involvementdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Domain is the domain of an account's scope that holds the index.
const Domain = "involvement"

// Put writes what is so, except where something newer is written already.
func Put(ctx context.Context, tx *db.AccountTx, rows []*model.Involvement) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil || len(rows) == 0 {
		return err
	}
	_, err = q.NewInsert().Model(&rows).On("CONFLICT (repo_id, number) DO UPDATE").
		Set("pull = EXCLUDED.pull, open = EXCLUDED.open, title = EXCLUDED.title, roles = EXCLUDED.roles").
		Set("seq = EXCLUDED.seq, updated_at = EXCLUDED.updated_at").
		Where("inv.seq < EXCLUDED.seq").Returning("NULL").Exec(ctx)
	return err
}

// Forget deletes what the account had to do with repositories.
func Forget(ctx context.Context, tx *db.AccountTx, repoIDs []int64) error {
	if len(repoIDs) == 0 {
		return nil
	}
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.Involvement)(nil)).Where("repo_id IN (?)", bun.List(repoIDs)).Exec(ctx)
	return err
}

// Open lists the open threads in which the account has a role, the last
// changed first, at most limit.
func Open(ctx context.Context, account db.Account, limit int) ([]*model.Involvement, error) {
	var list []*model.Involvement
	err := account.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&list).Where("open AND roles <> '{}'").Order("updated_at DESC").Limit(int64(limit)).Scan(ctx)
	})
	return list, err
}

// People are who has to do with a repository's threads, from after on, for
// deleting the repository.
func People(ctx context.Context, repo db.Repo, after int64, limit int) ([]int64, error) {
	var ids []int64
	union := `SELECT author_id AS id FROM ?scope.issues UNION SELECT unnest(assignee_ids) FROM ?scope.issues`
	version, err := repo.Version(ctx, "pulls")
	if err != nil {
		return nil, err
	}
	if version > 0 {
		union += ` UNION SELECT unnest(reviewer_ids) FROM ?scope.pulls UNION SELECT author_id FROM ?scope.reviews`
	}
	err = repo.List(ctx, "issues", func(q bun.IDB) error {
		return q.NewRaw("SELECT id FROM ("+union+") AS people WHERE id > ? ORDER BY id LIMIT ?", after, limit).Scan(ctx, &ids)
	})
	return ids, err
}

// Thread is a thread with who has to do with it.
type Thread struct {
	model.Issue `bun:",extend"`

	ReviewerIDs []int64 `bun:"reviewer_ids,array,scanonly"`
	ReviewedIDs []int64 `bun:"reviewed_ids,array,scanonly"`
}

// Threads lists issues and pull requests with numbers above after, the
// smallest first; with only, this one alone.
func Threads(ctx context.Context, repo db.Repo, after int64, limit int, only int64) ([]*Thread, error) {
	version, err := repo.Version(ctx, "pulls")
	if err != nil {
		return nil, err
	}
	var list []*Thread
	err = repo.List(ctx, "issues", func(q bun.IDB) error {
		s := q.NewSelect().Model(&list).Column("i.number", "i.kind", "i.title", "i.state", "i.author_id", "i.assignee_ids", "i.updated_at").
			Where("i.kind <> ?", model.KindDiscussion).Order("i.number").Limit(int64(limit))
		if version > 0 {
			s = s.ColumnExpr("(SELECT p.reviewer_ids FROM ?scope.pulls p WHERE p.number = i.number) AS reviewer_ids").
				ColumnExpr(`ARRAY(SELECT DISTINCT r.author_id FROM ?scope.reviews r
					WHERE r.number = i.number AND r.submitted_at IS NOT NULL) AS reviewed_ids`)
		}
		if only != 0 {
			return s.Where("i.number = ?", only).Scan(ctx)
		}
		return s.Where("i.number > ?", after).Scan(ctx)
	})
	return list, err
}
