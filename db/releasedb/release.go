// Package releasedb holds the queries about releases and their files.
package releasedb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Domain is the domain of a repository's scope that holds releases.
const Domain = "releases"

// Insert adds a release and gives it an id.
func Insert(ctx context.Context, tx *db.RepoTx, r *model.Release) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	if r.ID, err = tx.NextID(ctx); err != nil {
		return err
	}
	r.Version, r.CreatedAt, r.UpdatedAt = 1, tx.Now(), tx.Now()
	_, err = q.NewInsert().Model(r).Returning("NULL").Exec(ctx)
	return err
}

// Update writes a release.
func Update(ctx context.Context, tx *db.RepoTx, r *model.Release) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	r.UpdatedAt = tx.Now()
	_, err = q.NewUpdate().Model(r).ExcludeColumn("id", "created_at").WherePK().Exec(ctx)
	return err
}

// Delete removes a release with its files' rows.
func Delete(ctx context.Context, tx *db.RepoTx, id int64) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	if _, err := q.NewDelete().Model((*model.ReleaseAsset)(nil)).Where("release_id = ?", id).Exec(ctx); err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.Release)(nil)).Where("id = ?", id).Exec(ctx)
	return err
}

// Unmark takes the mark of the latest release from all but one.
func Unmark(ctx context.Context, tx *db.RepoTx, but int64) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewUpdate().Model((*model.Release)(nil)).Set("latest = 0").Where("latest = 1 AND id <> ?", but).Exec(ctx)
	return err
}

// Find returns a release, drafts too, without its files.
func Find(ctx context.Context, repo db.Repo, id int64) (*model.Release, error) {
	return one(ctx, repo, func(s *bun.SelectQuery) { s.Where("id = ?", id) })
}

// ByTag returns the published release of a tag, without its files.
func ByTag(ctx context.Context, repo db.Repo, tag string) (*model.Release, error) {
	return one(ctx, repo, func(s *bun.SelectQuery) { s.Where("tag = ? AND NOT draft", tag) })
}

// Latest returns the latest release that is no pre-release: the marked one,
// or the newest.
func Latest(ctx context.Context, repo db.Repo) (*model.Release, error) {
	return one(ctx, repo, func(s *bun.SelectQuery) {
		s.Where("NOT draft AND NOT prerelease AND latest >= 0").OrderExpr("latest DESC, published_at DESC, id DESC").Limit(1)
	})
}

// Before returns the newest published release that is older than one of this
// id; 0 is the newest of all. Of pre-releases it is asked for only before a
// pre-release.
func Before(ctx context.Context, repo db.Repo, id int64, tag string, pre bool) (*model.Release, error) {
	return one(ctx, repo, func(s *bun.SelectQuery) {
		s.Where("NOT draft AND id <> ? AND tag <> ?", id, tag)
		if !pre {
			s.Where("NOT prerelease")
		}
		if id != 0 {
			s.Where("published_at < coalesce((SELECT published_at FROM ?scope.releases WHERE id = ?), now())", id)
		}
		s.OrderExpr("published_at DESC, id DESC").Limit(1)
	})
}

func one(ctx context.Context, repo db.Repo, which func(s *bun.SelectQuery)) (*model.Release, error) {
	r := new(model.Release)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		s := q.NewSelect().Model(r)
		which(s)
		return s.Scan(ctx)
	})
	return r, err
}

// Filter chooses releases of a list.
type Filter struct {
	Drafts        bool // also drafts
	Query         string
	Limit, Offset int
}

// List returns releases, drafts first and then the newest, and how many there
// are.
func List(ctx context.Context, repo db.Repo, f Filter) ([]*model.Release, int, error) {
	var rows []*model.Release
	var total int64
	err := repo.List(ctx, Domain, func(q bun.IDB) (err error) {
		s := q.NewSelect().Model(&rows)
		if !f.Drafts {
			s.Where("NOT draft")
		}
		if f.Query != "" {
			s.Where("position(lower(?) in lower(tag || ' ' || name)) > 0", f.Query)
		}
		total, err = s.OrderExpr("draft DESC, coalesce(published_at, created_at) DESC, id DESC").
			Limit(int64(f.Limit)).Offset(int64(f.Offset)).ScanAndCount(ctx)
		return err
	})
	return rows, int(total), err
}

// ByTags returns the published releases of tags, by tag, without texts.
func ByTags(ctx context.Context, repo db.Repo, tags []string) (map[string]*model.Release, error) {
	out := map[string]*model.Release{}
	if len(tags) == 0 {
		return out, nil
	}
	var rows []*model.Release
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).ExcludeColumn("body").Where("NOT draft AND tag IN (?)", bun.List(tags)).Scan(ctx)
	})
	for _, r := range rows {
		out[r.Tag] = r
	}
	return out, err
}
