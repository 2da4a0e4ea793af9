package threads

import (
	"context"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/threaddb"
)

// Subscribe keeps that the viewer wants to hear of a thread, or with ignore
// that they never do.
func (s *Service) Subscribe(ctx context.Context, p Place, number int64, ignore bool) error {
	return s.subscribe(ctx, p, number, func(ctx context.Context, tx *db.RepoTx) error {
		return threaddb.Subscribe(ctx, tx, number, p.Viewer.ID(), threaddb.Subscription{Ignored: ignore})
	})
}

// Unsubscribe forgets what the viewer chose: they hear of what concerns them.
func (s *Service) Unsubscribe(ctx context.Context, p Place, number int64) error {
	return s.subscribe(ctx, p, number, func(ctx context.Context, tx *db.RepoTx) error {
		return threaddb.Unsubscribe(ctx, tx, number, p.Viewer.ID())
	})
}

func (s *Service) subscribe(ctx context.Context, p Place, number int64, f func(ctx context.Context, tx *db.RepoTx) error) error {
	if !p.Viewer.SignedIn() {
		return fault.New(fault.Unauthorized, "Sign in first.")
	}
	return s.db.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := find(ctx, tx.Repo, p, number); err != nil {
			return err
		}
		return f(ctx, tx)
	})
}
