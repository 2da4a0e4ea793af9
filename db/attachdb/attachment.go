// Package attachdb holds the queries about files in texts.
package attachdb

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Domain is the domain of a repository's scope that holds attachments.
const Domain = "attachments"

// Everyone is the number that stands for texts that everyone who reads the
// repository sees.
const Everyone = 0

var address = regexp.MustCompile(`/attachments/([0-9a-f]{32})\b`)

// Named returns the ids of the attachments whose addresses a text has.
func Named(text string) []string {
	var ids []string
	for _, m := range address.FindAllStringSubmatch(text, 200) {
		if !slices.Contains(ids, m[1]) {
			ids = append(ids, m[1])
		}
	}
	return ids
}

// Insert adds an attachment that no text has yet.
func Insert(ctx context.Context, tx *db.RepoTx, a *model.Attachment) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	now := tx.Now()
	a.CreatedAt = now
	if len(a.Threads) == 0 {
		a.Threads, a.LooseAt = []int64{}, &now
	}
	_, err = q.NewInsert().Model(a).Returning("NULL").Exec(ctx)
	return err
}

// Find returns an attachment.
func Find(ctx context.Context, repo db.Repo, id string) (*model.Attachment, error) {
	a := new(model.Attachment)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(a).Where("id = ? AND gone_at IS NULL", id).Scan(ctx)
	})
	return a, err
}

// Bind notes that a text of a thread has the attachments that it names;
// Everyone for a text of none.
func Bind(ctx context.Context, tx *db.RepoTx, number int64, text string) error {
	ids := Named(text)
	if len(ids) == 0 {
		return nil
	}
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewUpdate().Model((*model.Attachment)(nil)).Set("threads = array_append(threads, ?)", number).Set("loose_at = NULL").
		Where("id IN (?) AND NOT (? = ANY(threads)) AND gone_at IS NULL", bun.List(ids), number).Exec(ctx)
	return err
}

// Loosen notes that a thread is gone, and says whether an attachment is in no
// text any more.
func Loosen(ctx context.Context, tx *db.RepoTx, number int64) (loose bool, err error) {
	v, err := tx.Version(ctx, Domain)
	if err != nil || v == 0 {
		return false, err
	}
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return false, err
	}
	err = q.NewRaw(`WITH changed AS (UPDATE ?scope.attachments SET threads = array_remove(threads, ?0),
		loose_at = CASE WHEN threads = ARRAY[?0::bigint] THEN ?1::timestamptz ELSE loose_at END
		WHERE ?0 = ANY(threads) RETURNING loose_at) SELECT coalesce(bool_or(loose_at IS NOT NULL), false) FROM changed`,
		number, tx.Now()).Scan(ctx, &loose)
	return loose, err
}

// GiveUp gives up the attachments that no text has had since loose, and takes
// the rows away that were given up before gone; it returns the
// contents of those that no other attachment has, and when the next of either
// falls due by loose and gone, the times since.
func GiveUp(ctx context.Context, tx *db.RepoTx, now, loose, gone time.Time) (hashes []string, nextLoose, nextGone *time.Time, err error) {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return nil, nil, nil, err
	}
	if _, err := q.NewUpdate().Model((*model.Attachment)(nil)).Set("gone_at = ?", now).Set("loose_at = NULL").
		Where("loose_at <= ?", loose).Exec(ctx); err != nil {
		return nil, nil, nil, err
	}
	var rows []string
	if err := q.NewRaw("DELETE FROM ?scope.attachments WHERE gone_at <= ? RETURNING sha256", gone).Scan(ctx, &rows); err != nil {
		return nil, nil, nil, err
	}
	if len(rows) > 0 {
		err := q.NewRaw(`SELECT DISTINCT h FROM unnest(ARRAY[?]::text[]) h WHERE NOT EXISTS
			(SELECT FROM ?scope.attachments a WHERE a.sha256 = h)`, bun.List(rows)).Scan(ctx, &hashes)
		if err != nil {
			return nil, nil, nil, err
		}
	}
	err = q.NewRaw("SELECT min(loose_at), min(gone_at) FROM ?scope.attachments").Scan(ctx, &nextLoose, &nextGone)
	return hashes, nextLoose, nextGone, err
}
