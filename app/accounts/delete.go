package accounts

import (
	"context"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// Delete marks the viewer's account as deleted: nobody sees it any more, its
// tokens and sessions end, and for RestoreWindow its owner can have it back.
// fault.Conflict when others would be left without an administrator or owner.
func (s *Service) Delete(ctx context.Context, viewer *model.Viewer, typed string) error {
	if model.Key(typed) != viewer.Account.NameKey {
		return fault.Field("name", "Type the account’s name, "+viewer.Account.Name+", to delete it.")
	}
	return s.inDirectory(ctx, viewer.ID(), func(ctx context.Context, tx db.DirectoryTx) error {
		why, err := accountdb.Needed(ctx, tx.Directory, viewer.ID())
		if err != nil {
			return err
		}
		if why != "" {
			return fault.New(fault.Conflict, why)
		}
		if err := accountdb.MarkDeleted(ctx, tx, viewer.ID()); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "user.delete", Actor: viewer, AccountID: viewer.ID(), Target: viewer.Name()}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{AccountID: viewer.ID(), Actor: viewer}, Deleted{ID: viewer.ID(), Name: viewer.Name()})
	})
}

// Restore brings a deleted account back within its window.
func (s *Service) Restore(ctx context.Context, id int64) error {
	return s.inDirectory(ctx, id, func(ctx context.Context, tx db.DirectoryTx) error {
		a, err := accountdb.Undelete(ctx, tx, id, tx.Now().Add(-s.RestoreWindow(ctx)))
		if err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "user.restore", AccountID: id, Target: a.Name}); err != nil {
			return err
		}
		about := events.About{AccountID: id, Actor: &model.Viewer{Account: a}}
		return events.Emit(ctx, tx, about, Restored{ID: id, Name: a.Name})
	})
}
