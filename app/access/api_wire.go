package access

import (
	"strconv"
	"time"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// Collaborator is GitHub's collaborator
// (https://docs.github.com/rest/collaborators/collaborators#list-repository-collaborators).
type Collaborator struct {
	api.User
	Permissions *repos.Permissions `json:"permissions"`
	RoleName    string             `json:"role_name"`
}

func collaboratorOf(c *web.Ctx, a *model.Account, role model.Role) Collaborator {
	return Collaborator{User: api.UserOf(c, a), Permissions: repos.PermissionsOf(role), RoleName: roleName(role)}
}

// roleName is a role as GitHub's role_name has it.
func roleName(role model.Role) string {
	if role == model.RoleNone {
		return "none"
	}
	return string(role)
}

// Permission is GitHub's permission of a user
// (https://docs.github.com/rest/collaborators/collaborators#get-repository-permissions-for-a-user).
type Permission struct {
	// Permission is admin, write, read or none: triage counts as read,
	// maintain as write.
	Permission string       `json:"permission"`
	RoleName   string       `json:"role_name"`
	User       Collaborator `json:"user"`
}

func permissionOf(c *web.Ctx, a *model.Account, role model.Role) Permission {
	word := roleName(role)
	switch role {
	case model.RoleTriage:
		word = "read"
	case model.RoleMaintain:
		word = "write"
	}
	return Permission{Permission: word, RoleName: roleName(role), User: collaboratorOf(c, a, role)}
}

// Invitation is GitHub's repository invitation
// (https://docs.github.com/rest/collaborators/invitations#list-repository-invitations).
type Invitation struct {
	ID          int64            `json:"id"`
	NodeID      string           `json:"node_id"`
	Repository  repos.Repository `json:"repository"`
	Invitee     *api.User        `json:"invitee"`
	Inviter     *api.User        `json:"inviter"`
	Permissions string           `json:"permissions"`
	CreatedAt   string           `json:"created_at"`
	Expired     bool             `json:"expired"`
	URL         string           `json:"url"`
	HTMLURL     string           `json:"html_url"`
}

func (s *Service) invitationOf(c *web.Ctx, inv *model.Invitation, repo *model.Repo) Invitation {
	return Invitation{ID: inv.ID, NodeID: api.NodeID("RepositoryInvitation", inv.ID), Repository: s.Repos.Wire(c, repo, model.RoleNone, nil),
		Invitee: api.UserRef(c, inv.Account), Inviter: api.UserRef(c, inv.Inviter), Permissions: inv.Role, CreatedAt: api.Time(inv.CreatedAt),
		Expired: inv.Expired(time.Now()), URL: c.URL(web.APIPrefix + "/user/repository_invitations/" + strconv.FormatInt(inv.ID, 10)),
		HTMLURL: c.URL(link.RepoPage(repo.Owner.Name, repo.Name, "invitations"))}
}
