// Package lfsdb holds the queries about large files: which a repository has,
// which repositories keep a blob, and the locks.
package lfsdb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Domain is the domain of a repository's scope that holds large files.
const Domain = "lfs"

// Objects returns which of the objects a repository has, with their sizes.
func Objects(ctx context.Context, repo db.Repo, oids []string) (map[string]int64, error) {
	out := make(map[string]int64, len(oids))
	if len(oids) == 0 {
		return out, nil
	}
	var rows []*model.LFSObject
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Column("oid", "size").Where("oid IN (?)", bun.List(oids)).Scan(ctx)
	})
	for _, r := range rows {
		out[r.OID] = r.Size
	}
	return out, err
}

// AddObject gives a repository an object; one that it has stays as it is.
func AddObject(ctx context.Context, tx *db.RepoTx, o *model.LFSObject) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	o.CreatedAt = tx.Now()
	_, err = q.NewInsert().Model(o).On("CONFLICT (oid) DO NOTHING").Returning("NULL").Exec(ctx)
	return err
}

// Usage is how much large files take.
type Usage struct {
	Objects int64 `bun:"objects"`
	Bytes   int64 `bun:"bytes"`
}

// OfRepo is what a repository has.
func OfRepo(ctx context.Context, repo db.Repo) (Usage, error) {
	var u Usage
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewRaw("SELECT count(*) AS objects, coalesce(sum(size), 0)::bigint AS bytes FROM ?scope.lfs_objects").Scan(ctx, &u)
	})
	return u, err
}

