// Package upkeepdb holds the queries about the maintenance of git folders.
package upkeepdb

import (
	"context"
	"errors"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Of returns what is known of a folder; what was never maintained is an empty
// record.
func Of(ctx context.Context, cell db.Cell, repoID int64, pool bool) (*model.GitUpkeep, error) {
	u := &model.GitUpkeep{RepoID: repoID, Pool: pool}
	err := db.Map(cell.NewSelect().Model(u).WherePK().Scan(ctx))
	if errors.Is(err, db.ErrNotFound) {
		return &model.GitUpkeep{RepoID: repoID, Pool: pool}, nil
	}
	return u, err
}

// NoteDropped notes that commits were dropped; the first time since the last
// full repack counts.
func NoteDropped(ctx context.Context, tx db.CellTx, repoID int64) error {
	_, err := tx.NewRaw(`INSERT INTO cell.git_upkeep AS gu (repo_id, pool, dropped_at) VALUES (?, false, ?)
		ON CONFLICT (repo_id, pool) DO UPDATE SET dropped_at = COALESCE(gu.dropped_at, EXCLUDED.dropped_at)`, repoID, tx.Now()).Exec(ctx)
	return db.Map(err)
}

// Save writes what a run did. A full repack takes back what was noted as
// dropped before it began.
func Save(ctx context.Context, tx db.CellTx, u *model.GitUpkeep) error {
	_, err := tx.NewInsert().Model(u).ExcludeColumn("dropped_at").On("CONFLICT (repo_id, pool) DO UPDATE").
		Set("full_at = EXCLUDED.full_at, started_at = EXCLUDED.started_at, took_ms = EXCLUDED.took_ms, did = EXCLUDED.did").
		Set("bytes_before = EXCLUDED.bytes_before, bytes_after = EXCLUDED.bytes_after").
		Set("files_before = EXCLUDED.files_before, files_after = EXCLUDED.files_after, error = EXCLUDED.error").
		Set("dropped_at = CASE WHEN gu.dropped_at < EXCLUDED.full_at THEN NULL ELSE gu.dropped_at END").
		Returning("NULL").Exec(ctx)
	return db.Map(err)
}

// Forget drops what is known of a repository.
func Forget(ctx context.Context, cell db.Cell, repoID int64) error {
	_, err := cell.NewDelete().Model((*model.GitUpkeep)(nil)).Where("repo_id = ? AND NOT pool", repoID).Exec(ctx)
	return db.Map(err)
}

// Totals sums up all runs that are known.
type Totals struct {
	Folders, Failed, Gained int64
}

// Recent returns the last runs, the newest first, and what all of them add up
// to.
func Recent(ctx context.Context, cell db.Cell, limit, offset int) ([]*model.GitUpkeep, Totals, error) {
	var list []*model.GitUpkeep
	err := cell.NewSelect().Model(&list).Where("started_at IS NOT NULL").Order("started_at DESC").
		Limit(int64(limit)).Offset(int64(offset)).Scan(ctx)
	if err != nil {
		return nil, Totals{}, db.Map(err)
	}
	var t Totals
	err = cell.NewSelect().Model((*model.GitUpkeep)(nil)).ColumnExpr("count(*)").ColumnExpr("count(*) FILTER (WHERE error <> '')").
		ColumnExpr("COALESCE(sum(greatest(bytes_before - bytes_after, 0)), 0)").Where("started_at IS NOT NULL").
		Scan(ctx, &t.Folders, &t.Failed, &t.Gained)
	return list, t, db.Map(err)
}
