package access

import (
	"context"
	"errors"
	"strings"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accessdb"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// ParseRole reads a role by its own or by GitHub's older word (pull, push);
// empty is write.
func ParseRole(word string) (model.Role, bool) {
	switch word {
	case "", "push":
		return model.RoleWrite, true
	case "pull":
		return model.RoleRead, true
	}
	r := model.Role(word)
	return r, r.Valid()
}

// InviteInput names whom to invite and the role.
type InviteInput struct {
	Name string `form:"username" json:"-"`
	Role string `form:"role" json:"permission"`
}

// Invite gives a person a role in the repository. Who is a collaborator, or a
// member of the organisation that owns it, has it at once, and the invitation
// is then nil; others are asked first.
func (s *Service) Invite(ctx context.Context, viewer *model.Viewer, repo *model.Repo, in InviteInput) (*model.Invitation, error) {
	role, ok := ParseRole(in.Role)
	if !ok {
		return nil, fault.Field("role", "A role is read, triage, write, maintain or admin.")
	}
	user, err := s.invitee(ctx, viewer, repo, in.Name)
	if err != nil {
		return nil, err
	}
	have, err := accessdb.Collaborator(ctx, s.DB.Directory(), repo.ID, user.ID)
	if err != nil {
		return nil, err
	}
	member, err := accountdb.OrgRole(ctx, s.DB.Directory(), repo.OwnerID, user.ID)
	if err != nil {
		return nil, err
	}
	if have != model.RoleNone || member != "" {
		return nil, s.set(ctx, viewer, repo, user, have, role)
	}
	inv := &model.Invitation{RepoID: repo.ID, AccountID: user.ID, Role: string(role), InviterID: viewer.ID()}
	if err := s.keepNumber(ctx, inv); err != nil {
		return nil, err
	}
	id := inv.ID
	err = s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		inv.ID, inv.ExpiresAt = id, tx.Now().Add(InvitationTime)
		if err := accessdb.PutInvitation(ctx, tx, inv); err != nil {
			return err
		}
		if err := s.write(ctx, tx, user, viewer, repo, inv); err != nil {
			return err
		}
		if err := note(ctx, tx, "repo.invite_member", viewer, repo, user.Name, audit.Facts{"role": inv.Role}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer},
			Invited{InvitationID: inv.ID, UserID: user.ID, Name: user.Name, Role: inv.Role})
	})
	if err != nil {
		return nil, err
	}
	inv.Account, inv.Inviter = user, viewer.Account
	return inv, nil
}

// keepNumber lets an invitation that is made again keep its id.
func (s *Service) keepNumber(ctx context.Context, inv *model.Invitation) error {
	pending, err := accessdb.ToRepo(ctx, s.DB.Directory(), inv.RepoID)
	for _, p := range pending {
		if p.AccountID == inv.AccountID {
			inv.ID = p.ID
		}
	}
	return err
}

func (s *Service) invitee(ctx context.Context, viewer *model.Viewer, repo *model.Repo, name string) (*model.Account, error) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "@")
	if name == "" {
		return nil, fault.Field("username", "Name somebody.")
	}
	user, err := accountdb.ByName(ctx, s.DB.Directory(), name)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return nil, fault.Field("username", "Nobody here is called “"+name+"”.")
	case err != nil:
		return nil, err
	case !user.IsUser():
		return nil, fault.Field("username", user.Name+" is an organisation. Invite people, or give a team access.")
	case user.ID == repo.OwnerID:
		return nil, fault.Field("username", user.Name+" owns the repository.")
	case user.SuspendedAt != nil:
		return nil, fault.Field("username", user.Name+" cannot be invited.")
	}
	if s.Blocked != nil {
		for _, by := range []int64{viewer.ID(), repo.OwnerID} {
			if no, err := s.Blocked(ctx, user.ID, by); err != nil || no {
				return nil, errors.Join(err, fault.Field("username", user.Name+" cannot be invited."))
			}
		}
	}
	return user, nil
}

// set gives a person a role at once.
func (s *Service) set(ctx context.Context, viewer *model.Viewer, repo *model.Repo, user *model.Account, have, role model.Role) error {
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := accessdb.SetCollaborator(ctx, tx, repo.ID, user.ID, role); err != nil {
			return err
		}
		if have == role {
			return nil
		}
		if err := note(ctx, tx, "repo.add_member", viewer, repo, user.Name, audit.Facts{"role": role, "before": have}); err != nil {
			return err
		}
		about := events.About{Repo: repo, Actor: viewer}
		switch have {
		case model.RoleNone:
			return events.Emit(ctx, tx, about, Added{UserID: user.ID, Name: user.Name, Role: string(role)})
		}
		return events.Emit(ctx, tx, about, RoleChanged{UserID: user.ID, Name: user.Name, Role: string(role), From: string(have)})
	})
}

// note records what was done to somebody's access to the repository.
func note(ctx context.Context, tx db.DirectoryTx, action string, viewer *model.Viewer, repo *model.Repo, who string, after audit.Facts) error {
	return audit.Record(ctx, tx, audit.Entry{Action: action, Actor: viewer, Repo: repo, Target: who, After: after})
}

