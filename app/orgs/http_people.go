package orgs

import (
	"context"
	"errors"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accessdb"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/orgview"
	"github.com/gitfor/gitfor/views/ui"
)

// shownLink names the link that the next page shows.
const shownLink = "org-invitation"

// notOrg is the fault for a page of organisations that is asked of a person.
func notOrg(c *web.Ctx) error {
	if c.Account.IsUser() {
		return db.ErrNotFound
	}
	return nil
}

func (s *Service) people(c *web.Ctx) error { return s.showPeople(c, orgview.PeopleProps{}, nil) }

func (s *Service) showPeople(c *web.Ctx, p orgview.PeopleProps, errs fault.Fields) error {
	if err := notOrg(c); err != nil {
		return err
	}
	dir := s.DB.Directory()
	p.Org, p.Errors, p.Me, p.Now = c.Account, ui.Errors(errs), c.Viewer.ID(), s.now()
	role, err := accountdb.OrgRole(c.Context(), dir, c.Account.ID, c.Viewer.ID())
	if err != nil {
		return err
	}
	p.Mine, p.Owner = role != "", role == Owner && c.Viewer.Has("admin:org")
	members, err := accountdb.Members(c.Context(), dir, c.Account.ID, role == "", 1000, 0)
	if err != nil {
		return err
	}
	for _, m := range members {
		p.Members = append(p.Members, orgview.Member{Account: &m.Account, Role: m.Role, Public: m.Public})
	}
	if p.Owner {
		if p.Invitations, err = accessdb.ToOrg(c.Context(), dir, c.Account.ID); err != nil {
			return err
		}
		token, err := s.Auth.TakeShown(c.Context(), c.Viewer.ID(), shownLink)
		if err != nil {
			return err
		}
		if token != "" {
			p.NewLink = c.URL("/invitations/" + token)
			c.W.Header().Set("Cache-Control", "no-store")
		}
	}
	return s.tab(c, "people", "People of "+c.Account.Shown(), errs, orgview.People(p))
}

// tab shows a page in the frame of the organisation.
func (s *Service) tab(c *web.Ctx, key, title string, errs fault.Fields, body templ.Component) error {
	shell, err := s.Accounts.Shell(c, key)
	if err != nil {
		return err
	}
	page := web.Page{Title: title, Shell: shell, Body: body}
	if len(errs) > 0 {
		page.Status = fault.Invalid.Status()
	}
	return c.Render(page)
}

// memberSet invites a person by name, or changes the role of a member.
func (s *Service) memberSet(c *web.Ctx) error {
	var in InviteInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	in.Email = ""
	if in.Name == "" {
		return s.showPeople(c, orgview.PeopleProps{Role: in.Role}, fault.Fields{"username": "Name somebody."})
	}
	inv, err := s.Invite(c.Context(), c.Viewer, c.Account, in)
	errs, err := invalid(err)
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showPeople(c, orgview.PeopleProps{Typed: in.Name, Role: in.Role}, errs)
	}
	to := link.Org(c.Account.Name, "people")
	if inv == nil {
		return c.RedirectFlash(to, "The role of "+in.Name+" is changed.")
	}
	return c.RedirectFlash(to, inv.Account.Name+" is invited.")
}

// inviteLink makes an invitation for an address or for whoever has its link.
func (s *Service) inviteLink(c *web.Ctx) error {
	var in InviteInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	in.Name = ""
	inv, err := s.Invite(c.Context(), c.Viewer, c.Account, in)
	errs, err := invalid(err)
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showPeople(c, orgview.PeopleProps{TypedEmail: in.Email, LinkRole: in.Role, LinkOpen: true}, errs)
	}
	if err := s.Auth.ShowOnce(c.Context(), c.Viewer.ID(), shownLink, inv.Token); err != nil {
		return err
	}
	return c.Redirect(link.Org(c.Account.Name, "people"))
}

func (s *Service) memberRemove(c *web.Ctx) error {
	if err := s.Accounts.RemoveMember(c.Context(), c.Viewer, c.Account, c.Param("username")); err != nil {
		return err
	}
	return c.RedirectFlash(link.Org(c.Account.Name, "people"), c.Param("username")+" is removed.")
}

