package orgs

import (
	"strconv"

	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accessdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// Team is GitHub's team
// (https://docs.github.com/rest/teams/teams#list-teams).
type Team struct {
	ID           int64  `json:"id"`
	NodeID       string `json:"node_id"`
	URL          string `json:"url"`
	HTMLURL      string `json:"html_url"`
	Name         string `json:"name"`
	Slug         string `json:"slug"`
	Description  string `json:"description"`
	Privacy      string `json:"privacy"`
	Notification string `json:"notification_setting"`
	Permission   string `json:"permission"`
	MembersURL   string `json:"members_url"`
	ReposURL     string `json:"repositories_url"`
	Parent       *Team  `json:"parent"`
}

// FullTeam is GitHub's full team.
type FullTeam struct {
	Team
	MembersCount int                 `json:"members_count"`
	ReposCount   int                 `json:"repos_count"`
	CreatedAt    string              `json:"created_at"`
	UpdatedAt    string              `json:"updated_at"`
	Organization *accounts.SimpleOrg `json:"organization"`
}

// teamOf is a team as the API shows it; role is its role in the repository
// that the list is about, "" elsewhere.
func teamOf(c *web.Ctx, org *model.Account, t *model.Team, role model.Role) Team {
	u := c.URL(web.APIPrefix + "/orgs/" + link.Segment(org.Name) + "/teams/" + link.Segment(t.Slug))
	w := Team{ID: t.ID, NodeID: api.NodeID("Team", t.ID), URL: u, HTMLURL: c.URL(link.Team(org.Name, t.Slug)), Name: t.Name, Slug: t.Slug,
		Description: t.Description, Privacy: "closed", Notification: "notifications_enabled", Permission: older(role),
		MembersURL: u + "/members{/member}", ReposURL: u + "/repos"}
	if t.Secret {
		w.Privacy = "secret"
	}
	if t.Parent != nil && t.ParentID != 0 {
		parent := *t.Parent
		parent.Parent = nil
		p := teamOf(c, org, &parent, "")
		w.Parent = &p
	}
	return w
}

// older is a role in the words of GitHub's permission field.
func older(r model.Role) string {
	switch r {
	case model.RoleNone, model.RoleRead:
		return "pull"
	case model.RoleWrite:
		return "push"
	}
	return string(r)
}

func fullTeam(c *web.Ctx, org *model.Account, t *model.Team, n accessdb.TeamCounts) FullTeam {
	o := accounts.SimpleOrgOf(c, org)
	return FullTeam{Team: teamOf(c, org, t, ""), MembersCount: n.Members, ReposCount: n.Repos, CreatedAt: api.Time(t.CreatedAt),
		UpdatedAt: api.Time(t.CreatedAt), Organization: &o}
}

// TeamMembership is GitHub's team membership
// (https://docs.github.com/rest/teams/members#get-team-membership-for-a-user).
type TeamMembership struct {
	URL   string `json:"url"`
	Role  string `json:"role"`
	State string `json:"state"`
}

// TeamRepository is a repository of a team
// (https://docs.github.com/rest/teams/teams#list-team-repositories).
type TeamRepository struct {
	repos.Repository
	RoleName string `json:"role_name"`
}

// OrgInvitation is GitHub's organization invitation
// (https://docs.github.com/rest/orgs/members#list-pending-organization-invitations).
type OrgInvitation struct {
	ID        int64     `json:"id"`
	NodeID    string    `json:"node_id"`
	Login     *string   `json:"login"`
	Email     *string   `json:"email"`
	Role      string    `json:"role"`
	CreatedAt string    `json:"created_at"`
	FailedAt  *string   `json:"failed_at"`
	Reason    *string   `json:"failed_reason"`
	Inviter   *api.User `json:"inviter"`
	TeamCount int       `json:"team_count"`
	TeamsURL  string    `json:"invitation_teams_url"`
	Source    string    `json:"invitation_source"`
}

func invitationOf(c *web.Ctx, org *model.Account, inv *model.Invitation) OrgInvitation {
	w := OrgInvitation{ID: inv.ID, NodeID: api.NodeID("OrganizationInvitation", inv.ID), Role: "direct_member", CreatedAt: api.Time(inv.CreatedAt),
		Inviter: api.UserRef(c, inv.Inviter), TeamCount: len(inv.TeamIDs), Source: "member",
		TeamsURL: c.URL(web.APIPrefix + "/orgs/" + link.Segment(org.Name) + "/invitations/" + strconv.FormatInt(inv.ID, 10) + "/teams")}
	if inv.Role == Owner {
		w.Role = "admin"
	}
	if inv.Account != nil {
		w.Login = &inv.Account.Name
	}
	if inv.Email != "" {
		w.Email = &inv.Email
	}
	return w
}
