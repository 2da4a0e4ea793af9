package accounts

import (
	"context"
	"time"

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
	return s.restore(ctx, nil, id, "user.restore")
}

// restore brings an account back; a nil viewer is the account itself.
func (s *Service) restore(ctx context.Context, viewer *model.Viewer, id int64, action string) error {
	return s.inDirectory(ctx, id, func(ctx context.Context, tx db.DirectoryTx) error {
		a, err := accountdb.Undelete(ctx, tx, id, tx.Now().Add(-s.RestoreWindow(ctx)))
		if err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: action, Actor: viewer, AccountID: id, Target: a.Name}); err != nil {
			return err
		}
		by := viewer
		if by == nil {
			by = &model.Viewer{Account: a}
		}
		return events.Emit(ctx, tx, events.About{AccountID: id, Actor: by}, Restored{ID: id, Name: a.Name, Workspace: !a.IsUser()})
	})
}

// DeleteOrg marks an organisation, which the viewer owns, and its repositories
// as deleted; for RestoreWindow its owners can have it back.
func (s *Service) DeleteOrg(ctx context.Context, viewer *model.Viewer, org *model.Account, typed string) error {
	if model.Key(typed) != org.NameKey {
		return fault.Field("name", "Type the organisation’s name, "+org.Name+", to delete it.")
	}
	return s.inDirectory(ctx, org.ID, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := accountdb.MarkDeleted(ctx, tx, org.ID); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "org.delete", Actor: viewer, AccountID: org.ID, Target: org.Name}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{AccountID: org.ID, Actor: viewer}, Deleted{ID: org.ID, Name: org.Name, Workspace: true})
	})
}

// RestorableOrgs lists the deleted organisations that the viewer owned.
func (s *Service) RestorableOrgs(ctx context.Context, viewer *model.Viewer) ([]*model.Account, error) {
	return accountdb.DeletedOrgs(ctx, s.db.Directory(), viewer.ID(), time.Now().Add(-s.RestoreWindow(ctx)))
}

// RestoreOrg brings an organisation back that the viewer owned.
// db.ErrNotFound where there is none for the viewer.
func (s *Service) RestoreOrg(ctx context.Context, viewer *model.Viewer, id int64) (*model.Account, error) {
	list, err := s.RestorableOrgs(ctx, viewer)
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		if o.ID == id {
			return o, s.restore(ctx, viewer, id, "org.restore")
		}
	}
	return nil, db.ErrNotFound
}
