package orgs

import (
	"net/http"

	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accessdb"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

func (s *Service) apiRoutes(r *web.Router) {
	g, a := s.Gate, r.API()
	member, owner, read, write := g.OrgMember(), g.OrgOwner(), g.SignedIn("read:org"), g.SignedIn("write:org")
	const at, mine = "/orgs/{owner}", "/user/memberships/orgs"
	a.Get(at+"/memberships/{username}", member, s.apiMembership, &web.Doc{ID: "orgs/get-membership-for-user", Summary: "Get organization membership", Out: accounts.Membership{}})
	a.Put(at+"/memberships/{username}", owner, s.apiMembershipSet, &web.Doc{ID: "orgs/set-membership-for-user", Summary: "Set organization membership", In: membershipInput{}, Out: accounts.Membership{}})
	a.Get(mine, read, s.apiMine, &web.Doc{ID: "orgs/list-memberships-for-authenticated-user", Summary: "List your organization memberships", Query: []string{"state", "per_page", "page"}, Out: []accounts.Membership{}})
	a.Get(mine+"/{owner}", read, s.apiMineOf, &web.Doc{ID: "orgs/get-membership-for-authenticated-user", Summary: "Get your organization membership", Out: accounts.Membership{}})
	a.Patch(mine+"/{owner}", write, s.apiAccept, &web.Doc{ID: "orgs/update-membership-for-authenticated-user", Summary: "Accept an organization invitation", In: stateInput{}, Out: accounts.Membership{}})
	a.Get(at+"/invitations", owner, s.apiInvitations, &web.Doc{ID: "orgs/list-pending-invitations", Summary: "List pending organization invitations", Query: []string{"per_page", "page"}, Out: []OrgInvitation{}})
	a.Post(at+"/invitations", owner, s.apiInvite, &web.Doc{ID: "orgs/create-invitation", Summary: "Create an organization invitation", In: inviteInput{}, Out: OrgInvitation{}, Status: http.StatusCreated})
	a.Delete(at+"/invitations/{id}", owner, s.apiRevoke, &web.Doc{ID: "orgs/cancel-invitation", Summary: "Cancel an organization invitation", Status: http.StatusNoContent})
	a.Get(at+"/public_members", g.Account(), s.apiPublic, &web.Doc{ID: "orgs/list-public-members", Summary: "List public organization members", Query: []string{"per_page", "page"}, Out: []api.User{}})
	a.Put(at+"/public_members/{username}", member, s.apiPublicSet, &web.Doc{ID: "orgs/set-public-membership-for-authenticated-user", Summary: "Show your membership to everybody", Status: http.StatusNoContent})
	a.Delete(at+"/public_members/{username}", member, s.apiPublicSet, &web.Doc{ID: "orgs/remove-public-membership-for-authenticated-user", Summary: "Hide your membership", Status: http.StatusNoContent})
	s.apiTeamRoutes(a)
}

type membershipInput struct {
	Role string `json:"role"`
}

type stateInput struct {
	State string `json:"state"`
}

type inviteInput struct {
	InviteeID int64   `json:"invitee_id"`
	Email     string  `json:"email"`
	Role      string  `json:"role"`
	TeamIDs   []int64 `json:"team_ids"`
}

// page answers with the page of a list that was read whole.
func page[T any](c *web.Ctx, all []T) error {
	p := api.PageOf(c)
	from := min(int(p.Offset()), len(all))
	to := min(from+p.PerPage, len(all))
	p.LinkTotal(c, len(all))
	return c.JSON(http.StatusOK, append([]T{}, all[from:to]...))
}

// membership is what the person is in the organisation, with the invitation
// that waits where there is one.
func (s *Service) membership(c *web.Ctx, org, user *model.Account) (*accounts.Membership, error) {
	role, err := accountdb.OrgRole(c.Context(), s.DB.Directory(), org.ID, user.ID)
	if err != nil {
		return nil, err
	}
	state := "active"
	if role == "" {
		inv, err := s.Of(c.Context(), &model.Viewer{Account: user}, org.ID)
		if err != nil {
			return nil, err
		}
		role, state = inv.Role, "pending"
	}
	m := accounts.MembershipOf(c, org, user, role, state)
	return &m, nil
}

func (s *Service) apiMembership(c *web.Ctx) error {
	user, err := accountdb.ByName(c.Context(), s.DB.Directory(), c.Param("username"))
	if err != nil {
		return err
	}
	m, err := s.membership(c, c.Account, user)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, m)
}

