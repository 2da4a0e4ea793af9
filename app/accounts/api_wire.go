package accounts

import (
	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// PublicUser is GitHub's public user
// (https://docs.github.com/rest/users/users#get-a-user).
type PublicUser struct {
	api.User
	Name            *string `json:"name"`
	Company         *string `json:"company"`
	Blog            *string `json:"blog"`
	Location        *string `json:"location"`
	Email           *string `json:"email"`
	Hireable        *bool   `json:"hireable"`
	Bio             *string `json:"bio"`
	TwitterUsername *string `json:"twitter_username"`
	PublicRepos     int     `json:"public_repos"`
	PublicGists     int     `json:"public_gists"`
	Followers       int     `json:"followers"`
	Following       int     `json:"following"`
	CreatedAt       string  `json:"created_at"`
	UpdatedAt       string  `json:"updated_at"`
}

// PrivateUser is GitHub's private user, which people get of themselves
// (https://docs.github.com/rest/users/users#get-the-authenticated-user).
type PrivateUser struct {
	PublicUser
	PrivateGists      int  `json:"private_gists"`
	TotalPrivateRepos int  `json:"total_private_repos"`
	OwnedPrivateRepos int  `json:"owned_private_repos"`
	DiskUsage         int  `json:"disk_usage"`
	Collaborators     int  `json:"collaborators"`
	TwoFactor         bool `json:"two_factor_authentication"`
	Plan              Plan `json:"plan"`
}

// Plan is GitHub's plan of an account; there is one.
type Plan struct {
	Name          string `json:"name"`
	Space         int    `json:"space"`
	PrivateRepos  int    `json:"private_repos"`
	Collaborators int    `json:"collaborators"`
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func publicUser(c *web.Ctx, a *model.Account, n accountdb.Counts) PublicUser {
	company, _ := a.Settings["company"].(string)
	website := a.Website
	return PublicUser{User: api.UserOf(c, a), Name: orNull(a.DisplayName), Company: orNull(company), Blog: &website,
		Location: orNull(a.Location), Email: orNull(a.PublicEmail), Bio: orNull(a.Bio), PublicRepos: n.PublicRepos,
		Followers: n.Followers, Following: n.Following, CreatedAt: api.Time(a.CreatedAt), UpdatedAt: api.Time(a.UpdatedAt)}
}

func privateUser(c *web.Ctx, u *model.User, n accountdb.Counts) PrivateUser {
	p := PrivateUser{PublicUser: publicUser(c, u.Account, n), TotalPrivateRepos: n.PrivateRepos, OwnedPrivateRepos: n.PrivateRepos,
		TwoFactor: true, Plan: Plan{Name: "free", Space: 976562499, PrivateRepos: 10000}}
	p.SiteAdmin, p.UserViewType = u.Admin, "private"
	return p
}

// Key is GitHub's SSH key
// (https://docs.github.com/rest/users/keys#list-public-ssh-keys-for-the-authenticated-user).
type Key struct {
	ID        int64   `json:"id"`
	Key       string  `json:"key"`
	URL       string  `json:"url"`
	Title     string  `json:"title"`
	CreatedAt string  `json:"created_at"`
	Verified  bool    `json:"verified"`
	ReadOnly  bool    `json:"read_only"`
	LastUsed  *string `json:"last_used"`
}

func keyOf(c *web.Ctx, k *SSHKey) Key {
	return Key{ID: k.ID, Key: k.Public, URL: c.URL(web.APIPrefix + "/user/keys/" + itoa(k.ID)), Title: k.Name,
		CreatedAt: api.Time(k.CreatedAt), Verified: true, LastUsed: api.TimeRef(k.UsedAt)}
}

// PlainKey is a key in the list that everybody may read
// (https://docs.github.com/rest/users/keys#list-public-keys-for-a-user).
type PlainKey struct {
	ID  int64  `json:"id"`
	Key string `json:"key"`
}

// SigningKey is an SSH key by which commits are verified
// (https://docs.github.com/rest/users/ssh-signing-keys).
type SigningKey struct {
	Key       string `json:"key"`
	ID        int64  `json:"id"`
	Title     string `json:"title"`
	CreatedAt string `json:"created_at"`
}

// GPG is GitHub's GPG key
// (https://docs.github.com/rest/users/gpg-keys#list-gpg-keys-for-the-authenticated-user).
type GPG struct {
	ID                int64      `json:"id"`
	Name              *string    `json:"name"`
	PrimaryKeyID      *int64     `json:"primary_key_id"`
	KeyID             string     `json:"key_id"`
	PublicKey         string     `json:"public_key"`
	Emails            []GPGEmail `json:"emails"`
	Subkeys           []GPG      `json:"subkeys"`
	CanSign           bool       `json:"can_sign"`
	CanEncryptComms   bool       `json:"can_encrypt_comms"`
	CanEncryptStorage bool       `json:"can_encrypt_storage"`
	CanCertify        bool       `json:"can_certify"`
	CreatedAt         string     `json:"created_at"`
	ExpiresAt         *string    `json:"expires_at"`
	Revoked           bool       `json:"revoked"`
	RawKey            *string    `json:"raw_key"`
}

// GPGEmail is an address in a GPG key.
type GPGEmail struct {
	Email    string `json:"email"`
	Verified bool   `json:"verified"`
}

func gpgOf(k *GPGKey) GPG {
	g := GPG{ID: k.ID, Name: orNull(k.Name), KeyID: k.KeyID, PublicKey: k.Armored, Emails: []GPGEmail{}, Subkeys: []GPG{},
		CanSign: true, CanCertify: true, CreatedAt: api.Time(k.CreatedAt), ExpiresAt: api.TimeRef(k.Expires), RawKey: &k.Armored}
	for _, e := range k.Emails {
		g.Emails = append(g.Emails, GPGEmail{Email: e})
	}
	for _, id := range k.Subkeys {
		g.Subkeys = append(g.Subkeys, GPG{KeyID: id, PrimaryKeyID: &g.ID, Emails: []GPGEmail{}, Subkeys: []GPG{}, CanSign: true, CreatedAt: g.CreatedAt})
	}
	return g
}

// EmailAddress is GitHub's email
// (https://docs.github.com/rest/users/emails#list-email-addresses-for-the-authenticated-user).
type EmailAddress struct {
	Email      string  `json:"email"`
	Primary    bool    `json:"primary"`
	Verified   bool    `json:"verified"`
	Visibility *string `json:"visibility"`
}

func emailOf(u *model.User, e *model.Email) EmailAddress {
	out := EmailAddress{Email: e.Email, Primary: e.EmailKey == model.Key(u.Email), Verified: e.VerifiedAt != nil}
	if out.Primary {
		word := "public"
		if u.EmailPrivate {
			word = "private"
		}
		out.Visibility = &word
	}
	return out
}

// SimpleOrg is GitHub's simple organization
// (https://docs.github.com/rest/orgs/orgs#list-organizations-for-the-authenticated-user).
type SimpleOrg struct {
	Login            string  `json:"login"`
	ID               int64   `json:"id"`
	NodeID           string  `json:"node_id"`
	URL              string  `json:"url"`
	ReposURL         string  `json:"repos_url"`
	EventsURL        string  `json:"events_url"`
	HooksURL         string  `json:"hooks_url"`
	IssuesURL        string  `json:"issues_url"`
	MembersURL       string  `json:"members_url"`
	PublicMembersURL string  `json:"public_members_url"`
	AvatarURL        string  `json:"avatar_url"`
	Description      *string `json:"description"`
}

// SimpleOrgOf is an organisation as the API shows it in lists.
func SimpleOrgOf(c *web.Ctx, a *model.Account) SimpleOrg {
	u := c.URL(web.APIPrefix + "/orgs/" + a.Name)
	return SimpleOrg{Login: a.Name, ID: a.ID, NodeID: api.NodeID("Organization", a.ID), URL: u, ReposURL: u + "/repos",
		EventsURL: u + "/events", HooksURL: u + "/hooks", IssuesURL: u + "/issues", MembersURL: u + "/members{/member}",
		PublicMembersURL: u + "/public_members{/member}", AvatarURL: c.URL(web.Avatar(a)), Description: orNull(a.Bio)}
}

// Org is GitHub's full organization
// (https://docs.github.com/rest/orgs/orgs#get-an-organization).
type Org struct {
	SimpleOrg
	Name                  *string `json:"name"`
	Company               *string `json:"company"`
	Blog                  *string `json:"blog"`
	Location              *string `json:"location"`
	Email                 *string `json:"email"`
	TwitterUsername       *string `json:"twitter_username"`
	IsVerified            bool    `json:"is_verified"`
	HasOrgProjects        bool    `json:"has_organization_projects"`
	HasRepositoryProjects bool    `json:"has_repository_projects"`
	PublicRepos           int     `json:"public_repos"`
	PublicGists           int     `json:"public_gists"`
	Followers             int     `json:"followers"`
	Following             int     `json:"following"`
	HTMLURL               string  `json:"html_url"`
	CreatedAt             string  `json:"created_at"`
	UpdatedAt             string  `json:"updated_at"`
	ArchivedAt            *string `json:"archived_at"`
	Type                  string  `json:"type"`
	DefaultPermission     string  `json:"default_repository_permission"`
}

func orgOf(c *web.Ctx, a *model.Account, n accountdb.Counts) Org {
	base := string(a.BaseRole)
	if base == "" {
		base = "none"
	}
	website := a.Website
	return Org{SimpleOrg: SimpleOrgOf(c, a), Name: orNull(a.DisplayName), Blog: &website, Location: orNull(a.Location), Email: orNull(a.PublicEmail),
		PublicRepos: n.PublicRepos, Followers: n.Followers, HTMLURL: c.URL(link.Account(a.Name)), CreatedAt: api.Time(a.CreatedAt),
		UpdatedAt: api.Time(a.UpdatedAt), Type: "Organization", DefaultPermission: base}
}

// Membership is GitHub's organization membership
// (https://docs.github.com/rest/orgs/members#get-organization-membership-for-a-user).
type Membership struct {
	URL          string    `json:"url"`
	State        string    `json:"state"`
	Role         string    `json:"role"`
	OrgURL       string    `json:"organization_url"`
	Organization SimpleOrg `json:"organization"`
	User         api.User  `json:"user"`
}

// MembershipOf is a person's membership as the API shows it: active, or
// pending before the person accepted an invitation.
func MembershipOf(c *web.Ctx, org, user *model.Account, role, state string) Membership {
	if role == "owner" {
		role = "admin"
	}
	o := SimpleOrgOf(c, org)
	return Membership{URL: o.URL + "/memberships/" + user.Name, State: state, Role: role, OrgURL: o.URL, Organization: o, User: api.UserOf(c, user)}
}
