package orgs

import (
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accessdb"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/orgview"
	"github.com/gitfor/gitfor/views/ui"
)

func (s *Service) teamRoutes(r *web.Router) {
	member, owner := s.Gate.OrgMember(), s.Gate.OrgOwner()
	const at = "/orgs/{owner}/teams"
	r.Get(at, member, s.teams)
	r.Get(at+"/new", owner, s.teamForm)
	r.Post(at, owner, s.teamCreate)
	r.Get(at+"/{team}", member, s.team)
	r.Post(at+"/{team}", member, s.teamSave)
	r.Get(at+"/{team}/edit", member, s.teamEdit)
	r.Post(at+"/{team}/delete", owner, s.teamDelete)
	r.Post(at+"/{team}/members", member, s.teamMemberSet)
	r.Post(at+"/{team}/members/{username}/remove", member, s.teamMemberRemove)
}

// seen is what a member sees of the organisation's teams.
type seen struct {
	role string
	all  []*model.Team
}

func (s *Service) see(c *web.Ctx) (seen, error) {
	role, err := accountdb.OrgRole(c.Context(), s.DB.Directory(), c.Account.ID, c.Viewer.ID())
	if err != nil {
		return seen{}, err
	}
	all, err := accessdb.OrgTeams(c.Context(), s.DB.Directory(), c.Account.ID, c.Viewer.ID(), role == Owner)
	return seen{role, all}, err
}

// find returns the team {team} where the viewer may see it, and whether the
// viewer may change it.
func (s *Service) find(c *web.Ctx) (t *model.Team, change bool, see seen, err error) {
	if see, err = s.see(c); err != nil {
		return nil, false, see, err
	}
	for _, one := range see.all {
		if one.Slug == model.Key(c.Param("team")) {
			t = one
		}
	}
	if t == nil {
		return nil, false, see, db.ErrNotFound
	}
	t.Org = c.Account
	if see.role == Owner {
		return t, c.Viewer.Has("admin:org"), see, nil
	}
	role, err := accessdb.TeamRoleOf(c.Context(), s.DB.Directory(), t.ID, c.Viewer.ID())
	return t, role == model.TeamMaintainer && c.Viewer.Has("write:org"), see, err
}

// mayChange is find for who changes the team.
func (s *Service) mayChange(c *web.Ctx) (*model.Team, seen, error) {
	t, change, see, err := s.find(c)
	if err == nil && !change {
		err = fault.New(fault.Forbidden, "Owners of "+c.Account.Name+" and maintainers of the team may do this.")
	}
	return t, see, err
}

func (s *Service) teams(c *web.Ctx) error {
	see, err := s.see(c)
	if err != nil {
		return err
	}
	counts, err := accessdb.CountTeams(c.Context(), s.DB.Directory(), c.Account.ID)
	if err != nil {
		return err
	}
	return s.tab(c, "teams", "Teams of "+c.Account.Shown(), nil, orgview.Teams(orgview.TeamsProps{Org: c.Account,
		Teams: tree(see.all, counts, 0, 0, map[int64]bool{}), Owner: see.role == Owner}))
}

// tree orders teams so that each stands below the one that holds it.
func tree(all []*model.Team, counts map[int64]accessdb.TeamCounts, parent int64, depth int, done map[int64]bool) []orgview.TeamRow {
	var rows []orgview.TeamRow
	known := map[int64]bool{}
	for _, t := range all {
		known[t.ID] = true
	}
	for _, t := range all {
		top := parent == 0 && !known[t.ParentID]
		if done[t.ID] || !top && t.ParentID != parent {
			continue
		}
		done[t.ID] = true
		n := counts[t.ID]
		rows = append(rows, orgview.TeamRow{Team: t, Depth: min(depth, 5), Members: n.Members, Repos: n.Repos})
		rows = append(rows, tree(all, counts, t.ID, depth+1, done)...)
	}
	return rows
}

type teamForm struct {
	Name        string `form:"name"`
	Description string `form:"description"`
	Parent      string `form:"parent"`
	Secret      bool   `form:"secret"`
}

func (f *teamForm) input() TeamInput {
	return TeamInput{Name: &f.Name, Description: &f.Description, Parent: &f.Parent, Secret: &f.Secret}
}

func (s *Service) teamForm(c *web.Ctx) error {
	return s.showTeamForm(c, nil, teamForm{Parent: c.Query("parent")}, nil)
}

// showTeamForm shows the form of a team; t is nil for a new one.
func (s *Service) showTeamForm(c *web.Ctx, t *model.Team, f teamForm, errs fault.Fields) error {
	see, err := s.see(c)
	if err != nil {
		return err
	}
	p := orgview.TeamFormProps{Org: c.Account, Name: f.Name, Description: f.Description, Parent: f.Parent, Secret: f.Secret,
		Errors: ui.Errors(errs), Owner: see.role == Owner, Parents: []ui.Option{{Label: "No other team"}}}
	title := "New team"
	if t != nil {
		p.Slug, title = t.Slug, "Team "+t.Name
	}
	for _, one := range see.all {
		if !one.Secret && (t == nil || one.ID != t.ID) {
			p.Parents = append(p.Parents, ui.Option{Value: one.Slug, Label: one.Name})
		}
	}
	return s.tab(c, "teams", title, errs, orgview.TeamForm(p))
}

