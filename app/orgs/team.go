package orgs

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accessdb"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// TeamInput describes a team; what is nil stays as it is.
type TeamInput struct {
	Name        *string `form:"name"`
	Description *string `form:"description"`
	// Parent is the slug of the team above, "" for none.
	Parent *string `form:"parent"`
	Secret *bool   `form:"secret"`
}

// Slug is a team's name as a part of an address.
func Slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '_':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-")
}

// fill checks the input and writes it into t.
func (s *Service) fill(ctx context.Context, t *model.Team, in TeamInput) error {
	f := fault.Fields{}
	if in.Name != nil {
		t.Name = strings.TrimSpace(*in.Name)
		t.Slug = Slug(t.Name)
	}
	switch {
	case t.Name == "":
		f.Add("name", "Choose a name.")
	case utf8.RuneCountInString(t.Name) > 100:
		f.Add("name", "A name has at most 100 characters.")
	case t.Slug == "" || t.Slug == "new":
		f.Add("name", "This name cannot be an address. Use letters and digits.")
	}
	if in.Description != nil {
		t.Description = strings.TrimSpace(*in.Description)
		if utf8.RuneCountInString(t.Description) > 300 {
			f.Add("description", "A description has at most 300 characters.")
		}
	}
	if in.Secret != nil {
		t.Secret = *in.Secret
	}
	if in.Parent != nil {
		t.ParentID, t.Parent = 0, nil
		if *in.Parent != "" {
			parent, err := accessdb.TeamBySlug(ctx, s.DB.Directory(), t.OrgID, *in.Parent)
			switch {
			case errors.Is(err, db.ErrNotFound):
				f.Add("parent", "There is no team “"+*in.Parent+"”.")
			case err != nil:
				return err
			default:
				t.ParentID, t.Parent = parent.ID, parent
			}
		}
	}
	if t.Secret && t.ParentID != 0 {
		f.Add("secret", "A secret team cannot be inside another.")
	}
	if t.Parent != nil && t.Parent.Secret {
		f.Add("parent", "A secret team holds no other.")
	}
	return f.Err()
}

// CreateTeam makes a team in which the viewer is the maintainer.
func (s *Service) CreateTeam(ctx context.Context, viewer *model.Viewer, org *model.Account, in TeamInput) (*model.Team, error) {
	t := &model.Team{OrgID: org.ID, Org: org}
	if in.Name == nil {
		in.Name = new(string)
	}
	if err := s.fill(ctx, t, in); err != nil {
		return nil, err
	}
	err := s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		t.ID = 0
		if err := accessdb.InsertTeam(ctx, tx, t); err != nil {
			return err
		}
		if err := accessdb.SetTeamMember(ctx, tx, t.ID, viewer.ID(), model.TeamMaintainer); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "team.create", Actor: viewer, AccountID: org.ID, Target: t.Slug}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{AccountID: org.ID, Actor: viewer}, TeamCreated{ID: t.ID, Slug: t.Slug, Parent: t.ParentID})
	})
	if errors.Is(err, db.ErrConflict) {
		return nil, fault.Field("name", "There is a team of this name, or of one whose address is the same.")
	}
	return t, err
}

