package access

import (
	"net/http"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accessdb"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

func (s *Service) apiRoutes(r *web.Router) {
	g, a := s.Gate, r.API()
	write, admin, mine := g.Repo(model.RoleWrite), g.Repo(model.RoleAdmin), g.SignedIn("repo", "repo:invite")
	const repo, user = "/repos/{owner}/{repo}", "/user/repository_invitations"
	a.Get(repo+"/collaborators", write, s.apiList, &web.Doc{ID: "repos/list-collaborators", Summary: "List repository collaborators", Query: []string{"affiliation", "permission", "per_page", "page"}, Out: []Collaborator{}})
	a.Get(repo+"/collaborators/{username}", write, s.apiCheck, &web.Doc{ID: "repos/check-collaborator", Summary: "Check if a user is a collaborator", Status: http.StatusNoContent})
	a.Put(repo+"/collaborators/{username}", admin, s.apiAdd, &web.Doc{ID: "repos/add-collaborator", Summary: "Add a repository collaborator", In: InviteInput{}, Out: Invitation{}, Status: http.StatusCreated})
	a.Delete(repo+"/collaborators/{username}", g.RepoViewer(), s.apiRemove, &web.Doc{ID: "repos/remove-collaborator", Summary: "Remove a repository collaborator", Status: http.StatusNoContent})
	a.Get(repo+"/collaborators/{username}/permission", write, s.apiPermission, &web.Doc{ID: "repos/get-collaborator-permission-level", Summary: "Get repository permissions for a user", Out: Permission{}})
	a.Get(repo+"/invitations", admin, s.apiInvitations, &web.Doc{ID: "repos/list-invitations", Summary: "List repository invitations", Query: []string{"per_page", "page"}, Out: []Invitation{}})
	a.Patch(repo+"/invitations/{id}", admin, s.apiInvitationChange, &web.Doc{ID: "repos/update-invitation", Summary: "Update a repository invitation", In: invitationInput{}, Out: Invitation{}})
	a.Delete(repo+"/invitations/{id}", admin, s.apiInvitationRevoke, &web.Doc{ID: "repos/delete-invitation", Summary: "Delete a repository invitation", Status: http.StatusNoContent})
	a.Get(user, mine, s.apiMine, &web.Doc{ID: "repos/list-invitations-for-authenticated-user", Summary: "List your repository invitations", Query: []string{"per_page", "page"}, Out: []Invitation{}})
	a.Patch(user+"/{id}", mine, s.apiAccept, &web.Doc{ID: "repos/accept-invitation-for-authenticated-user", Summary: "Accept a repository invitation", Status: http.StatusNoContent})
	a.Delete(user+"/{id}", mine, s.apiDecline, &web.Doc{ID: "repos/decline-invitation-for-authenticated-user", Summary: "Decline a repository invitation", Status: http.StatusNoContent})
}

// page answers with the page of a list that was read whole.
func page[T any](c *web.Ctx, all []T) error {
	p := api.PageOf(c)
	from := min(int(p.Offset()), len(all))
	to := min(from+p.PerPage, len(all))
	p.LinkTotal(c, len(all))
	return c.JSON(http.StatusOK, append([]T{}, all[from:to]...))
}

func (s *Service) apiList(c *web.Ctx) error {
	people, err := s.Report(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	least := model.RoleNone
	if word := c.Query("permission"); word != "" {
		role, ok := ParseRole(word)
		if !ok {
			return fault.Field("permission", "A permission is pull, triage, push, maintain or admin.")
		}
		least = role
	}
	out := []Collaborator{}
	for _, p := range people {
		switch c.Query("affiliation") {
		case "direct":
			if p.Direct() == model.RoleNone {
				continue
			}
		case "outside":
			if !p.Outside() {
				continue
			}
		}
		if p.Role.AtLeast(least) {
			out = append(out, collaboratorOf(c, p.Account, p.Role))
		}
	}
	return page(c, out)
}

func (s *Service) apiCheck(c *web.Ctx) error {
	user, err := accountdb.ByName(c.Context(), s.DB.Directory(), c.Param("username"))
	if err != nil {
		return err
	}
	reasons, err := accessdb.Reasons(c.Context(), s.DB.Directory(), c.Repo, user.ID)
	if err == nil && len(reasons) == 0 {
		err = db.ErrNotFound
	}
	if err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiAdd(c *web.Ctx) error {
	var in InviteInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	in.Name = c.Param("username")
	if _, err := accountdb.ByName(c.Context(), s.DB.Directory(), in.Name); err != nil {
		return err
	}
	inv, err := s.Invite(c.Context(), c.Viewer, c.Repo, in)
	if err != nil {
		return err
	}
	if inv == nil {
		return c.NoContent()
	}
	return c.JSON(http.StatusCreated, s.invitationOf(c, inv, c.Repo))
}

func (s *Service) apiRemove(c *web.Ctx) error {
	if err := s.Remove(c.Context(), c.Viewer, c.Repo, c.Role, c.Param("username")); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiPermission(c *web.Ctx) error {
	user, err := accountdb.ByName(c.Context(), s.DB.Directory(), c.Param("username"))
	if err != nil {
		return err
	}
	role, err := s.Role(c.Context(), c.Repo, user.ID)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, permissionOf(c, user, role))
}

func (s *Service) apiInvitations(c *web.Ctx) error {
	list, err := accessdb.ToRepo(c.Context(), s.DB.Directory(), c.Repo.ID)
	if err != nil {
		return err
	}
	out := make([]Invitation, len(list))
	for i, inv := range list {
		out[i] = s.invitationOf(c, inv, c.Repo)
	}
	return page(c, out)
}

type invitationInput struct {
	Permissions string `json:"permissions"`
}

func (s *Service) apiInvitationChange(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	var in invitationInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	inv, err := s.ChangeInvitation(c.Context(), c.Repo, id, in.Permissions)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, s.invitationOf(c, inv, c.Repo))
}

func (s *Service) apiInvitationRevoke(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.Revoke(c.Context(), c.Viewer, c.Repo, id); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiMine(c *web.Ctx) error {
	list, err := accessdb.Of(c.Context(), s.DB.Directory(), c.Viewer.ID(), false)
	if err != nil {
		return err
	}
	ids := make([]int64, len(list))
	for i, inv := range list {
		ids[i] = inv.RepoID
	}
	found, err := repodb.ByIDs(c.Context(), s.DB.Directory(), ids)
	if err != nil {
		return err
	}
	out := make([]Invitation, len(list))
	for i, inv := range list {
		out[i] = s.invitationOf(c, inv, found[inv.RepoID])
	}
	return page(c, out)
}

func (s *Service) apiAccept(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if _, err := s.Accept(c.Context(), c.Viewer, id); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiDecline(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.Decline(c.Context(), c.Viewer, id); err != nil {
		return err
	}
	return c.NoContent()
}
