package orgs

import (
	"net/http"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accessdb"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

func (s *Service) apiTeamRoutes(a *web.Router) {
	g := s.Gate
	member, owner, admin := g.OrgMember(), g.OrgOwner(), g.Repo(model.RoleAdmin)
	const at = "/orgs/{owner}/teams"
	const repo = "/orgs/{org}/teams/{team}/repos/{owner}/{repo}"
	teams := []string{"per_page", "page"}
	a.Get(at, member, s.apiTeams, &web.Doc{ID: "teams/list", Summary: "List teams", Query: teams, Out: []Team{}})
	a.Post(at, owner, s.apiTeamCreate, &web.Doc{ID: "teams/create", Summary: "Create a team", In: teamInput{}, Out: FullTeam{}, Status: http.StatusCreated})
	a.Get(at+"/{team}", member, s.apiTeam, &web.Doc{ID: "teams/get-by-name", Summary: "Get a team by name", Out: FullTeam{}})
	a.Patch(at+"/{team}", member, s.apiTeamEdit, &web.Doc{ID: "teams/update-in-org", Summary: "Update a team", In: teamInput{}, Out: FullTeam{}})
	a.Delete(at+"/{team}", owner, s.apiTeamDelete, &web.Doc{ID: "teams/delete-in-org", Summary: "Delete a team", Status: http.StatusNoContent})
	a.Get(at+"/{team}/teams", member, s.apiTeamChildren, &web.Doc{ID: "teams/list-child-in-org", Summary: "List child teams", Query: teams, Out: []Team{}})
	a.Get(at+"/{team}/members", member, s.apiTeamMembers, &web.Doc{ID: "teams/list-members-in-org", Summary: "List team members", Query: append(teams, "role"), Out: []api.User{}})
	a.Get(at+"/{team}/memberships/{username}", member, s.apiTeamMembership, &web.Doc{ID: "teams/get-membership-for-user-in-org", Summary: "Get team membership for a user", Out: TeamMembership{}})
	a.Put(at+"/{team}/memberships/{username}", member, s.apiTeamMembershipSet, &web.Doc{ID: "teams/add-or-update-membership-for-user-in-org", Summary: "Add or update team membership for a user", In: membershipInput{}, Out: TeamMembership{}})
	a.Delete(at+"/{team}/memberships/{username}", member, s.apiTeamMembershipEnd, &web.Doc{ID: "teams/remove-membership-for-user-in-org", Summary: "Remove team membership for a user", Status: http.StatusNoContent})
	a.Get(at+"/{team}/repos", member, s.apiTeamRepos, &web.Doc{ID: "teams/list-repos-in-org", Summary: "List team repositories", Query: teams, Out: []TeamRepository{}})
	a.Get(repo, g.Repo(model.RoleRead), s.apiTeamRepo, &web.Doc{ID: "teams/check-permissions-for-repo-in-org", Summary: "Check team permissions for a repository", Status: http.StatusNoContent})
	a.Put(repo, admin, s.apiTeamRepoSet, &web.Doc{ID: "teams/add-or-update-repo-permissions-in-org", Summary: "Add or update team repository permissions", In: permissionInput{}, Status: http.StatusNoContent})
	a.Delete(repo, admin, s.apiTeamRepoRemove, &web.Doc{ID: "teams/remove-repo-in-org", Summary: "Remove a repository from a team", Status: http.StatusNoContent})
	a.Get("/repos/{owner}/{repo}/teams", admin, s.apiRepoTeams, &web.Doc{ID: "repos/list-teams", Summary: "List repository teams", Query: teams, Out: []Team{}})
	a.Get("/user/teams", g.SignedIn("read:org", "user", "repo"), s.apiMyTeams, &web.Doc{ID: "teams/list-for-authenticated-user", Summary: "List your teams", Query: teams, Out: []FullTeam{}})
}

type teamInput struct {
	Name        *string  `json:"name"`
	Description *string  `json:"description"`
	Privacy     *string  `json:"privacy"`
	ParentID    *int64   `json:"parent_team_id"`
	Maintainers []string `json:"maintainers"`
	RepoNames   []string `json:"repo_names"`
}

type permissionInput struct {
	Permission string `json:"permission"`
}

// input turns GitHub's fields into ours. A parent of null is no change, as a
// missing one is; 0 takes a team out of its parent.
func (s *Service) input(c *web.Ctx, in teamInput) (TeamInput, error) {
	out := TeamInput{Name: in.Name, Description: in.Description}
	if in.Privacy != nil {
		secret := *in.Privacy == "secret"
		if !secret && *in.Privacy != "closed" {
			return out, fault.Field("privacy", "Privacy is secret or closed.")
		}
		out.Secret = &secret
	}
	if in.ParentID != nil {
		slug := ""
		if *in.ParentID != 0 {
			parent, err := accessdb.TeamByID(c.Context(), s.DB.Directory(), *in.ParentID)
			if err != nil || parent.OrgID != c.Account.ID {
				return out, fault.Field("parent_team_id", "There is no such team in the organisation.")
			}
			slug = parent.Slug
		}
		out.Parent = &slug
	}
	return out, nil
}

func (s *Service) apiTeams(c *web.Ctx) error {
	see, err := s.see(c)
	if err != nil {
		return err
	}
	return s.sayTeams(c, c.Account, see.all)
}

func (s *Service) sayTeams(c *web.Ctx, org *model.Account, list []*model.Team) error {
	out := make([]Team, len(list))
	for i, t := range list {
		out[i] = teamOf(c, org, t, "")
	}
	return page(c, out)
}

func (s *Service) sayTeam(c *web.Ctx, status int, t *model.Team) error {
	counts, err := accessdb.CountTeams(c.Context(), s.DB.Directory(), t.OrgID)
	if err != nil {
		return err
	}
	return c.JSON(status, fullTeam(c, c.Account, t, counts[t.ID]))
}

func (s *Service) apiTeamCreate(c *web.Ctx) error {
	var in teamInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	input, err := s.input(c, in)
	if err != nil {
		return err
	}
	t, err := s.CreateTeam(c.Context(), c.Viewer, c.Account, input)
	if err != nil {
		return err
	}
	for _, name := range in.Maintainers {
		if _, err := s.SetTeamMember(c.Context(), c.Viewer, t, name, model.TeamMaintainer, true); err != nil {
			return err
		}
	}
	return s.sayTeam(c, http.StatusCreated, t)
}

func (s *Service) apiTeam(c *web.Ctx) error {
	t, _, _, err := s.find(c)
	if err != nil {
		return err
	}
	return s.sayTeam(c, http.StatusOK, t)
}

func (s *Service) apiTeamEdit(c *web.Ctx) error {
	t, see, err := s.mayChange(c)
	if err != nil {
		return err
	}
	var in teamInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	input, err := s.input(c, in)
	if err != nil {
		return err
	}
	if see.role != Owner {
		input.Parent, input.Secret = nil, nil
	}
	if err := s.EditTeam(c.Context(), c.Viewer, t, input); err != nil {
		return err
	}
	return s.sayTeam(c, http.StatusOK, t)
}

func (s *Service) apiTeamDelete(c *web.Ctx) error {
	t, _, err := s.mayChange(c)
	if err != nil {
		return err
	}
	if err := s.DeleteTeam(c.Context(), c.Viewer, t); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiTeamChildren(c *web.Ctx) error {
	t, _, see, err := s.find(c)
	if err != nil {
		return err
	}
	var below []*model.Team
	for _, one := range see.all {
		if one.ParentID == t.ID {
			below = append(below, one)
		}
	}
	return s.sayTeams(c, c.Account, below)
}

func (s *Service) apiTeamMembers(c *web.Ctx) error {
	t, _, _, err := s.find(c)
	if err != nil {
		return err
	}
	people, err := accessdb.TeamPeople(c.Context(), s.DB.Directory(), t.ID)
	if err != nil {
		return err
	}
	out := []api.User{}
	for _, m := range people {
		if role := c.Query("role"); role == "" || role == "all" || role == m.Role {
			out = append(out, api.UserOf(c, &m.Account))
		}
	}
	return page(c, out)
}

func (s *Service) sayTeamMembership(c *web.Ctx, t *model.Team, name, role, state string) error {
	return c.JSON(http.StatusOK, TeamMembership{Role: role, State: state,
		URL: c.URL(web.APIPrefix + "/orgs/" + link.Segment(c.Account.Name) + "/teams/" + link.Segment(t.Slug) + "/memberships/" + link.Segment(name))})
}

func (s *Service) apiTeamMembership(c *web.Ctx) error {
	t, _, _, err := s.find(c)
	if err != nil {
		return err
	}
	people, err := accessdb.TeamPeople(c.Context(), s.DB.Directory(), t.ID)
	if err != nil {
		return err
	}
	for _, m := range people {
		if m.NameKey == model.Key(c.Param("username")) {
			return s.sayTeamMembership(c, t, m.Name, m.Role, "active")
		}
	}
	return db.ErrNotFound
}

func (s *Service) apiTeamMembershipSet(c *web.Ctx) error {
	t, see, err := s.mayChange(c)
	if err != nil {
		return err
	}
	in := membershipInput{Role: model.TeamMember}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if _, err := accountdb.ByName(c.Context(), s.DB.Directory(), c.Param("username")); err != nil {
		return err
	}
	pending, err := s.SetTeamMember(c.Context(), c.Viewer, t, c.Param("username"), in.Role, see.role == Owner)
	if err != nil {
		return err
	}
	return s.sayTeamMembership(c, t, c.Param("username"), in.Role, map[bool]string{true: "pending", false: "active"}[pending])
}

func (s *Service) apiTeamMembershipEnd(c *web.Ctx) error {
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
	return c.NoContent()
}

func (s *Service) apiTeamRepos(c *web.Ctx) error {
	t, _, _, err := s.find(c)
	if err != nil {
		return err
	}
	list, err := s.teamRepos(c, t)
	if err != nil {
		return err
	}
	out := make([]TeamRepository, len(list))
	for i, r := range list {
		out[i] = TeamRepository{s.Repos.Wire(c, &r.Repo, model.Role(r.Role), nil), r.Role}
	}
	return page(c, out)
}

// ofRepo is the team {team} of the organisation {org}, which owns the
// repository in c, where the viewer belongs to it.
func (s *Service) teamOfRepo(c *web.Ctx) (*model.Team, error) {
	if model.Key(c.Param("org")) != c.Repo.Owner.NameKey {
		return nil, db.ErrNotFound
	}
	role, err := accountdb.OrgRole(c.Context(), s.DB.Directory(), c.Repo.OwnerID, c.Viewer.ID())
	if err == nil && role == "" {
		err = db.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return accessdb.TeamBySlug(c.Context(), s.DB.Directory(), c.Repo.OwnerID, c.Param("team"))
}

func (s *Service) apiTeamRepo(c *web.Ctx) error {
	t, err := s.teamOfRepo(c)
	if err != nil {
		return err
	}
	list, err := accessdb.TeamRepos(c.Context(), s.DB.Directory(), t.ID)
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.ID != c.Repo.ID {
			continue
		}
		if c.Wants("application/vnd.github.v3.repository+json") {
			return c.JSON(http.StatusOK, TeamRepository{s.Repos.Wire(c, c.Repo, model.Role(r.Role), nil), r.Role})
		}
		return c.NoContent()
	}
	return db.ErrNotFound
}

func (s *Service) apiTeamRepoSet(c *web.Ctx) error {
	t, err := s.teamOfRepo(c)
	if err != nil {
		return err
	}
	var in permissionInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.Access.SetTeam(c.Context(), c.Viewer, c.Repo, t, in.Permission); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiTeamRepoRemove(c *web.Ctx) error {
	t, err := s.teamOfRepo(c)
	if err != nil {
		return err
	}
	if err := s.Access.RemoveTeam(c.Context(), c.Viewer, c.Repo, t); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiRepoTeams(c *web.Ctx) error {
	list, err := accessdb.Teams(c.Context(), s.DB.Directory(), c.Repo.ID)
	if err != nil {
		return err
	}
	out := make([]Team, len(list))
	for i, t := range list {
		out[i] = teamOf(c, c.Repo.Owner, &t.Team, t.Role)
	}
	return page(c, out)
}

func (s *Service) apiMyTeams(c *web.Ctx) error {
	list, err := accessdb.TeamsOf(c.Context(), s.DB.Directory(), c.Viewer.ID())
	if err != nil {
		return err
	}
	out := make([]FullTeam, len(list))
	for i, t := range list {
		counts, err := accessdb.CountTeams(c.Context(), s.DB.Directory(), t.OrgID)
		if err != nil {
			return err
		}
		out[i] = fullTeam(c, t.Org, t, counts[t.ID])
	}
	return page(c, out)
}
