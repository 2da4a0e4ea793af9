package repos

import (
	"context"
	"errors"
	"time"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// RestoreWindow is how long a deleted repository can come back.
func (s *Service) RestoreWindow(ctx context.Context) time.Duration {
	return time.Duration(s.Instance.Get(ctx).DeletedKeepDays) * 24 * time.Hour
}

// Restorable lists the deleted repositories that the viewer may restore: their
// own, and those of the organisations that they own.
func (s *Service) Restorable(ctx context.Context, viewer *model.Viewer) ([]*model.Repo, error) {
	owners := []int64{viewer.ID()}
	orgs, err := accountdb.OrgsOf(ctx, s.DB.Directory(), viewer.ID())
	if err != nil {
		return nil, err
	}
	for _, o := range orgs {
		role, err := accountdb.OrgRole(ctx, s.DB.Directory(), o.ID, viewer.ID())
		if err != nil {
			return nil, err
		}
		if role == "owner" {
			owners = append(owners, o.ID)
		}
	}
	return repodb.Deleted(ctx, s.DB.Directory(), owners, time.Now().Add(-s.RestoreWindow(ctx)))
}

// RestoreID restores a deleted repository that the viewer owns, or whose
// organisation they own. db.ErrNotFound where there is none for the viewer.
func (s *Service) RestoreID(ctx context.Context, viewer *model.Viewer, id int64) (*model.Repo, error) {
	list, err := s.Restorable(ctx, viewer)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if r.ID == id {
			return r, s.Restore(ctx, viewer, r)
		}
	}
	return nil, db.ErrNotFound
}

// Restore brings a deleted repository back under its name.
func (s *Service) Restore(ctx context.Context, viewer *model.Viewer, repo *model.Repo) error {
	err := s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := repodb.Undelete(ctx, tx, repo, tx.Now().Add(-s.RestoreWindow(ctx))); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "repo.restore", Actor: viewer, Repo: repo}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, Restored{facts(repo)})
	})
	if errors.Is(err, db.ErrConflict) {
		return fault.New(fault.Conflict, "There is another repository called “"+repo.Name+"” now. Rename it first.")
	}
	return err
}
