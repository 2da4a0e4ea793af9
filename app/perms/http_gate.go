// Package perms answers who may do what. Gate holds the access classes of
// the route table; each loads what a route is about, through what the viewer
// may see: what they may not see does not exist.
package perms

import (
	"errors"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/link"
)

// Gate makes the access classes of routes.
type Gate struct{ db *db.DB }

// NewGate makes a gate over the directory of d.
func NewGate(d *db.DB) *Gate { return &Gate{d} }

// Anyone lets everybody in.
func (g *Gate) Anyone() web.Access {
	return web.Access{Name: "anyone", Allow: func(*web.Ctx) error { return nil }}
}

// SignedIn lets people in who are signed in, or hold a token with one of the
// scopes where any are named.
func (g *Gate) SignedIn(scopes ...string) web.Access {
	name := "signed-in"
	if len(scopes) > 0 {
		name += " " + strings.Join(scopes, "|")
	}
	return web.Access{Name: name, Allow: func(c *web.Ctx) error { return g.signedIn(c, scopes) }}
}

func (g *Gate) signedIn(c *web.Ctx, scopes []string) error {
	if !c.Viewer.SignedIn() || c.Viewer.DeployRepo != 0 {
		return fault.New(fault.Unauthorized, "Requires authentication")
	}
	for _, s := range scopes {
		if c.Viewer.Has(s) {
			return nil
		}
	}
	if len(scopes) > 0 {
		return fault.New(fault.Forbidden, "This token lacks the scope "+strings.Join(scopes, " or ")+".")
	}
	return nil
}

// SiteAdmin lets the instance's administrators in; to others the page does
// not exist.
func (g *Gate) SiteAdmin() web.Access {
	return web.Access{Name: "site-admin", Allow: func(c *web.Ctx) error {
		switch {
		case !c.Viewer.SignedIn():
			return fault.New(fault.Unauthorized, "Sign in first.")
		case !c.Viewer.Admin():
			return db.ErrNotFound
		}
		return nil
	}}
}

// Repo lets those in who have role in the repository {owner}/{repo}, and
// loads it. Who may not read it is told that it is not there; who may read
// it but has too low a role is told so.
func (g *Gate) Repo(role model.Role) web.Access {
	return web.Access{Name: "repo-" + string(role), Allow: func(c *web.Ctx) error { return g.repo(c, role) }}
}

// RepoChange is Repo for what changes the repository's content: an archived
// one refuses.
func (g *Gate) RepoChange(role model.Role) web.Access {
	return web.Access{Name: "repo-change-" + string(role), Allow: func(c *web.Ctx) error {
		if err := g.repo(c, role); err != nil {
			return err
		}
		if c.Repo.Archived() {
			return fault.New(fault.Forbidden, "This repository is archived and read-only.")
		}
		return nil
	}}
}

// RepoPost lets everyone in who is signed in and may read the repository,
// unless it is archived: for issues and comments.
func (g *Gate) RepoPost() web.Access {
	return web.Access{Name: "repo-post", Allow: func(c *web.Ctx) error {
		if err := g.repoViewer(c); err != nil {
			return err
		}
		if c.Repo.Archived() {
			return fault.New(fault.Forbidden, "This repository is archived and read-only.")
		}
		return nil
	}}
}

// RepoViewer lets everyone in who is signed in and may read the repository, an
// archived one too: for what people do with it and not to it, such as stars
// and forks.
func (g *Gate) RepoViewer() web.Access {
	return web.Access{Name: "repo-viewer", Allow: g.repoViewer}
}

func (g *Gate) repoViewer(c *web.Ctx) error {
	if err := g.repo(c, model.RoleRead); err != nil {
		return err
	}
	switch {
	case !c.Viewer.SignedIn() || c.Viewer.DeployRepo != 0:
		return fault.New(fault.Unauthorized, "Requires authentication")
	case !c.Viewer.Reaches(c.Repo.ID, c.Repo.IsPrivate(), true):
		return fault.New(fault.Forbidden, "This token may not write here.")
	}
	return nil
}

func (g *Gate) repo(c *web.Ctx, role model.Role) error {
	owner, name := c.Param("owner"), strings.TrimSuffix(c.Param("repo"), ".git")
	viewerID := c.Viewer.ID()
	var repo *model.Repo
	var have model.Role
	var err error
	if c.Viewer != nil && c.Viewer.DeployRepo != 0 {
		// A deploy key or token opens its repository whatever became of its
		// maker's access.
		repo, err = repodb.ByName(c.Context(), g.db.Directory(), owner, name)
	} else {
		repo, have, err = repodb.Find(c.Context(), g.db.Directory(), owner, name, viewerID)
	}
	if errors.Is(err, db.ErrNotFound) {
		return g.moved(c, owner, name)
	}
	if err != nil {
		return err
	}
	if !c.Viewer.Reaches(repo.ID, repo.IsPrivate(), false) {
		return db.ErrNotFound
	}
	if c.Viewer != nil && c.Viewer.DeployRepo == repo.ID {
		// A deploy token has its own right, not its maker's.
		have = model.RoleRead
		if c.Viewer.Write {
			have = model.RoleWrite
		}
	}
	if (repo.IsPrivate() || role != model.RoleRead) && c.Viewer != nil && c.Viewer.Weak && repo.Owner.RequiresPasskey() {
		return needsPasskey(repo.Owner)
	}
	c.Repo, c.Role = repo, have
	if role == model.RoleRead {
		return nil
	}
	if !have.AtLeast(role) {
		return c.Forbid("You need the " + string(role) + " role in " + repo.FullName() + " for this.")
	}
	if !c.Viewer.Reaches(repo.ID, repo.IsPrivate(), true) {
		return fault.New(fault.Forbidden, "This token may not write here.")
	}
	return nil
}

