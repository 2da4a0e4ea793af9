// Package statusdb holds the queries about what is said of commits.
package statusdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Domain is the domain of a repository's scope that holds statuses.
const Domain = "statuses"

// Insert adds a status and gives it an id.
func Insert(ctx context.Context, tx *db.RepoTx, s *model.Status) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	if s.ID, err = tx.NextID(ctx); err != nil {
		return err
	}
	s.CreatedAt, s.UpdatedAt = tx.Now(), tx.Now()
	_, err = q.NewInsert().Model(s).Returning("NULL").Exec(ctx)
	return err
}

// Update writes a check run.
func Update(ctx context.Context, tx *db.RepoTx, s *model.Status) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	s.UpdatedAt = tx.Now()
	_, err = q.NewUpdate().Model(s).Column("context", "state", "description", "target_url", "data", "updated_at").WherePK().Exec(ctx)
	return err
}

// Find returns a status of a kind by its id.
func Find(ctx context.Context, repo db.Repo, kind string, id int64) (*model.Status, error) {
	s := new(model.Status)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(s).Where("id = ? AND kind = ?", id, kind).Scan(ctx)
	})
	return s, err
}

// List returns all that was said of a commit in a kind, the newest first, and
// how many there are.
func List(ctx context.Context, repo db.Repo, kind, sha string, limit, offset int) ([]*model.Status, int, error) {
	var rows []*model.Status
	var total int64
	err := repo.List(ctx, Domain, func(q bun.IDB) (err error) {
		total, err = q.NewSelect().Model(&rows).Where("kind = ? AND sha = ?", kind, sha).Order("id DESC").
			Limit(int64(limit)).Offset(int64(offset)).ScanAndCount(ctx)
		return err
	})
	return rows, int(total), err
}

// Latest returns the last word of each context and check run on the commits,
// by commit, in the order of their contexts. No kind is all.
func Latest(ctx context.Context, repo db.Repo, kind string, shas ...string) (map[string][]*model.Status, error) {
	out := map[string][]*model.Status{}
	if len(shas) == 0 {
		return out, nil
	}
	var rows []*model.Status
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		s := q.NewSelect().Model(&rows).DistinctOn("sha, kind, context").Where("sha IN (?)", bun.List(shas)).
			OrderExpr("sha, kind, context, id DESC")
		if kind != "" {
			s.Where("kind = ?", kind)
		}
		return s.Scan(ctx)
	})
	for _, r := range rows {
		out[r.SHA] = append(out[r.SHA], r)
	}
	return out, err
}

// Contexts returns the names that statuses and checks had lately, for
// choosing among them.
func Contexts(ctx context.Context, repo db.Repo) ([]string, error) {
	var names []string
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewRaw(`SELECT DISTINCT context FROM (SELECT context FROM ?scope.statuses ORDER BY id DESC LIMIT 2000) s
			ORDER BY context LIMIT 200`).Scan(ctx, &names)
	})
	return names, err
}
