package accounts

import (
	"context"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// Suspend keeps an account out, or lets it in again: a suspended one can
// neither sign in nor use its tokens and keys; what it has stays.
func (s *Service) Suspend(ctx context.Context, viewer *model.Viewer, id int64, on bool) error {
	if id == viewer.ID() {
		return fault.New(fault.Conflict, "You cannot suspend yourself.")
	}
	a, err := accountdb.ByID(ctx, s.db.Directory(), id)
	if err != nil {
		return err
	}
	return s.inDirectory(ctx, id, func(ctx context.Context, tx db.DirectoryTx) error {
		action, at := "user.unsuspend", tx.Now()
		when := &at
		if on {
			action = "user.suspend"
		} else {
			when = nil
		}
		if err := accountdb.SetSuspended(ctx, tx, id, when); err != nil {
			return err
		}
		return audit.Record(ctx, tx, audit.Entry{Action: action, Actor: viewer, AccountID: id, Target: a.Name})
	})
}

// SetAdmin makes a person an administrator of the instance, or no longer one;
// the last one stays.
func (s *Service) SetAdmin(ctx context.Context, viewer *model.Viewer, id int64, on bool) error {
	u, err := accountdb.User(ctx, s.db.Directory(), id)
	if err != nil {
		return err
	}
	return s.inDirectory(ctx, id, func(ctx context.Context, tx db.DirectoryTx) error {
		action := "user.promote"
		if !on {
			action = "user.demote"
			others, err := accountdb.OtherAdmins(ctx, tx, id)
			if err != nil {
				return err
			}
			if !others {
				return fault.New(fault.Conflict, "This is the only administrator. Make somebody else one first.")
			}
		}
		if err := accountdb.SetAdmin(ctx, tx, id, on); err != nil {
			return err
		}
		return audit.Record(ctx, tx, audit.Entry{Action: action, Actor: viewer, AccountID: id, Target: u.Account.Name})
	})
}
