package accounts

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// OrgInput describes a new organisation.
type OrgInput struct {
	Name        string `form:"name" json:"login"`
	DisplayName string `form:"display_name" json:"profile_name"`
}

// CreateOrg makes an organisation that the viewer owns.
func (s *Service) CreateOrg(ctx context.Context, viewer *model.Viewer, in OrgInput) (*model.Account, error) {
	in.Name, in.DisplayName = strings.TrimSpace(in.Name), strings.TrimSpace(in.DisplayName)
	f := fault.Fields{}
	f.Add("name", CheckName(in.Name))
	if utf8.RuneCountInString(in.DisplayName) > 100 {
		f.Add("display_name", "This is too long.")
	}
	if f["name"] == "" {
		why, err := s.CheckFree(ctx, in.Name)
		if err != nil {
			return nil, err
		}
		f.Add("name", why)
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	a := &model.Account{Kind: model.KindOrganization, Name: in.Name, DisplayName: in.DisplayName, BaseRole: model.RoleRead}
	err := s.db.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		a.ID = 0
		if err := accountdb.InsertOrg(ctx, tx, a, viewer.ID()); err != nil {
			return err
		}
		if err := accountdb.DropRedirect(ctx, tx, a.Name); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "org.create", Actor: viewer, AccountID: a.ID, Target: a.Name}); err != nil {
			return err
		}
		about := events.About{AccountID: a.ID, Actor: viewer}
		return events.Emit(ctx, tx, about, Created{ID: a.ID, Name: a.Name, Kind: string(a.Kind)})
	})
	if errors.Is(err, db.ErrConflict) {
		return nil, fault.Field("name", takenMessage)
	}
	return a, err
}

// SetMember puts a person into an organisation as "owner" or "member".
func (s *Service) SetMember(ctx context.Context, viewer *model.Viewer, org *model.Account, userName, role string) (*model.Account, error) {
	if role != "owner" && role != "member" {
		return nil, fault.Field("role", "A role is owner or member.")
	}
	user, err := accountdb.ByName(ctx, s.db.Directory(), strings.TrimSpace(userName))
	if errors.Is(err, db.ErrNotFound) || err == nil && !user.IsUser() {
		return nil, fault.Field("username", "Nobody here has that name.")
	}
	if err != nil {
		return nil, err
	}
	return user, s.inDirectory(ctx, org.ID, func(ctx context.Context, tx db.DirectoryTx) error {
		if role == "member" {
			if err := keepsOwner(ctx, tx, org.ID, user.ID); err != nil {
				return err
			}
		}
		return setMember(ctx, tx, viewer, org, user, role)
	})
}

func setMember(ctx context.Context, tx db.DirectoryTx, viewer *model.Viewer, org, user *model.Account, role string) error {
	was, err := accountdb.OrgRole(ctx, tx.Directory, org.ID, user.ID)
	if err != nil {
		return err
	}
	if err := accountdb.AddMember(ctx, tx, org.ID, user.ID, role); err != nil {
		return err
	}
	note := audit.Entry{Action: "org.add_member", Actor: viewer, AccountID: org.ID, Target: user.Name, After: audit.Facts{"role": role}}
	if was != "" {
		note.Action, note.Before = "org.update_member", audit.Facts{"role": was}
	}
	if err := audit.Record(ctx, tx, note); err != nil {
		return err
	}
	about := events.About{AccountID: org.ID, Actor: viewer}
	return events.Emit(ctx, tx, about, MemberSet{UserID: user.ID, Name: user.Name, Role: role})
}

// Join puts the viewer into an organisation with the role that allow returns,
// in one transaction with what allow does.
func (s *Service) Join(ctx context.Context, viewer *model.Viewer, org *model.Account, allow func(ctx context.Context, tx db.DirectoryTx) (role string, err error)) error {
	return s.inDirectory(ctx, org.ID, func(ctx context.Context, tx db.DirectoryTx) error {
		role, err := allow(ctx, tx)
		if err != nil {
			return err
		}
		return setMember(ctx, tx, viewer, org, viewer.Account, role)
	})
}

// RemoveMember takes a person out of an organisation; the last owner stays.
func (s *Service) RemoveMember(ctx context.Context, viewer *model.Viewer, org *model.Account, userName string) error {
	user, err := accountdb.ByName(ctx, s.db.Directory(), userName)
	if err != nil {
		return err
	}
	return s.inDirectory(ctx, org.ID, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := keepsOwner(ctx, tx, org.ID, user.ID); err != nil {
			return err
		}
		if err := accountdb.RemoveMember(ctx, tx, org.ID, user.ID); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "org.remove_member", Actor: viewer, AccountID: org.ID, Target: user.Name}); err != nil {
			return err
		}
		about := events.About{AccountID: org.ID, Actor: viewer}
		return events.Emit(ctx, tx, about, MemberRemoved{UserID: user.ID, Name: user.Name})
	})
}

// keepsOwner refuses what would leave an organisation without an owner.
func keepsOwner(ctx context.Context, tx db.DirectoryTx, orgID, userID int64) error {
	n, err := accountdb.Owners(ctx, tx, orgID)
	if err != nil || n > 1 {
		return err
	}
	role, err := accountdb.OrgRole(ctx, tx.Directory, orgID, userID)
	if err == nil && role == "owner" {
		err = fault.New(fault.Conflict, "An organisation needs an owner. Make somebody else one first.")
	}
	return err
}
