package accounts

import (
	"net/http"
	"strconv"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

func (s *Service) apiOrgRoutes(a *web.Router) {
	g := s.Gate
	a.Get("/organizations", g.Anyone(), s.apiOrgs, &web.Doc{ID: "orgs/list", Summary: "List organizations", Query: []string{"since", "per_page"}, Out: []SimpleOrg{}})
	a.Get("/orgs/{owner}", g.Account(), s.apiOrg, &web.Doc{ID: "orgs/get", Summary: "Get an organization", Out: Org{}})
	a.Patch("/orgs/{owner}", g.AccountAdmin(), s.apiOrgUpdate, &web.Doc{ID: "orgs/update", Summary: "Update an organization", In: orgUpdate{}, Out: Org{}})
	a.Post("/admin/organizations", g.SiteAdmin(), s.apiOrgCreate, &web.Doc{ID: "enterprise-admin/create-org", Summary: "Create an organization", In: orgCreate{}, Out: Org{}, Status: http.StatusCreated})
	a.Get("/user/orgs", g.SignedIn("read:org", "user"), s.apiMyOrgs, &web.Doc{ID: "orgs/list-for-authenticated-user", Summary: "List your organizations", Out: []SimpleOrg{}})
	a.Get("/users/{owner}/orgs", g.Account(), s.apiOrgsOf, &web.Doc{ID: "orgs/list-for-user", Summary: "List a user's organizations", Out: []SimpleOrg{}})
	a.Delete("/orgs/{owner}", g.AccountAdmin(), s.apiOrgDelete, &web.Doc{ID: "orgs/delete", Summary: "Delete an organization", Status: http.StatusAccepted})
	a.Get("/orgs/{owner}/members", g.Account(), s.apiMembers, &web.Doc{ID: "orgs/list-members", Summary: "List organization members", Out: []api.User{}})
	a.Get("/orgs/{owner}/members/{username}", g.Account(), s.apiIsMember, &web.Doc{ID: "orgs/check-membership-for-user", Summary: "Check organization membership", Status: http.StatusNoContent})
	a.Delete("/orgs/{owner}/members/{username}", g.AccountAdmin(), s.apiMemberRemove, &web.Doc{ID: "orgs/remove-member", Summary: "Remove an organization member", Status: http.StatusNoContent})
	a.Delete("/orgs/{owner}/memberships/{username}", g.AccountAdmin(), s.apiMemberRemove, &web.Doc{ID: "orgs/remove-membership-for-user", Summary: "Remove organization membership", Status: http.StatusNoContent})
}

type orgCreate struct {
	Login       string `json:"login"`
	Admin       string `json:"admin"`
	ProfileName string `json:"profile_name"`
}

type orgUpdate struct {
	Name        *string `json:"name"`
	Description *string `json:"description"`
	Location    *string `json:"location"`
	Blog        *string `json:"blog"`
	Email       *string `json:"email"`
}

// org is the organisation of the path.
func org(c *web.Ctx) (*model.Account, error) {
	if c.Account.IsUser() {
		return nil, db.ErrNotFound
	}
	return c.Account, nil
}

func (s *Service) apiOrgs(c *web.Ctx) error {
	since, _ := strconv.ParseInt(c.Query("since"), 10, 64)
	orgs, err := accountdb.ListAccounts(c.Context(), s.db.Directory(), model.KindOrganization, since, int64(api.PageOf(c).PerPage))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, simpleOrgs(c, orgs))
}

func simpleOrgs(c *web.Ctx, orgs []*model.Account) []SimpleOrg {
	out := make([]SimpleOrg, len(orgs))
	for i, o := range orgs {
		out[i] = SimpleOrgOf(c, o)
	}
	return out
}

func (s *Service) apiOrg(c *web.Ctx) error {
	o, err := org(c)
	if err != nil {
		return err
	}
	return s.sayOrg(c, http.StatusOK, o)
}

func (s *Service) sayOrg(c *web.Ctx, status int, o *model.Account) error {
	counts, err := accountdb.CountsOf(c.Context(), s.db.Directory(), o.ID)
	if err != nil {
		return err
	}
	return c.JSON(status, orgOf(c, o, counts))
}