func (s *Service) teamCreate(c *web.Ctx) error {
	var f teamForm
	if err := c.Decode(&f); err != nil {
		return err
	}
	t, err := s.CreateTeam(c.Context(), c.Viewer, c.Account, f.input())
	errs, err := invalid(err)
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showTeamForm(c, nil, f, errs)
	}
	return c.Redirect(link.Team(c.Account.Name, t.Slug))
}

func (s *Service) team(c *web.Ctx) error { return s.showTeam(c, "", nil) }

func (s *Service) showTeam(c *web.Ctx, typed string, errs fault.Fields) error {
	t, change, see, err := s.find(c)
	if err != nil {
		return err
	}
	p := orgview.TeamProps{Org: c.Account, Team: t, Change: change, Me: c.Viewer.ID(), Typed: typed, Errors: ui.Errors(errs)}
	for _, one := range see.all {
		if one.ParentID == t.ID {
			p.Children = append(p.Children, one)
		}
	}
	people, err := accessdb.TeamPeople(c.Context(), s.DB.Directory(), t.ID)
	if err != nil {
		return err
	}
	for _, m := range people {
		p.Members = append(p.Members, orgview.TeamMember{Account: &m.Account, Role: m.Role, Through: m.Through})
	}
	list, err := s.teamRepos(c, t)
	if err != nil {
		return err
	}
	for _, r := range list {
		p.Repos = append(p.Repos, orgview.TeamRepo{Repo: &r.Repo, Role: r.Role, Through: r.Through})
	}
	return s.tab(c, "teams", "Team "+t.Name, errs, orgview.Team(p))
}

// teamRepos returns the team's repositories that the viewer may see.
func (s *Service) teamRepos(c *web.Ctx, t *model.Team) ([]*accessdb.TeamRepo, error) {
	list, err := accessdb.TeamRepos(c.Context(), s.DB.Directory(), t.ID)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	see, err := repodb.ReadableIDs(c.Context(), s.DB.Directory(), ids, c.Viewer.ID())
	if err != nil {
		return nil, err
	}
	var out []*accessdb.TeamRepo
	for _, r := range list {
		if see[r.ID] && c.Viewer.Reaches(r.ID, r.IsPrivate(), false) {
			r.Owner = c.Account
			out = append(out, r)
		}
	}
	return out, nil
}

func (s *Service) teamEdit(c *web.Ctx) error {
	t, _, err := s.mayChange(c)
	if err != nil {
		return err
	}
	f := teamForm{Name: t.Name, Description: t.Description, Secret: t.Secret}
	if t.Parent != nil {
		f.Parent = t.Parent.Slug
	}
	return s.showTeamForm(c, t, f, nil)
}

func (s *Service) teamSave(c *web.Ctx) error {
	t, see, err := s.mayChange(c)
	if err != nil {
		return err
	}
	var f teamForm
	if err := c.Decode(&f); err != nil {
		return err
	}
	in := f.input()
	if see.role != Owner {
		in.Parent, in.Secret = nil, nil // what reaches other teams is for owners
	}
	before := *t
	errs, err := invalid(s.EditTeam(c.Context(), c.Viewer, t, in))
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showTeamForm(c, &before, f, errs)
	}
	return c.RedirectFlash(link.Team(c.Account.Name, t.Slug), "The team is saved.")
}

func (s *Service) teamDelete(c *web.Ctx) error {
	t, _, err := s.mayChange(c)
	if err != nil {
		return err
	}
	if err := s.DeleteTeam(c.Context(), c.Viewer, t); err != nil {
		return err
	}
	return c.RedirectFlash(link.Org(c.Account.Name, "teams"), "The team "+t.Name+" is deleted.")
}

func (s *Service) teamMemberSet(c *web.Ctx) error {
	t, see, err := s.mayChange(c)
	if err != nil {
		return err
	}
	var in struct {
		Name string `form:"username"`
		Role string `form:"role"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	pending, err := s.SetTeamMember(c.Context(), c.Viewer, t, in.Name, in.Role, see.role == Owner)
	errs, err := invalid(err)
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showTeam(c, in.Name, errs)
	}
	if pending {
		return c.RedirectFlash(link.Team(c.Account.Name, t.Slug), in.Name+" is invited to "+c.Account.Name+" and to the team.")
	}
	return c.RedirectFlash(link.Team(c.Account.Name, t.Slug), in.Name+" is in the team now.")
}

func (s *Service) teamMemberRemove(c *web.Ctx) error {
	t, change, _, err := s.find(c)
	if err != nil {
		return err
	}
	if !change && model.Key(c.Param("username")) != c.Viewer.Account.NameKey {
		return fault.New(fault.Forbidden, "Owners of "+c.Account.Name+" and maintainers of the team may do this.")
	}
	if err := s.RemoveTeamMember(c.Context(), c.Viewer, t, c.Param("username")); err != nil {
		return err
	}
	return c.RedirectFlash(link.Team(c.Account.Name, t.Slug), c.Param("username")+" is not in the team any more.")
}
