package access

import (
	"errors"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accessdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/accessview"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// Routes mounts the pages and the API.
func (s *Service) Routes(r *web.Router) {
	admin, in := s.Gate.Repo(model.RoleAdmin), s.Gate.SignedIn()
	const at = "/{owner}/{repo}/settings/access"
	r.Get(at, admin, s.page)
	r.Post(at, admin, s.invite)
	r.Post(at+"/people/{username}", admin, s.change)
	r.Post(at+"/people/{username}/remove", admin, s.remove)
	r.Post(at+"/invitations/{id}/revoke", admin, s.revoke)
	r.Post(at+"/teams", admin, s.teamSet)
	r.Post(at+"/teams/{team}/remove", admin, s.teamRemove)
	r.Get("/{owner}/{repo}/invitations", in, s.invitation)
	r.Get("/settings/invitations", in, s.invitations)
	r.Post("/settings/invitations/{id}/accept", in, s.accept)
	r.Post("/settings/invitations/{id}/decline", in, s.decline)
	s.apiRoutes(r)
}

func home(c *web.Ctx) string { return link.RepoSettings(c.Repo.Owner.Name, c.Repo.Name, "access") }

func (s *Service) page(c *web.Ctx) error { return s.show(c, accessview.AccessProps{}, nil) }

// show shows the page; p holds what was typed into a form that was refused.
func (s *Service) show(c *web.Ctx, p accessview.AccessProps, errs fault.Fields) error {
	p.Base, p.Repo, p.Errors, p.Now = home(c), c.Repo, ui.Errors(errs), time.Now()
	people, err := s.Report(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	for _, person := range people {
		row := accessview.Person{Account: person.Account, Role: string(person.Role), Direct: string(person.Direct())}
		for _, r := range person.Reasons {
			row.Why = append(row.Why, why(r))
		}
		p.People = append(p.People, row)
	}
	if p.Invitations, err = accessdb.ToRepo(c.Context(), s.DB.Directory(), c.Repo.ID); err != nil {
		return err
	}
	if !c.Repo.Owner.IsUser() {
		if err := s.teams(c, &p); err != nil {
			return err
		}
	}
	shell, err := s.Repos.SettingsShell(c, "access")
	if err != nil {
		return err
	}
	page := web.Page{Title: "Access · " + c.Repo.FullName(), Shell: shell, Body: accessview.Access(p)}
	if len(errs) > 0 {
		page.Status = fault.Invalid.Status()
	}
	return c.Render(page)
}

// why says in words where a role comes from.
func why(r *accessdb.Reason) string {
	switch r.Via {
	case accessdb.ByOwning:
		return "owns the repository"
	case accessdb.ByOrgOwner:
		return "owns the organisation"
	case accessdb.ByBase:
		return string(r.Role) + " as a member of the organisation"
	case accessdb.ByTeam:
		return string(r.Role) + " through the team " + r.Team
	}
	return string(r.Role) + " as a collaborator"
}

func (s *Service) teams(c *web.Ctx, p *accessview.AccessProps) error {
	have, err := accessdb.Teams(c.Context(), s.DB.Directory(), c.Repo.ID)
	if err != nil {
		return err
	}
	all, err := accessdb.OrgTeams(c.Context(), s.DB.Directory(), c.Repo.OwnerID, c.Viewer.ID(), true)
	if err != nil {
		return err
	}
	p.HasTeams = len(all) > 0
	taken := map[int64]bool{}
	for _, t := range have {
		taken[t.ID] = true
		p.Teams = append(p.Teams, accessview.Team{Team: &t.Team, Role: string(t.Role), Members: t.Members})
	}
	for _, t := range all {
		if !taken[t.ID] {
			p.Free = append(p.Free, ui.Option{Value: t.Slug, Label: t.Name})
		}
	}
	return nil
}

func (s *Service) invite(c *web.Ctx) error {
	var in InviteInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	inv, err := s.Invite(c.Context(), c.Viewer, c.Repo, in)
	if f := fault.From(err); err != nil && f.Kind == fault.Invalid {
		return s.show(c, accessview.AccessProps{Typed: in.Name, TypedRole: in.Role}, f.Fields)
	}
	if err != nil {
		return err
	}
	if inv == nil {
		return c.RedirectFlash(home(c), in.Name+" has access now.")
	}
	return c.RedirectFlash(home(c), inv.Account.Name+" is invited.")
}

// change gives a collaborator another role.
func (s *Service) change(c *web.Ctx) error {
	name := c.Param("username")
	if _, err := s.Invite(c.Context(), c.Viewer, c.Repo, InviteInput{Name: name, Role: c.R.PostFormValue("role")}); err != nil {
		return err
	}
	return c.RedirectFlash(home(c), "The role of "+name+" is changed.")
}

func (s *Service) remove(c *web.Ctx) error {
	name := c.Param("username")
	if err := s.Remove(c.Context(), c.Viewer, c.Repo, c.Role, name); err != nil {
		return err
	}
	return c.RedirectFlash(home(c), name+" is removed.")
}

func (s *Service) revoke(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.Revoke(c.Context(), c.Viewer, c.Repo, id); err != nil {
		return err
	}
	return c.RedirectFlash(home(c), "The invitation is taken back.")
}

func (s *Service) teamSet(c *web.Ctx) error {
	var in struct {
		Team string `form:"team"`
		Role string `form:"role"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	team, err := accessdb.TeamBySlug(c.Context(), s.DB.Directory(), c.Repo.OwnerID, in.Team)
	if errors.Is(err, db.ErrNotFound) {
		err = fault.Field("team", "Choose a team.")
	}
	if err == nil {
		err = s.SetTeam(c.Context(), c.Viewer, c.Repo, team, in.Role)
	}
	if f := fault.From(err); err != nil && f.Kind == fault.Invalid {
		return s.show(c, accessview.AccessProps{}, f.Fields)
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(home(c), "The team "+team.Name+" has the role "+in.Role+".")
}

func (s *Service) teamRemove(c *web.Ctx) error {
	team, err := accessdb.TeamBySlug(c.Context(), s.DB.Directory(), c.Repo.OwnerID, c.Param("team"))
	if err != nil {
		return err
	}
	if err := s.RemoveTeam(c.Context(), c.Viewer, c.Repo, team); err != nil {
		return err
	}
	return c.RedirectFlash(home(c), "The team "+team.Name+" has no role of its own here any more.")
}

// own returns the viewer's invitations as rows.
func (s *Service) own(c *web.Ctx) ([]accessview.Invitation, error) {
	list, err := accessdb.Of(c.Context(), s.DB.Directory(), c.Viewer.ID(), false)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(list))
	for i, inv := range list {
		ids[i] = inv.RepoID
	}
	found, err := repodb.ByIDs(c.Context(), s.DB.Directory(), ids)
	if err != nil {
		return nil, err
	}
	rows := make([]accessview.Invitation, len(list))
	for i, inv := range list {
		rows[i] = accessview.Invitation{Invitation: inv, Repo: found[inv.RepoID], Expired: inv.Expired(time.Now())}
	}
	return rows, nil
}

func (s *Service) invitations(c *web.Ctx) error {
	rows, err := s.own(c)
	if err != nil {
		return err
	}
	body := accessview.Invitations(rows)
	if s.More != nil {
		more, err := s.More(c)
		if err != nil {
			return err
		}
		if more != nil {
			body = ui.Group(body, more)
		}
	}
	return c.Render(web.Page{Title: "Invitations", Shell: s.SettingsShell("invitations"), Props: layout.Props{NoIndex: true}, Body: body})
}

// invitation is the page that mail and people point to: the viewer's
// invitation to this repository.
func (s *Service) invitation(c *web.Ctx) error {
	rows, err := s.own(c)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Repo.NameKey == model.Key(c.Param("repo")) && row.Repo.Owner.NameKey == model.Key(c.Param("owner")) {
			return c.Render(web.Page{Title: "Invitation to " + row.Repo.FullName(), Shell: layout.Site, Props: layout.Props{NoIndex: true},
				Body: accessview.Invited(row)})
		}
	}
	return db.ErrNotFound
}

func (s *Service) accept(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	repo, err := s.Accept(c.Context(), c.Viewer, id)
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Repo(repo.Owner.Name, repo.Name), "You have access to "+repo.FullName()+" now.")
}

func (s *Service) decline(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.Decline(c.Context(), c.Viewer, id); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("invitations"), "The invitation is declined.")
}
