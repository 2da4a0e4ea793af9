// Package signdb holds the directory's queries about signatures and the keys
// that make them.
package signdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Found returns what is known of the signatures of objects in a repository.
func Found(ctx context.Context, dir db.Directory, repoID int64, oids []string) ([]*model.CommitSignature, error) {
	var list []*model.CommitSignature
	err := dir.NewSelect().Model(&list).Where("repo_id = ? AND oid IN (?)", repoID, bun.List(oids)).Scan(ctx)
	return list, db.Map(err)
}

// Save keeps what was found.
func Save(ctx context.Context, dir db.Directory, list []*model.CommitSignature) error {
	_, err := dir.NewInsert().Model(&list).On("CONFLICT (repo_id, oid) DO UPDATE").
		Set("verified = EXCLUDED.verified, reason = EXCLUDED.reason, account_id = EXCLUDED.account_id").
		Set("key_id = EXCLUDED.key_id, checked_at = EXCLUDED.checked_at").Returning("NULL").Exec(ctx)
	return db.Map(err)
}

// Owner returns the account that has a signing key; a fingerprint of an SSH key
// or the id of an OpenPGP key. Where several claim one, the first to do so.
func Owner(ctx context.Context, dir db.Directory, kind, keyID string) ([]int64, error) {
	var ids []int64
	err := dir.NewRaw(`SELECT account_id FROM directory.signing_key_ids WHERE key_id = ? AND kind = ? ORDER BY created_at LIMIT 10`,
		keyID, kind).Scan(ctx, &ids)
	return ids, db.Map(err)
}