func (s *Service) apiMembershipSet(c *web.Ctx) error {
	in := membershipInput{Role: Member}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if in.Role == "admin" {
		in.Role = Owner
	}
	user, err := accountdb.ByName(c.Context(), s.DB.Directory(), c.Param("username"))
	if err != nil {
		return err
	}
	if _, err := s.Invite(c.Context(), c.Viewer, c.Account, InviteInput{Name: user.Name, Role: in.Role}); err != nil {
		return err
	}
	m, err := s.membership(c, c.Account, user)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, m)
}

func (s *Service) apiMine(c *web.Ctx) error {
	out := []accounts.Membership{}
	if state := c.Query("state"); state != "pending" {
		orgs, err := accountdb.OrgsOf(c.Context(), s.DB.Directory(), c.Viewer.ID())
		if err != nil {
			return err
		}
		for _, o := range orgs {
			m, err := s.membership(c, o, c.Viewer.Account)
			if err != nil {
				return err
			}
			out = append(out, *m)
		}
	}
	if state := c.Query("state"); state != "active" {
		list, err := accessdb.Of(c.Context(), s.DB.Directory(), c.Viewer.ID(), true)
		if err != nil {
			return err
		}
		for _, inv := range list {
			out = append(out, accounts.MembershipOf(c, inv.Org, c.Viewer.Account, inv.Role, "pending"))
		}
	}
	return page(c, out)
}

// named is the organisation {owner}, whoever asks.
func (s *Service) named(c *web.Ctx) (*model.Account, error) {
	org, err := accountdb.ByName(c.Context(), s.DB.Directory(), c.Param("owner"))
	if err == nil && org.IsUser() {
		err = db.ErrNotFound
	}
	return org, err
}

func (s *Service) apiMineOf(c *web.Ctx) error {
	org, err := s.named(c)
	if err != nil {
		return err
	}
	m, err := s.membership(c, org, c.Viewer.Account)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, m)
}

func (s *Service) apiAccept(c *web.Ctx) error {
	var in stateInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if in.State != "active" {
		return fault.Field("state", "The only state that can be set is active.")
	}
	inv, err := s.mine(c)
	if err != nil {
		return err
	}
	if err := s.Accept(c.Context(), c.Viewer, inv); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, accounts.MembershipOf(c, inv.Org, c.Viewer.Account, inv.Role, "active"))
}

func (s *Service) apiInvitations(c *web.Ctx) error {
	list, err := accessdb.ToOrg(c.Context(), s.DB.Directory(), c.Account.ID)
	if err != nil {
		return err
	}
	out := make([]OrgInvitation, len(list))
	for i, inv := range list {
		out[i] = invitationOf(c, c.Account, inv)
	}
	return page(c, out)
}

func (s *Service) apiInvite(c *web.Ctx) error {
	var in inviteInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	invite := InviteInput{Email: in.Email, TeamIDs: in.TeamIDs}
	switch in.Role {
	case "admin":
		invite.Role = Owner
	case "", "direct_member":
	default:
		return fault.Field("role", "A role is admin or direct_member.")
	}
	if (in.InviteeID == 0) == (in.Email == "") {
		return fault.Field("invitee_id", "Give either invitee_id or email.")
	}
	if in.InviteeID != 0 {
		found, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), in.InviteeID)
		if err != nil {
			return err
		}
		user := found[in.InviteeID]
		if user == nil || !user.IsUser() || user.DeletedAt != nil {
			return fault.Field("invitee_id", "Nobody here has this id.")
		}
		invite.Name = user.Name
	}
	inv, err := s.Invite(c.Context(), c.Viewer, c.Account, invite)
	if err != nil {
		return err
	}
	if inv == nil {
		return fault.Field("invitee_id", "This person belongs to the organisation already.")
	}
	return c.JSON(http.StatusCreated, invitationOf(c, c.Account, inv.Invitation))
}

func (s *Service) apiRevoke(c *web.Ctx) error {
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
	return c.NoContent()
}

func (s *Service) apiPublic(c *web.Ctx) error {
	if err := notOrg(c); err != nil {
		return err
	}
	p := api.PageOf(c)
	members, err := accountdb.Members(c.Context(), s.DB.Directory(), c.Account.ID, true, p.Limit()+1, p.Offset())
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

func (s *Service) apiPublicSet(c *web.Ctx) error {
	if model.Key(c.Param("username")) != c.Viewer.Account.NameKey {
		return fault.New(fault.Forbidden, "People decide for themselves whether their membership is shown.")
	}
	if err := s.setPublic(c, c.Viewer.ID(), c.R.Method == http.MethodPut); err != nil {
		return err
	}
	return c.NoContent()
}