// Remove takes a person's role by name away, and an invitation that waits.
// Administrators may, and everybody of themselves.
func (s *Service) Remove(ctx context.Context, viewer *model.Viewer, repo *model.Repo, role model.Role, name string) error {
	user, err := accountdb.ByName(ctx, s.DB.Directory(), name)
	if err != nil {
		return err
	}
	if user.ID != viewer.ID() && !role.AtLeast(model.RoleAdmin) {
		return fault.New(fault.Forbidden, "You need the admin role in "+repo.FullName()+" for this.")
	}
	inv := &model.Invitation{RepoID: repo.ID, AccountID: user.ID}
	if err := s.keepNumber(ctx, inv); err != nil {
		return err
	}
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		about := events.About{Repo: repo, Actor: viewer}
		if inv.ID != 0 {
			if err := accessdb.DropInvitation(ctx, tx, inv.ID); err != nil {
				return err
			}
			return events.Emit(ctx, tx, about, InvitationEnded{InvitationID: inv.ID, UserID: user.ID, Name: user.Name})
		}
		if err := accessdb.RemoveCollaborator(ctx, tx, repo.ID, user.ID); err != nil {
			return err
		}
		if err := note(ctx, tx, "repo.remove_member", viewer, repo, user.Name, nil); err != nil {
			return err
		}
		return events.Emit(ctx, tx, about, Removed{UserID: user.ID, Name: user.Name})
	})
}

// Invitation returns one of the viewer's own, with its repository.
func (s *Service) Invitation(ctx context.Context, viewer *model.Viewer, id int64) (*model.Invitation, *model.Repo, error) {
	inv, err := accessdb.Invitation(ctx, s.DB.Directory(), id)
	if err != nil {
		return nil, nil, err
	}
	if inv.RepoID == 0 || inv.AccountID == 0 || inv.AccountID != viewer.ID() {
		return nil, nil, db.ErrNotFound
	}
	found, err := repodb.ByIDs(ctx, s.DB.Directory(), []int64{inv.RepoID})
	if err != nil {
		return nil, nil, err
	}
	repo := found[inv.RepoID]
	if repo == nil || repo.DeletedAt != nil {
		return nil, nil, db.ErrNotFound
	}
	return inv, repo, nil
}

// Accept makes the viewer, who is invited, a collaborator.
func (s *Service) Accept(ctx context.Context, viewer *model.Viewer, id int64) (*model.Repo, error) {
	inv, repo, err := s.Invitation(ctx, viewer, id)
	if err != nil {
		return nil, err
	}
	return repo, s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if inv.Expired(tx.Now()) {
			return fault.New(fault.Gone, "This invitation has expired. Ask "+inv.Inviter.Name+" for a new one.")
		}
		if err := accessdb.DropInvitation(ctx, tx, inv.ID); err != nil {
			return err
		}
		if err := accessdb.SetCollaborator(ctx, tx, repo.ID, viewer.ID(), model.Role(inv.Role)); err != nil {
			return err
		}
		if err := note(ctx, tx, "repo.add_member", viewer, repo, viewer.Name(), audit.Facts{"role": inv.Role}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer},
			Added{UserID: viewer.ID(), Name: viewer.Name(), Role: inv.Role})
	})
}

// Decline ends an invitation of the viewer's.
func (s *Service) Decline(ctx context.Context, viewer *model.Viewer, id int64) error {
	inv, repo, err := s.Invitation(ctx, viewer, id)
	if err != nil {
		return err
	}
	return s.end(ctx, viewer, repo, inv, true)
}

// ofRepo returns an invitation of the repository.
func (s *Service) ofRepo(ctx context.Context, repo *model.Repo, id int64) (*model.Invitation, error) {
	inv, err := accessdb.Invitation(ctx, s.DB.Directory(), id)
	if err == nil && inv.RepoID != repo.ID {
		err = db.ErrNotFound
	}
	return inv, err
}

// Revoke takes an invitation to the repository back.
func (s *Service) Revoke(ctx context.Context, viewer *model.Viewer, repo *model.Repo, id int64) error {
	inv, err := s.ofRepo(ctx, repo, id)
	if err != nil {
		return err
	}
	return s.end(ctx, viewer, repo, inv, false)
}

func (s *Service) end(ctx context.Context, viewer *model.Viewer, repo *model.Repo, inv *model.Invitation, declined bool) error {
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := accessdb.DropInvitation(ctx, tx, inv.ID); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer},
			InvitationEnded{InvitationID: inv.ID, UserID: inv.AccountID, Name: inv.Account.Name, Declined: declined})
	})
}

// ChangeInvitation gives an invitation to the repository another role.
func (s *Service) ChangeInvitation(ctx context.Context, repo *model.Repo, id int64, word string) (*model.Invitation, error) {
	inv, err := s.ofRepo(ctx, repo, id)
	if err != nil {
		return nil, err
	}
	role, ok := ParseRole(word)
	if !ok || word == "" {
		return nil, fault.Field("permissions", "A role is read, triage, write, maintain or admin.")
	}
	inv.Role = string(role)
	return inv, s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return accessdb.SetInvitationRole(ctx, tx, id, inv.Role)
	})
}
