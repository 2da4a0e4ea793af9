package admin

import (
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/adminview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// choices are links to the same list in its other states.
func choices(c *web.Ctx, name string, pairs ...string) (tabs []ui.Tab) {
	uri := link.Set(c.R.URL.RequestURI(), "page", "")
	for i := 0; i+1 < len(pairs); i += 2 {
		tabs = append(tabs, ui.Tab{Key: pairs[i], Label: pairs[i+1], Href: link.Set(uri, name, pairs[i])})
	}
	return tabs
}

func (s *Service) accounts(c *web.Ctx) error {
	page := c.QueryInt("page", 1, 1, 100_000)
	f := accountdb.Filter{Query: c.Query("q"), State: c.Query("state"), Limit: perPage, Offset: (page - 1) * perPage}
	list := f.State
	switch list {
	case "organizations":
		f.Kind, f.State = model.KindOrganization, ""
	case "people":
		f.Kind, f.State = model.KindUser, ""
	}
	rows, err := accountdb.Oversee(c.Context(), s.DB.Directory(), f)
	if err != nil {
		return err
	}
	p := adminview.AccountsProps{Query: f.Query, State: list, Me: c.Viewer.ID(),
		States: choices(c, "state", "", "All", "people", "People", "organizations", "Organisations", "admin", "Administrators",
			"suspended", "Suspended", "deleted", "Deleted")}
	rows, p.Newer, p.Older = pager(c, rows, page)
	for _, a := range rows {
		p.Accounts = append(p.Accounts, adminview.Account{Account: &a.Account, Email: a.Email, Admin: a.Admin,
			Active: a.LastActiveAt, Repos: a.Repos})
	}
	return render(c, 0, "accounts", "Accounts", adminview.Accounts(p))
}

// back is the list from which a button was pressed.
func back(c *web.Ctx, message string) error {
	return c.RedirectFlash(link.Q("q", c.R.PostFormValue("q"), "state", c.R.PostFormValue("state")).On(link.Admin("accounts")), message)
}

func (s *Service) suspend(on bool) web.Handler {
	message := "The account can be used again."
	if on {
		message = "The account is suspended: it can neither sign in nor use its tokens and keys."
	}
	return func(c *web.Ctx) error {
		id, err := c.ParamInt("id")
		if err != nil {
			return err
		}
		if err := s.Accounts.Suspend(c.Context(), c.Viewer, id, on); err != nil {
			return err
		}
		return back(c, message)
	}
}

func (s *Service) promote(on bool) web.Handler {
	message := "The account is no longer an administrator’s."
	if on {
		message = "The account is now an administrator’s."
	}
	return func(c *web.Ctx) error {
		id, err := c.ParamInt("id")
		if err != nil {
			return err
		}
		if err := s.Accounts.SetAdmin(c.Context(), c.Viewer, id, on); err != nil {
			return err
		}
		return back(c, message)
	}
}

func (s *Service) repositories(c *web.Ctx) error {
	page := c.QueryInt("page", 1, 1, 100_000)
	f := repodb.Filter{Query: c.Query("q"), State: c.Query("state"), Sort: c.Query("sort"), Limit: perPage, Offset: (page - 1) * perPage}
	rows, err := repodb.Oversee(c.Context(), s.DB.Directory(), f)
	if err != nil {
		return err
	}
	p := adminview.ReposProps{Query: f.Query, State: f.State, Sort: f.Sort,
		States: choices(c, "state", "", "All", "public", "Public", "private", "Private", "archived", "Archived", "deleted", "Deleted"),
		Sorts:  choices(c, "sort", "", "Newest", "pushed", "Last push", "size", "Size")}
	p.Repos, p.Newer, p.Older = pager(c, rows, page)
	return render(c, 0, "repositories", "Repositories", adminview.Repos(p))
}
