package accounts

import (
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/accountview"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/part"
	"github.com/gitfor/gitfor/views/ui"
)

// Routes mounts the pages of people and organisations, and the API.
func (s *Service) Routes(r *web.Router) {
	g := s.Gate
	r.Raw().Get("/-/avatar/{id}", g.Anyone(), s.avatar)
	r.Get("/organizations/new", g.SignedIn(), s.newOrg)
	r.Post("/organizations/new", g.SignedIn(), s.createOrg)
	r.Get("/orgs/{owner}", g.Account(), func(c *web.Ctx) error { return c.Moved(link.Account(c.Account.Name)) })
	r.Get("/{owner}", g.Account(), s.show)
	r.Post("/{owner}/follow", g.Account(), s.follow)
	s.apiRoutes(r)
}

// Shell is the frame of the pages of the account in c, with the tab of this
// key as the current one.
func (s *Service) Shell(c *web.Ctx, active string) (layout.Shell, error) {
	a := c.Account
	counts, err := accountdb.CountsOf(c.Context(), s.db.Directory(), a.ID)
	if err != nil {
		return nil, err
	}
	company, _ := a.Settings["company"].(string)
	p := layout.AccountProps{Name: a.Name, DisplayName: a.DisplayName, AvatarURL: web.Avatar(a), Bio: a.Bio, Org: !a.IsUser(), Active: active,
		Facts: accountview.Facts(a, company)}
	p.Tabs = []ui.Tab{{Key: "repositories", Label: "Repositories", Icon: "book-marked", Href: link.Account(a.Name), Count: counts.PublicRepos}}
	if a.IsUser() {
		p.Tabs = append(p.Tabs,
			ui.Tab{Key: "stars", Label: "Stars", Icon: "star", Href: link.AccountTab(a.Name, "stars")},
			ui.Tab{Key: "followers", Label: "Followers", Icon: "users", Href: link.AccountTab(a.Name, "followers"), Count: counts.Followers},
			ui.Tab{Key: "following", Label: "Following", Icon: "user-check", Href: link.AccountTab(a.Name, "following"), Count: counts.Following})
	} else {
		p.Tabs = append(p.Tabs, ui.Tab{Key: "people", Label: "People", Icon: "users", Href: link.Org(a.Name, "people")})
		role, err := accountdb.OrgRole(c.Context(), s.db.Directory(), a.ID, c.Viewer.ID())
		if err != nil {
			return nil, err
		}
		if role != "" {
			p.Tabs = append(p.Tabs, ui.Tab{Key: "teams", Label: "Teams", Icon: "layers", Href: link.Org(a.Name, "teams")})
		}
		if role == "owner" {
			p.Tabs = append(p.Tabs, ui.Tab{Key: "settings", Label: "Settings", Icon: "settings", Href: link.OrgSettings(a.Name, "")})
		}
	}
	switch {
	case a.ID == c.Viewer.ID():
		p.Actions = accountview.Edit()
	case c.Viewer.SignedIn() && a.IsUser():
		on, err := accountdb.Follows(c.Context(), s.db.Directory(), c.Viewer.ID(), a.ID)
		if err != nil {
			return nil, err
		}
		p.Actions = accountview.Follow(a.Name, on)
	}
	return layout.AccountShell(p), nil
}

const perPage = 30

func (s *Service) show(c *web.Ctx) error {
	a, tab := c.Account, c.Query("tab")
	switch tab {
	case "followers", "following":
		if a.IsUser() {
			return s.followers(c, tab)
		}
	case "stars":
	default:
		tab = "repositories"
	}
	page := c.QueryInt("page", 1, 1, 1000)
	opts := repodb.ListOpts{Query: c.Query("q"), Sort: "pushed", Limit: perPage, Offset: int64(page-1) * perPage}
	if tab == "stars" {
		opts.StarredBy = a.ID
	} else {
		opts.OwnerID = a.ID
	}
	repos, more, err := repodb.List(c.Context(), s.db.Directory(), c.Viewer.ID(), opts)
	if err != nil {
		return err
	}
	mine, err := s.mine(c)
	if err != nil {
		return err
	}
	shell, err := s.Shell(c, tab)
	if err != nil {
		return err
	}
	return c.Render(web.Page{Title: a.Shown(), Shell: shell, Props: layout.Props{Description: a.Bio},
		Body: accountview.Repos(accountview.ReposProps{Account: a, Repos: repos, Query: opts.Query, Tab: tab, Mine: mine,
			Path: c.R.URL.RequestURI(), Page: page, More: more})})
}

// mine says whether the viewer may create repositories here.
func (s *Service) mine(c *web.Ctx) (bool, error) {
	if !c.Viewer.SignedIn() || c.Account.ID == c.Viewer.ID() || c.Account.IsUser() {
		return c.Account.ID == c.Viewer.ID(), nil
	}
	role, err := accountdb.OrgRole(c.Context(), s.db.Directory(), c.Account.ID, c.Viewer.ID())
	return role != "", err
}

func (s *Service) followers(c *web.Ctx, tab string) error {
	page := c.QueryInt("page", 1, 1, 1000)
	people, err := accountdb.Followers(c.Context(), s.db.Directory(), c.Account.ID, tab == "following", perPage+1, int64(page-1)*perPage)
	if err != nil {
		return err
	}
	more := len(people) > perPage
	if more {
		people = people[:perPage]
	}
	shell, err := s.Shell(c, tab)
	if err != nil {
		return err
	}
	empty := c.Account.Name + " has no followers yet."
	if tab == "following" {
		empty = c.Account.Name + " follows nobody yet."
	}
	return c.Render(web.Page{Title: c.Account.Shown(), Shell: shell,
		Body: ui.Group(accountview.Accounts(people, empty), part.PagerMore(c.R.URL.RequestURI(), page, more))})
}

func (s *Service) follow(c *web.Ctx) error {
	if !c.Viewer.SignedIn() {
		return fault.New(fault.Unauthorized, "Sign in first.")
	}
	if !c.Account.IsUser() {
		return fault.New(fault.Conflict, "Only people can be followed.")
	}
	if err := s.Follow(c.Context(), c.Viewer, c.Account, c.R.PostFormValue("on") == "true"); err != nil {
		return err
	}
	return c.Redirect(link.Account(c.Account.Name))
}

func (s *Service) newOrg(c *web.Ctx) error { return s.showNewOrg(c, OrgInput{}, nil) }

func (s *Service) showNewOrg(c *web.Ctx, in OrgInput, errs fault.Fields) error {
	p := web.Page{Title: "New organisation", Shell: layout.Site,
		Body: accountview.NewOrg(accountview.NewOrgProps{Name: in.Name, DisplayName: in.DisplayName, Errors: ui.Errors(errs)})}
	if len(errs) > 0 {
		p.Status = fault.Invalid.Status()
	}
	return c.Render(p)
}

func (s *Service) createOrg(c *web.Ctx) error {
	var in OrgInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	org, err := s.CreateOrg(c.Context(), c.Viewer, in)
	if f := fault.From(err); err != nil && f.Kind == fault.Invalid {
		return s.showNewOrg(c, in, f.Fields)
	}
	if err != nil {
		return err
	}
	return c.Redirect(link.Account(org.Name))
}
