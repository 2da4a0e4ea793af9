package orgs

import (
	"context"
	"errors"
	"strings"

	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accessdb"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// linkPurpose ties the tokens of invitations to this use.
const linkPurpose = "organisation invitation"

// InviteInput says whom to invite: the account of this name, the address, or
// with both empty whoever has the link.
type InviteInput struct {
	Name    string  `form:"username"`
	Email   string  `form:"email"`
	Role    string  `form:"role"`
	TeamIDs []int64 `form:"-"`
}

// Invite asks somebody into the organisation. Who is in it has the new role
// at once, and the invitation is then nil. Its link works for an address once,
// and without one for everybody who has it.
func (s *Service) Invite(ctx context.Context, viewer *model.Viewer, org *model.Account, in InviteInput) (*Invitation, error) {
	if in.Role == "" {
		in.Role = Member
	}
	f := fault.Fields{}
	if in.Role != Owner && in.Role != Member {
		f.Add("role", "A role is owner or member.")
	}
	if in.Email = strings.TrimSpace(in.Email); in.Email != "" {
		f.Add("email", accounts.CheckEmail(in.Email))
	}
	if in.Name == "" && in.Email == "" && in.Role == Owner {
		f.Add("role", "A link is for members. Invite owners by name.")
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	inv := &Invitation{Invitation: &model.Invitation{OrgID: org.ID, Org: org, Email: in.Email, Role: in.Role, TeamIDs: in.TeamIDs,
		InviterID: viewer.ID(), Inviter: viewer.Account}}
	said := Invited{Role: in.Role}
	if in.Name != "" {
		user, err := s.person(ctx, in.Name)
		if err != nil {
			return nil, err
		}
		role, err := accountdb.OrgRole(ctx, s.DB.Directory(), org.ID, user.ID)
		if err != nil {
			return nil, err
		}
		if role != "" {
			_, err := s.Accounts.SetMember(ctx, viewer, org, user.Name, in.Role)
			return nil, err
		}
		if s.Blocked != nil {
			if no, err := s.Blocked(ctx, user.ID, viewer.ID()); err != nil || no {
				return nil, errors.Join(err, fault.Field("username", user.Name+" cannot be invited."))
			}
		}
		inv.AccountID, inv.Account, said.UserID, said.Name = user.ID, user, user.ID, user.Name
	}
	return inv, s.keep(ctx, viewer, org, inv, said)
}

// keep stores an invitation with a link of its own.
func (s *Service) keep(ctx context.Context, viewer *model.Viewer, org *model.Account, inv *Invitation, said Invited) error {
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		inv.ID, inv.ExpiresAt = 0, tx.Now().Add(LinkTime)
		if inv.AccountID == 0 {
			token, hash := s.Tokens.NewLink(linkPurpose, org.ID, inv.ExpiresAt)
			inv.Token, inv.Hash = token, hash[:]
		}
		if err := accessdb.PutInvitation(ctx, tx, inv.Invitation); err != nil {
			return err
		}
		said.InvitationID = inv.ID
		if err := s.write(ctx, tx, viewer, org, inv); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "org.invite_member", Actor: viewer, AccountID: org.ID, Target: said.Name,
			After: audit.Facts{"role": inv.Role, "by_mail": inv.Email != "", "by_link": inv.AccountID == 0 && inv.Email == ""}}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{AccountID: org.ID, Actor: viewer}, said)
	})
}

// Invitation is one with its link's token, known only when it is made.
type Invitation struct {
	*model.Invitation
	Token string
}

// ByLink returns the invitation that a link's token opens.
func (s *Service) ByLink(ctx context.Context, token string) (*model.Invitation, error) {
	_, hash, err := s.Tokens.ParseLink(linkPurpose, token, s.now())
	if errors.Is(err, secret.ErrLinkExpired) {
		return nil, fault.New(fault.Gone, "This invitation has expired. Ask for a new one.")
	}
	if err != nil {
		return nil, db.ErrNotFound
	}
	inv, err := accessdb.ByHash(ctx, s.DB.Directory(), hash[:])
	if errors.Is(err, db.ErrNotFound) {
		return nil, fault.New(fault.Gone, "This invitation was taken back or used before. Ask for a new one.")
	}
	if err == nil && (inv.Org == nil || inv.Org.DeletedAt != nil) {
		err = db.ErrNotFound
	}
	return inv, err
}

// Of returns the viewer's invitation to the organisation.
func (s *Service) Of(ctx context.Context, viewer *model.Viewer, orgID int64) (*model.Invitation, error) {
	list, err := accessdb.Of(ctx, s.DB.Directory(), viewer.ID(), true)
	if err != nil {
		return nil, err
	}
	for _, inv := range list {
		if inv.OrgID == orgID {
			return inv, nil
		}
	}
	return nil, db.ErrNotFound
}

// Accept makes the viewer a member, by an invitation that the caller found
// through the viewer or a link.
func (s *Service) Accept(ctx context.Context, viewer *model.Viewer, inv *model.Invitation) error {
	have, err := accountdb.OrgRole(ctx, s.DB.Directory(), inv.OrgID, viewer.ID())
	if err != nil {
		return err
	}
	if have != "" {
		return fault.New(fault.Conflict, "You belong to "+inv.Org.Name+" already.")
	}
	return s.Accounts.Join(ctx, viewer, inv.Org, func(ctx context.Context, tx db.DirectoryTx) (role string, err error) {
		if inv.Expired(tx.Now()) {
			return "", fault.New(fault.Gone, "This invitation has expired. Ask for a new one.")
		}
		if inv.AccountID != 0 || inv.Email != "" {
			if err := accessdb.DropInvitation(ctx, tx, inv.ID); err != nil {
				return "", err
			}
		}
		return inv.Role, accessdb.JoinTeams(ctx, tx, inv.OrgID, viewer.ID(), inv.TeamIDs)
	})
}

// End takes an invitation back, or declines it.
func (s *Service) End(ctx context.Context, viewer *model.Viewer, inv *model.Invitation) error {
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := accessdb.DropInvitation(ctx, tx, inv.ID); err != nil {
			return err
		}
		name := ""
		if inv.Account != nil {
			name = inv.Account.Name
		}
		return audit.Record(ctx, tx, audit.Entry{Action: "org.cancel_invitation", Actor: viewer, AccountID: inv.OrgID, Target: name})
	})
}

// ofOrg returns an invitation of the organisation.
func (s *Service) ofOrg(ctx context.Context, org *model.Account, id int64) (*model.Invitation, error) {
	inv, err := accessdb.Invitation(ctx, s.DB.Directory(), id)
	if err == nil && inv.OrgID != org.ID {
		err = db.ErrNotFound
	}
	return inv, err
}
