package accounts

import (
	"context"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// Follow lets the viewer follow a person, or stop.
func (s *Service) Follow(ctx context.Context, viewer *model.Viewer, a *model.Account, on bool) error {
	if a.ID == viewer.ID() {
		return fault.New(fault.Conflict, "You cannot follow yourself.")
	}
	return s.db.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		was, err := accountdb.Follows(ctx, tx.Directory, viewer.ID(), a.ID)
		if err != nil || was == on {
			return err
		}
		if err := accountdb.SetFollow(ctx, tx, viewer.ID(), a.ID, on); err != nil {
			return err
		}
		if !on {
			return nil
		}
		return events.Emit(ctx, tx, events.About{AccountID: a.ID, Actor: viewer}, Followed{ID: a.ID, Name: a.Name})
	})
}
