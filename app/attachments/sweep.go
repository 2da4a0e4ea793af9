package attachments

import (
	"context"
	"fmt"
	"time"

	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/attachdb"
)

// Loose is how long an attachment may be in no text: longer than drafts are
// kept, which may have it.
const Loose = 31 * 24 * time.Hour

// Sweep gives up what no text has had for long, and deletes contents that were
// given up a day ago. It is the task of a repository's alarm.
func (s *Service) Sweep(ctx context.Context, repoID int64, now time.Time) (next time.Time, err error) {
	if v, err := s.DB.Repo(repoID).Version(ctx, attachdb.Domain); err != nil || v == 0 {
		return time.Time{}, err
	}
	var hashes []string
	var loose, gone *time.Time
	err = s.DB.InRepo(ctx, repoID, func(ctx context.Context, tx *db.RepoTx) (err error) {
		hashes, loose, gone, err = attachdb.GiveUp(ctx, tx, now, now.Add(-Loose), now.Add(-blob.Keep))
		return err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("sweep attachments: %w", err)
	}
	for _, sha := range hashes {
		if err := s.space(repoID).Delete(ctx, sha); err != nil {
			return time.Time{}, err
		}
	}
	if gone != nil {
		next = gone.Add(blob.Keep)
	}
	if loose != nil && (next.IsZero() || loose.Add(Loose).Before(next)) {
		next = loose.Add(Loose)
	}
	return next, nil
}