func (s *Service) leave(c *web.Ctx) error {
	if err := s.Accounts.RemoveMember(c.Context(), c.Viewer, c.Account, c.Viewer.Name()); err != nil {
		return err
	}
	return c.RedirectFlash(link.Account(c.Account.Name), "You do not belong to "+c.Account.Name+" any more.")
}

func (s *Service) publicity(c *web.Ctx) error {
	public := c.R.PostFormValue("public") == "true"
	if err := s.setPublic(c, c.Viewer.ID(), public); err != nil {
		return err
	}
	return c.Redirect(link.Org(c.Account.Name, "people"))
}

func (s *Service) revoke(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	inv, err := s.ofOrg(c.Context(), c.Account, id)
	if err != nil {
		return err
	}
	if err := s.End(c.Context(), c.Viewer, inv); err != nil {
		return err
	}
	return c.RedirectFlash(link.Org(c.Account.Name, "people"), "The invitation is taken back.")
}

// mine is the viewer's invitation to the organisation {owner}.
func (s *Service) mine(c *web.Ctx) (*model.Invitation, error) {
	org, err := accountdb.ByName(c.Context(), s.DB.Directory(), c.Param("owner"))
	if err != nil {
		return nil, err
	}
	return s.Of(c.Context(), c.Viewer, org.ID)
}

func (s *Service) showInvitation(c *web.Ctx, inv *model.Invitation, accept, decline string) error {
	return c.Render(web.Page{Title: "Invitation to " + inv.Org.Shown(), Shell: layout.Site, Props: layout.Props{NoIndex: true},
		Body: orgview.Invited(orgview.InvitedProps{Invitation: inv, Accept: accept, Decline: decline, Expired: inv.Expired(s.now())})})
}

func (s *Service) invitation(c *web.Ctx) error {
	inv, err := s.mine(c)
	if err != nil {
		return err
	}
	at := link.Org(inv.Org.Name, "invitation")
	return s.showInvitation(c, inv, at+"/accept", at+"/decline")
}

func (s *Service) accept(c *web.Ctx) error {
	inv, err := s.mine(c)
	if err != nil {
		return err
	}
	return s.accepted(c, inv)
}

func (s *Service) accepted(c *web.Ctx, inv *model.Invitation) error {
	if err := s.Accept(c.Context(), c.Viewer, inv); err != nil {
		return err
	}
	return c.RedirectFlash(link.Account(inv.Org.Name), "You belong to "+inv.Org.Shown()+" now.")
}

func (s *Service) decline(c *web.Ctx) error {
	inv, err := s.mine(c)
	if err != nil {
		return err
	}
	if err := s.End(c.Context(), c.Viewer, inv); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("invitations"), "The invitation is declined.")
}

func (s *Service) link(c *web.Ctx) error {
	c.W.Header().Set("Referrer-Policy", "no-referrer")
	inv, err := s.ByLink(c.Context(), c.Param("token"))
	if err != nil {
		return err
	}
	role, err := accountdb.OrgRole(c.Context(), s.DB.Directory(), inv.OrgID, c.Viewer.ID())
	if err != nil {
		return err
	}
	if role != "" {
		return c.RedirectFlash(link.Account(inv.Org.Name), "You belong to "+inv.Org.Shown()+" already.")
	}
	return s.showInvitation(c, inv, "/invitations/"+link.Segment(c.Param("token")), "")
}

func (s *Service) linkAccept(c *web.Ctx) error {
	inv, err := s.ByLink(c.Context(), c.Param("token"))
	if err != nil {
		return err
	}
	return s.accepted(c, inv)
}

// Waiting shows the viewer's invitations to organisations, nil when there is
// none.
func (s *Service) Waiting(c *web.Ctx) (templ.Component, error) {
	list, err := accessdb.Of(c.Context(), s.DB.Directory(), c.Viewer.ID(), true)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return orgview.Waiting(list), nil
}

func (s *Service) setPublic(c *web.Ctx, userID int64, public bool) error {
	err := s.DB.InDirectory(c.Context(), func(ctx context.Context, tx db.DirectoryTx) error {
		return accountdb.SetPublicMember(ctx, tx, c.Account.ID, userID, public)
	})
	if errors.Is(err, db.ErrNotFound) {
		return fault.New(fault.Forbidden, "You do not belong to "+c.Account.Name+".")
	}
	return err
}