// EditTeam changes a team.
func (s *Service) EditTeam(ctx context.Context, viewer *model.Viewer, t *model.Team, in TeamInput) error {
	from, secret := t.Slug, t.Secret
	if err := s.fill(ctx, t, in); err != nil {
		return err
	}
	err := s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if t.ParentID != 0 {
			circle, err := accessdb.Below(ctx, tx, t.OrgID, t.ParentID, t.ID)
			if err != nil {
				return err
			}
			if circle {
				return fault.Field("parent", "A team cannot be inside itself or a team below it.")
			}
		}
		if t.Secret && !secret {
			counts, err := accessdb.CountTeams(ctx, tx.Directory, t.OrgID)
			if err != nil {
				return err
			}
			if counts[t.ID].Teams > 0 {
				return fault.Field("secret", "A secret team holds no other. Move the teams below it first.")
			}
		}
		if err := accessdb.SaveTeam(ctx, tx, t); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "team.edit", Actor: viewer, AccountID: t.OrgID, Target: t.Slug,
			Before: audit.Facts{"team": from}, After: audit.Facts{"team": t.Slug, "parent": t.ParentID}}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{AccountID: t.OrgID, Actor: viewer},
			TeamEdited{ID: t.ID, Slug: t.Slug, From: from, Parent: t.ParentID})
	})
	if errors.Is(err, db.ErrConflict) {
		return fault.Field("name", "There is a team of this name, or of one whose address is the same.")
	}
	return err
}

// DeleteTeam removes a team; the teams below it move up.
func (s *Service) DeleteTeam(ctx context.Context, viewer *model.Viewer, t *model.Team) error {
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := accessdb.DeleteTeam(ctx, tx, t); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "team.destroy", Actor: viewer, AccountID: t.OrgID, Target: t.Slug}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{AccountID: t.OrgID, Actor: viewer}, TeamDeleted{ID: t.ID, Slug: t.Slug})
	})
}

// SetTeamMember puts a person into a team, or changes the role there. Who does
// not belong to the organisation is invited to it, and pending is true.
func (s *Service) SetTeamMember(ctx context.Context, viewer *model.Viewer, t *model.Team, name, role string, owner bool) (pending bool, err error) {
	if role == "" {
		role = model.TeamMember
	}
	if role != model.TeamMember && role != model.TeamMaintainer {
		return false, fault.Field("role", "A role is member or maintainer.")
	}
	user, err := s.person(ctx, name)
	if err != nil {
		return false, err
	}
	in, err := accountdb.OrgRole(ctx, s.DB.Directory(), t.OrgID, user.ID)
	if err != nil {
		return false, err
	}
	if in == "" {
		if !owner {
			return false, fault.Field("username", user.Name+" does not belong to the organisation. An owner can invite people.")
		}
		_, err := s.Invite(ctx, viewer, t.Org, InviteInput{Name: user.Name, Role: Member, TeamIDs: []int64{t.ID}})
		return true, err
	}
	return false, s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := accessdb.SetTeamMember(ctx, tx, t.ID, user.ID, role); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "team.add_member", Actor: viewer, AccountID: t.OrgID, Target: t.Slug,
			After: audit.Facts{"user": user.Name, "role": role}}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{AccountID: t.OrgID, Actor: viewer},
			TeamMemberSet{TeamID: t.ID, Slug: t.Slug, UserID: user.ID, Name: user.Name, Role: role})
	})
}

// RemoveTeamMember takes a person out of a team.
func (s *Service) RemoveTeamMember(ctx context.Context, viewer *model.Viewer, t *model.Team, name string) error {
	user, err := accountdb.ByName(ctx, s.DB.Directory(), name)
	if err != nil {
		return err
	}
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := accessdb.RemoveTeamMember(ctx, tx, t.ID, user.ID); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "team.remove_member", Actor: viewer, AccountID: t.OrgID, Target: t.Slug,
			Before: audit.Facts{"user": user.Name}}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{AccountID: t.OrgID, Actor: viewer},
			TeamMemberRemoved{TeamID: t.ID, Slug: t.Slug, UserID: user.ID, Name: user.Name})
	})
}

func (s *Service) person(ctx context.Context, name string) (*model.Account, error) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "@")
	if name == "" {
		return nil, fault.Field("username", "Name somebody.")
	}
	user, err := accountdb.ByName(ctx, s.DB.Directory(), name)
	if errors.Is(err, db.ErrNotFound) || err == nil && !user.IsUser() {
		return nil, fault.Field("username", "Nobody here is called “"+name+"”.")
	}
	return user, err
}
