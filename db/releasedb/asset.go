package releasedb

import (
	"context"
	"slices"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// InsertAsset adds a file to a release and gives it an id.
func InsertAsset(ctx context.Context, tx *db.RepoTx, a *model.ReleaseAsset) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	if a.ID, err = tx.NextID(ctx); err != nil {
		return err
	}
	a.CreatedAt, a.UpdatedAt = tx.Now(), tx.Now()
	_, err = q.NewInsert().Model(a).Returning("NULL").Exec(ctx)
	return err
}

// UpdateAsset writes a file's name and label.
func UpdateAsset(ctx context.Context, tx *db.RepoTx, a *model.ReleaseAsset) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	a.UpdatedAt = tx.Now()
	_, err = q.NewUpdate().Model(a).Column("name", "label", "updated_at").WherePK().Exec(ctx)
	return err
}

// DeleteAsset removes a file's row.
func DeleteAsset(ctx context.Context, tx *db.RepoTx, id int64) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.ReleaseAsset)(nil)).Where("id = ?", id).Exec(ctx)
	return err
}

// Asset returns a file by its id.
func Asset(ctx context.Context, repo db.Repo, id int64) (*model.ReleaseAsset, error) {
	return asset(ctx, repo, func(s *bun.SelectQuery) { s.Where("id = ?", id) })
}

// AssetNamed returns the file of this name of a release.
func AssetNamed(ctx context.Context, repo db.Repo, release int64, name string) (*model.ReleaseAsset, error) {
	return asset(ctx, repo, func(s *bun.SelectQuery) { s.Where("release_id = ? AND name = ?", release, name) })
}

func asset(ctx context.Context, repo db.Repo, which func(s *bun.SelectQuery)) (*model.ReleaseAsset, error) {
	a := new(model.ReleaseAsset)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		s := q.NewSelect().Model(a)
		which(s)
		return s.Scan(ctx)
	})
	return a, err
}

// LoadAssets reads the files of releases.
func LoadAssets(ctx context.Context, repo db.Repo, releases ...*model.Release) error {
	if len(releases) == 0 {
		return nil
	}
	byID, ids := map[int64]*model.Release{}, make([]int64, len(releases))
	for i, r := range releases {
		byID[r.ID], ids[i], r.Assets = r, r.ID, nil
	}
	var rows []*model.ReleaseAsset
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Where("release_id IN (?)", bun.List(ids)).Order("name").Scan(ctx)
	})
	for _, a := range rows {
		r := byID[a.ReleaseID]
		r.Assets = append(r.Assets, a)
	}
	return err
}

// CountDownload notes that a file was downloaded.
func CountDownload(ctx context.Context, tx *db.RepoTx, id int64) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewUpdate().Model((*model.ReleaseAsset)(nil)).Set("downloads = downloads + 1").Where("id = ?", id).Exec(ctx)
	return err
}

// Forget notes that contents lost a row, so that they are deleted in time.
func Forget(ctx context.Context, tx *db.RepoTx, hashes ...string) error {
	if len(hashes) == 0 {
		return nil
	}
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	for _, sha := range hashes {
		_, err := q.NewRaw(`INSERT INTO ?scope.release_gone (sha256, gone_at) VALUES (?, ?)
			ON CONFLICT (sha256) DO UPDATE SET gone_at = EXCLUDED.gone_at`, sha, tx.Now()).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// Gone takes the contents that lost their last row before a time, and says
// when the next one did, if there is one.
func Gone(ctx context.Context, tx *db.RepoTx, before time.Time) (hashes []string, next *time.Time, err error) {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return nil, nil, err
	}
	err = q.NewRaw(`DELETE FROM ?scope.release_gone g WHERE gone_at <= ? RETURNING CASE WHEN EXISTS
		(SELECT FROM ?scope.release_assets a WHERE a.sha256 = g.sha256) THEN '' ELSE sha256 END`, before).Scan(ctx, &hashes)
	if err != nil {
		return nil, nil, err
	}
	hashes = slices.DeleteFunc(hashes, func(h string) bool { return h == "" })
	err = q.NewRaw("SELECT min(gone_at) FROM ?scope.release_gone").Scan(ctx, &next)
	return hashes, next, err
}