func (s *Service) apiOrgUpdate(c *web.Ctx) error {
	o, err := org(c)
	if err != nil {
		return err
	}
	var in orgUpdate
	if err := c.Decode(&in); err != nil {
		return err
	}
	o, err = s.UpdateProfile(c.Context(), o.ID, ProfileInput{DisplayName: in.Name, Bio: in.Description, Location: in.Location,
		Website: in.Blog, PublicEmail: in.Email})
	if err != nil {
		return err
	}
	return s.sayOrg(c, http.StatusOK, o)
}

func (s *Service) apiOrgCreate(c *web.Ctx) error {
	var in orgCreate
	if err := c.Decode(&in); err != nil {
		return err
	}
	owner := c.Viewer
	if in.Admin != "" && model.Key(in.Admin) != c.Viewer.Account.NameKey {
		a, err := accountdb.ByName(c.Context(), s.db.Directory(), in.Admin)
		if err != nil || !a.IsUser() {
			return fault.Field("admin", "Nobody here has that name.")
		}
		owner = &model.Viewer{Account: a}
	}
	o, err := s.CreateOrg(c.Context(), owner, OrgInput{Name: in.Login, DisplayName: in.ProfileName})
	if err != nil {
		return err
	}
	return s.sayOrg(c, http.StatusCreated, o)
}

func (s *Service) apiMyOrgs(c *web.Ctx) error {
	orgs, err := accountdb.OrgsOf(c.Context(), s.db.Directory(), c.Viewer.ID())
	if err != nil {
		return err
	}
	return list(c, simpleOrgs(c, orgs))
}

func (s *Service) apiOrgsOf(c *web.Ctx) error {
	orgs, err := accountdb.PublicOrgsOf(c.Context(), s.db.Directory(), c.Account.ID, c.Viewer.ID())
	if err != nil {
		return err
	}
	return list(c, simpleOrgs(c, orgs))
}

func (s *Service) apiMembers(c *web.Ctx) error {
	o, err := org(c)
	if err != nil {
		return err
	}
	role, err := accountdb.OrgRole(c.Context(), s.db.Directory(), o.ID, c.Viewer.ID())
	if err != nil {
		return err
	}
	p := api.PageOf(c)
	members, err := accountdb.Members(c.Context(), s.db.Directory(), o.ID, role == "", p.Limit()+1, p.Offset())
	if err != nil {
		return err
	}
	members, more := api.Cut(members, p.Limit())
	p.Link(c, more)
	out := make([]api.User, len(members))
	for i, m := range members {
		out[i] = api.UserOf(c, &m.Account)
	}
	return c.JSON(http.StatusOK, out)
}

// member is the person {username} and the role in the organisation, for those
// who may see it: members and the person.
func (s *Service) member(c *web.Ctx) (o, user *model.Account, role string, err error) {
	if o, err = org(c); err != nil {
		return nil, nil, "", err
	}
	if user, err = accountdb.ByName(c.Context(), s.db.Directory(), c.Param("username")); err != nil {
		return nil, nil, "", err
	}
	mine, err := accountdb.OrgRole(c.Context(), s.db.Directory(), o.ID, c.Viewer.ID())
	if err != nil {
		return nil, nil, "", err
	}
	if mine == "" {
		return nil, nil, "", db.ErrNotFound
	}
	role, err = accountdb.OrgRole(c.Context(), s.db.Directory(), o.ID, user.ID)
	if err == nil && role == "" {
		err = db.ErrNotFound
	}
	return o, user, role, err
}

func (s *Service) apiIsMember(c *web.Ctx) error {
	if _, _, _, err := s.member(c); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiMemberRemove(c *web.Ctx) error {
	o, err := org(c)
	if err != nil {
		return err
	}
	if err := s.RemoveMember(c.Context(), c.Viewer, o, c.Param("username")); err != nil {
		return err
	}
	return c.NoContent()
}

// apiOrgDelete answers as GitHub does, though the organisation is out of sight
// at once.
func (s *Service) apiOrgDelete(c *web.Ctx) error {
	if c.Account.IsUser() {
		return db.ErrNotFound
	}
	if err := s.DeleteOrg(c.Context(), c.Viewer, c.Account, c.Account.Name); err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, struct{}{})
}