// moved redirects from a repository's former name; strangers at a private or
// missing one are asked to sign in by git, and get 404 elsewhere.
func (g *Gate) moved(c *web.Ctx, owner, name string) error {
	old, err := repodb.Redirect(c.Context(), g.db.Directory(), owner, name)
	if err == nil && (c.Viewer == nil || c.Viewer.DeployRepo != old.ID) {
		_, _, err = repodb.FindID(c.Context(), g.db.Directory(), old.ID, c.Viewer.ID())
	}
	if errors.Is(err, db.ErrNotFound) {
		if c.Door == web.GitDoor && !c.Viewer.SignedIn() {
			return fault.New(fault.Unauthorized, "Repository not found, or it needs a token.")
		}
		return db.ErrNotFound
	}
	if err != nil {
		return err
	}
	rest := c.R.URL.EscapedPath()
	prefix, base := "", "/"
	if c.Door == web.APIDoor {
		prefix, base = web.APIPrefix+"/repos", web.APIPrefix+"/repos/"
	}
	tail := ""
	if parts := strings.SplitN(strings.TrimPrefix(rest, base), "/", 3); len(parts) == 3 {
		tail = "/" + parts[2]
	}
	to := prefix + link.Repo(old.Owner.Name, old.Name) + tail
	if c.R.URL.RawQuery != "" {
		to += "?" + c.R.URL.RawQuery
	}
	return c.MovedAway(to)
}

// Account loads the account {owner}; its former names redirect.
func (g *Gate) Account() web.Access {
	return web.Access{Name: "account", Allow: g.account}
}

// AccountAdmin lets in the person whose account {owner} is, or the owners of
// that organisation.
func (g *Gate) AccountAdmin() web.Access {
	return web.Access{Name: "account-admin", Allow: func(c *web.Ctx) error {
		if err := g.account(c); err != nil {
			return err
		}
		ok, err := g.MayAdminister(c)
		if err == nil && !ok {
			err = c.Forbid("Only owners of " + c.Account.Name + " may do this.")
		}
		return err
	}}
}

// MayAdminister says whether the viewer is the account in c or owns it.
func (g *Gate) MayAdminister(c *web.Ctx) (bool, error) {
	switch {
	case !c.Viewer.SignedIn() || c.Viewer.DeployRepo != 0:
		return false, nil
	case c.Account.ID == c.Viewer.ID():
		return true, nil
	case c.Account.IsUser():
		return false, nil
	}
	role, err := accountdb.OrgRole(c.Context(), g.db.Directory(), c.Account.ID, c.Viewer.ID())
	if err == nil && role != "" && c.Viewer.Weak && c.Account.RequiresPasskey() {
		err = needsPasskey(c.Account)
	}
	return role == "owner" && c.Viewer.Has("admin:org"), err
}

func needsPasskey(org *model.Account) error {
	return fault.New(fault.Forbidden, org.Name+" asks its people to sign in with a passkey. Sign out, then sign in with yours.")
}

// OrgMember loads the organisation {owner} and lets those in who belong to it;
// to others the page does not exist.
func (g *Gate) OrgMember() web.Access {
	return web.Access{Name: "org-member", Allow: func(c *web.Ctx) error {
		_, err := g.orgRole(c, "read:org")
		return err
	}}
}

// OrgOwner is OrgMember for the organisation's owners.
func (g *Gate) OrgOwner() web.Access {
	return web.Access{Name: "org-owner", Allow: func(c *web.Ctx) error {
		role, err := g.orgRole(c, "admin:org")
		if err == nil && role != "owner" {
			err = c.Forbid("Only owners of " + c.Account.Name + " may do this.")
		}
		return err
	}}
}

func (g *Gate) orgRole(c *web.Ctx, scope string) (string, error) {
	if err := g.account(c); err != nil {
		return "", err
	}
	switch {
	case c.Account.IsUser():
		return "", db.ErrNotFound
	case !c.Viewer.SignedIn() || c.Viewer.DeployRepo != 0:
		return "", fault.New(fault.Unauthorized, "Requires authentication")
	}
	role, err := accountdb.OrgRole(c.Context(), g.db.Directory(), c.Account.ID, c.Viewer.ID())
	switch {
	case err != nil:
		return "", err
	case role == "":
		return "", db.ErrNotFound
	case c.Viewer.Weak && c.Account.RequiresPasskey():
		return "", needsPasskey(c.Account)
	case !c.Viewer.Has(scope):
		return "", fault.New(fault.Forbidden, "This token lacks the scope "+scope+".")
	}
	return role, nil
}

func (g *Gate) account(c *web.Ctx) error {
	name := c.Param("owner")
	account, err := accountdb.ByName(c.Context(), g.db.Directory(), name)
	if errors.Is(err, db.ErrNotFound) {
		if account, err = accountdb.Redirect(c.Context(), g.db.Directory(), name); err == nil {
			return c.MovedAway(strings.Replace(c.R.URL.EscapedPath(), "/"+name, link.Account(account.Name), 1))
		}
	}
	if err != nil {
		return err
	}
	c.Account = account
	return nil
}