// Hold notes in the directory that a repository keeps a blob. db.ErrConflict
// while the blob is being removed.
func Hold(ctx context.Context, tx db.DirectoryTx, repoID int64, oid string, size int64) error {
	var held []string
	err := tx.NewRaw(`INSERT INTO directory.lfs_blobs (oid, size, created_at) VALUES (?, ?, ?)
		ON CONFLICT (oid) DO UPDATE SET unheld_at = NULL WHERE NOT lfs_blobs.gone RETURNING oid`, oid, size, tx.Now()).Scan(ctx, &held)
	if err != nil {
		return db.Map(err)
	}
	if len(held) == 0 {
		return db.ErrConflict
	}
	_, err = tx.NewRaw(`INSERT INTO directory.lfs_holders (repo_id, oid, size, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, repoID, oid, size, tx.Now()).Exec(ctx)
	return db.Map(err)
}

// OfOwner is what the repositories of an account keep; what several of them
// have counts once.
func OfOwner(ctx context.Context, dir db.Directory, ownerID int64) (Usage, error) {
	var u Usage
	err := dir.NewRaw(`SELECT count(*) AS objects, coalesce(sum(size), 0)::bigint AS bytes FROM (
			SELECT DISTINCT h.oid, h.size FROM directory.lfs_holders h JOIN directory.repos r ON r.id = h.repo_id
			WHERE r.owner_id = ?) x`, ownerID).Scan(ctx, &u)
	return u, db.Map(err)
}

// OwnerUsage is what one account keeps.
type OwnerUsage struct {
	Owner string `bun:"owner"`
	Usage
}

// Largest returns the accounts that keep the most.
func Largest(ctx context.Context, dir db.Directory, limit int) ([]OwnerUsage, error) {
	var list []OwnerUsage
	err := dir.NewRaw(`SELECT a.name AS owner, count(*) AS objects, sum(x.size)::bigint AS bytes FROM (
			SELECT DISTINCT r.owner_id, h.oid, h.size FROM directory.lfs_holders h JOIN directory.repos r ON r.id = h.repo_id) x
		JOIN directory.accounts a ON a.id = x.owner_id GROUP BY a.name ORDER BY 3 DESC, 1 LIMIT ?`, limit).Scan(ctx, &list)
	return list, db.Map(err)
}

// Stored is what the instance has, each blob once.
func Stored(ctx context.Context, dir db.Directory) (Usage, error) {
	var u Usage
	err := dir.NewRaw("SELECT count(*) AS objects, coalesce(sum(size), 0)::bigint AS bytes FROM directory.lfs_blobs").Scan(ctx, &u)
	return u, db.Map(err)
}

// HeldInNetwork returns, of the repositories, those that keep the blob.
func HeldInNetwork(ctx context.Context, dir db.Directory, root int64, oids []string) (map[string][]int64, error) {
	var rows []struct {
		OID    string `bun:"oid"`
		RepoID int64  `bun:"repo_id"`
	}
	err := dir.NewRaw(`SELECT h.oid, h.repo_id FROM directory.lfs_holders h JOIN directory.repos r ON r.id = h.repo_id
		WHERE h.oid IN (?0) AND r.deleted_at IS NULL AND (r.id = ?1 OR r.root_id = ?1 OR r.fork_of = ?1)
		ORDER BY h.oid, h.repo_id`, bun.List(oids), root).Scan(ctx, &rows)
	out := map[string][]int64{}
	for _, r := range rows {
		out[r.OID] = append(out[r.OID], r.RepoID)
	}
	return out, db.Map(err)
}

// NoticeUnheld notes on blobs that no repository keeps any more since when.
func NoticeUnheld(ctx context.Context, tx db.DirectoryTx) error {
	_, err := tx.NewRaw(`UPDATE directory.lfs_blobs b SET unheld_at = ? WHERE unheld_at IS NULL
		AND NOT EXISTS (SELECT 1 FROM directory.lfs_holders h WHERE h.oid = b.oid)`, tx.Now()).Exec(ctx)
	return db.Map(err)
}

// Condemn takes blobs that no repository has kept since before, and those that
// were taken earlier and are still there. Nobody can get hold of them again
// until Forget.
func Condemn(ctx context.Context, tx db.DirectoryTx, before time.Time, limit int) ([]string, error) {
	// Locked first: the second statement then sees every holder there is.
	var oids, gone []string
	err := tx.NewRaw(`SELECT oid FROM directory.lfs_blobs WHERE gone OR unheld_at < ? ORDER BY oid LIMIT ? FOR UPDATE`, before, limit).
		Scan(ctx, &oids)
	if err != nil || len(oids) == 0 {
		return nil, db.Map(err)
	}
	err = tx.NewRaw(`UPDATE directory.lfs_blobs b SET gone = true WHERE oid IN (?)
		AND NOT EXISTS (SELECT 1 FROM directory.lfs_holders h WHERE h.oid = b.oid) RETURNING oid`, bun.List(oids)).Scan(ctx, &gone)
	if err != nil {
		return nil, db.Map(err)
	}
	_, err = tx.NewRaw("UPDATE directory.lfs_blobs SET unheld_at = NULL WHERE oid IN (?) AND NOT gone", bun.List(oids)).Exec(ctx)
	return gone, db.Map(err)
}

// Adopt makes condemned rows for blobs that have none.
func Adopt(ctx context.Context, tx db.DirectoryTx, oids []string) error {
	for _, oid := range oids {
		_, err := tx.NewRaw(`INSERT INTO directory.lfs_blobs (oid, size, created_at, gone) VALUES (?, 0, ?, true)
			ON CONFLICT DO NOTHING`, oid, tx.Now()).Exec(ctx)
		if err != nil {
			return db.Map(err)
		}
	}
	return nil
}

// Known returns which of the blobs have a row.
func Known(ctx context.Context, dir db.Directory, oids []string) (map[string]bool, error) {
	var got []string
	err := dir.NewRaw("SELECT oid FROM directory.lfs_blobs WHERE oid IN (?)", bun.List(oids)).Scan(ctx, &got)
	out := make(map[string]bool, len(got))
	for _, oid := range got {
		out[oid] = true
	}
	return out, db.Map(err)
}

// Forget removes the rows of condemned blobs whose content is removed.
func Forget(ctx context.Context, tx db.DirectoryTx, oids []string) error {
	_, err := tx.NewRaw("DELETE FROM directory.lfs_blobs WHERE gone AND oid IN (?)", bun.List(oids)).Exec(ctx)
	return db.Map(err)
}
