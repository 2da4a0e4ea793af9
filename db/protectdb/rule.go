// Package protectdb holds the queries about rules for branches.
package protectdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Domain is the domain of a repository's scope that holds rules.
const Domain = "protection"

// List returns the rules of a repository by pattern.
func List(ctx context.Context, repo db.Repo) ([]*model.BranchRule, error) {
	var rules []*model.BranchRule
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rules).Order("pattern").Scan(ctx)
	})
	return rules, err
}

// For returns the rules that are about a branch.
func For(ctx context.Context, repo db.Repo, branch string) ([]*model.BranchRule, error) {
	all, err := List(ctx, repo)
	var out []*model.BranchRule
	for _, r := range all {
		if r.Matches(branch) {
			out = append(out, r)
		}
	}
	return out, err
}

// Save adds a rule, or replaces the one with its id.
func Save(ctx context.Context, tx *db.RepoTx, r *model.BranchRule) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	r.UpdatedAt = tx.Now()
	if r.ID == 0 {
		if r.ID, err = tx.NextID(ctx); err != nil {
			return err
		}
		r.CreatedAt = tx.Now()
	}
	_, err = q.NewInsert().Model(r).On("CONFLICT (id) DO UPDATE").Set("pattern = EXCLUDED.pattern").Set("data = EXCLUDED.data").
		Set("updated_at = EXCLUDED.updated_at").Returning("NULL").Exec(ctx)
	return err
}

// Delete removes a rule.
func Delete(ctx context.Context, tx *db.RepoTx, id int64) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.BranchRule)(nil)).Where("id = ?", id).Exec(ctx)
	return err
}
