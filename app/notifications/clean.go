package notifications

import (
	"context"
	"errors"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/notificationdb"
)

// Clean takes a repository that is removed for good out of the inboxes of all
// who watched it or followed a thread. Whom else it told of something loses the
// rows at the next look, as with all that one can no longer read.
func (s *Service) Clean(ctx context.Context, scope db.Scope) error {
	if scope.Kind() != db.RepoKind {
		return nil
	}
	const page = 500
	watching := func(after int64) ([]int64, error) {
		list, err := notificationdb.WatchersAfter(ctx, s.DB.Directory(), scope.ID(), after, page)
		ids := make([]int64, len(list))
		for i, w := range list {
			ids[i] = w.AccountID
		}
		return ids, err
	}
	subscribed := func(after int64) ([]int64, error) {
		return notificationdb.Subscribed(ctx, s.DB.Repo(scope.ID()), after, page)
	}
	for _, next := range []func(int64) ([]int64, error){watching, subscribed} {
		for after := int64(0); ; {
			ids, err := next(after)
			if err != nil {
				return err
			}
			for _, id := range ids {
				after = id
				if err := s.drop(ctx, id, scope.ID()); err != nil {
					return err
				}
			}
			if len(ids) < page {
				break
			}
		}
	}
	return nil
}

// drop removes the repository's rows from an inbox, where there is one.
func (s *Service) drop(ctx context.Context, accountID, repoID int64) error {
	version, err := s.DB.Account(accountID).Version(ctx, notificationdb.Domain)
	if err != nil || version == 0 {
		return err
	}
	err = s.DB.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		return notificationdb.DeleteRepos(ctx, tx, []int64{repoID})
	})
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}
