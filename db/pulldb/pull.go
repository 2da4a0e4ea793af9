// Package pulldb holds the queries about what pull requests have beyond their
// threads.
package pulldb

import (
	"context"
	"slices"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/uptrace/bun"
)

// Domain is the domain of a repository's scope that holds pull requests and
// their reviews.
const Domain = "pulls"

// Tables makes the tables of pull requests and of their threads where the
// scope has none yet, and returns them for writing.
func Tables(ctx context.Context, tx *db.RepoTx) (bun.IDB, error) {
	if _, err := tx.Write(ctx, threaddb.Domain); err != nil {
		return nil, err
	}
	return tx.Write(ctx, Domain)
}

// Find returns a pull request with its thread.
func Find(ctx context.Context, repo db.Repo, number int64) (*model.Pull, error) {
	pull := new(model.Pull)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(pull).Relation("Issue").Where("p.number = ?", number).Scan(ctx)
	})
	return pull, err
}

// short are the columns that lists need.
var short = []string{"number", "base_ref", "base_sha", "head_repo", "head_ref", "head_sha", "head_label", "merge_base",
	"mergeable", "conflicts", "commits", "additions", "deletions", "changed_files", "reviewer_ids", "team_ids",
	"maintainer_edits", "auto_merge", "merging", "merge_sha", "merge_method", "merged_by", "merged_at", "updated_at"}

// ByNumbers returns what is known of the pull requests with these numbers,
// without threads and rounds.
func ByNumbers(ctx context.Context, repo db.Repo, numbers []int64) (map[int64]*model.Pull, error) {
	out := map[int64]*model.Pull{}
	if len(numbers) == 0 {
		return out, nil
	}
	var rows []*model.Pull
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Column(short...).Where("p.number IN (?)", bun.List(numbers)).Scan(ctx)
	})
	for _, r := range rows {
		out[r.Number] = r
	}
	return out, err
}

// Filter chooses pull requests by their branches; empty fields choose all.
type Filter struct {
	State   string
	BaseRef string
	// HeadLabel is owner:branch.
	HeadLabel string
	HeadRepo  int64
	HeadRef   string
	// Sort is created, updated, popularity (comments) or long-running.
	Sort          string
	Ascending     bool
	Limit, Offset int
}

// List returns the pull requests that match, with their threads, and how many
// there are.
func List(ctx context.Context, repo db.Repo, f Filter) ([]*model.Pull, int, error) {
	var rows []*model.Pull
	total := 0
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		s := q.NewSelect().Model(&rows).Column(prefixed(short)...).Relation("Issue")
		if f.State != "" {
			s.Where("issue.state = ?", f.State)
		}
		if f.BaseRef != "" {
			s.Where("p.base_ref = ?", f.BaseRef)
		}
		if f.HeadLabel != "" {
			s.Where("lower(p.head_label) = lower(?)", f.HeadLabel)
		}
		if f.HeadRepo != 0 {
			s.Where("p.head_repo = ?", f.HeadRepo)
		}
		if f.HeadRef != "" {
			s.Where("p.head_ref = ?", f.HeadRef)
		}
		dir := " DESC"
		if f.Ascending {
			dir = ""
		}
		order := "issue.created_at"
		switch f.Sort {
		case "updated":
			order = "issue.updated_at"
		case "popularity":
			order = "issue.comments"
		}
		if f.Limit > 0 {
			s.Limit(int64(f.Limit)).Offset(int64(f.Offset))
		}
		n, err := s.OrderExpr(order + dir + ", p.number" + dir).ScanAndCount(ctx)
		total = int(n)
		return err
	})
	return rows, total, err
}

func prefixed(columns []string) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = "p." + c
	}
	return out
}

// Touching returns the open pull requests whose head or base lies in one of
// the branches of headRepo, or of the scope's own repository for bases, with
// their threads and rounds. No branches are all.
func Touching(ctx context.Context, repo db.Repo, headRepo int64, branches []string) ([]*model.Pull, error) {
	var rows []*model.Pull
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		s := q.NewSelect().Model(&rows).Relation("Issue").Where("issue.state = 'open'").Order("p.number")
		own := repo.ID() == headRepo
		switch {
		case len(branches) == 0 && own:
		case len(branches) == 0:
			s.Where("p.head_repo = ?", headRepo)
		case own:
			s.Where("p.base_ref IN (?) OR (p.head_repo = ? AND p.head_ref IN (?))", bun.List(branches), headRepo, bun.List(branches))
		default:
			s.Where("p.head_repo = ? AND p.head_ref IN (?)", headRepo, bun.List(branches))
		}
		return s.Scan(ctx)
	})
	return rows, err
}

// LastMergedFrom returns the pull request that was last merged from a branch
// of the repository itself.
func LastMergedFrom(ctx context.Context, repo db.Repo, branch string) (*model.Pull, error) {
	pull := new(model.Pull)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(pull).Column(prefixed(short)...).
			Where("p.head_repo = ? AND p.head_ref = ? AND p.merged_at IS NOT NULL", repo.ID(), branch).
			Order("p.merged_at DESC").Limit(1).Scan(ctx)
	})
	return pull, err
}

// Insert adds a pull request to its thread.
func Insert(ctx context.Context, tx *db.RepoTx, p *model.Pull) error {
	q, err := Tables(ctx, tx)
	if err != nil {
		return err
	}
	fill(p)
	p.UpdatedAt = tx.Now()
	_, err = q.NewInsert().Model(p).Returning("NULL").Exec(ctx)
	return err
}

// Update writes the named columns.
func Update(ctx context.Context, tx *db.RepoTx, p *model.Pull, columns ...string) error {
	q, err := Tables(ctx, tx)
	if err != nil {
		return err
	}
	fill(p)
	p.UpdatedAt = tx.Now()
	_, err = q.NewUpdate().Model(p).Column(append(columns, "updated_at")...).WherePK().Exec(ctx)
	return err
}

func fill(p *model.Pull) {
	if p.Conflicts == nil {
		p.Conflicts = []string{}
	}
	if p.ReviewerIDs == nil {
		p.ReviewerIDs = []int64{}
	}
	if p.TeamIDs == nil {
		p.TeamIDs = []int64{}
	}
	if p.Rounds == nil {
		p.Rounds = []model.Round{}
	}
}

// OfCommit returns the pull requests that a commit is the head, a former head
// or the merge of, the newest first.
func OfCommit(ctx context.Context, repo db.Repo, sha string) ([]*model.Pull, error) {
	var rows []*model.Pull
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Column(prefixed(short)...).Relation("Issue").
			Where("p.head_sha = ?0 OR p.merge_sha = ?0 OR p.rounds @> jsonb_build_array(jsonb_build_object('head', ?0::text))", sha).
			Order("p.number DESC").Limit(30).Scan(ctx)
	})
	return rows, err
}

// Merged returns the newest limit merged pull requests with their threads, in
// the order in which they were merged.
func Merged(ctx context.Context, repo db.Repo, limit int) ([]*model.Pull, error) {
	var rows []*model.Pull
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Column(prefixed(short)...).Relation("Issue").Where("p.merged_at IS NOT NULL").
			OrderExpr("p.merged_at DESC, p.number DESC").Limit(int64(limit)).Scan(ctx)
	})
	slices.Reverse(rows)
	return rows, err
}
