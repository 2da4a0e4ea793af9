package admin

import (
	"context"
	"net/http"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/instance"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
)

// Check is one thing that the page of health looks at.
type Check struct {
	Name string
	// Run returns what is there, or what is wrong and what to do.
	Run func(ctx context.Context) (string, error)
}

// Service is the pages about the instance: its settings, and who and what
// there is.
type Service struct {
	DB       *db.DB
	Gate     *perms.Gate
	Instance *instance.Service
	Accounts *accounts.Service
	Events   *events.Service
	// SaveScope keeps a scope's export before another takes its place, and
	// returns where.
	SaveScope func(ctx context.Context, scope db.Scope) (string, error)
	// Checks are what the page of health looks at.
	Checks  []Check
	Version string
}

// Routes registers the pages.
func (s *Service) Routes(r *web.Router) {
	admin := s.Gate.SiteAdmin()
	r.Get("/admin", admin, s.health)
	r.Get("/admin/accounts", admin, s.accounts)
	r.Post("/admin/accounts/{id}/suspend", admin, s.suspend(true))
	r.Post("/admin/accounts/{id}/unsuspend", admin, s.suspend(false))
	r.Post("/admin/accounts/{id}/promote", admin, s.promote(true))
	r.Post("/admin/accounts/{id}/demote", admin, s.promote(false))
	r.Get("/admin/repositories", admin, s.repositories)
	r.Get("/admin/scopes", admin, s.scopes)
	r.Get("/admin/scopes/{scope}", admin, s.scope)
	r.Get("/admin/scopes/{scope}/export", admin, s.scopeExport)
	r.Post("/admin/scopes/{scope}/sleep", admin, s.scopeSleep)
	r.Post("/admin/scopes/{scope}/wake", admin, s.scopeWake)
	r.Post("/admin/scopes/{scope}/restore", admin, s.scopeRestore)
	r.Get("/admin/settings", admin, s.settings)
	r.Post("/admin/settings", admin, s.settingsSave)
	r.Post("/admin/settings/reset", admin, s.settingsReset)
}

// render shows a page of the operator's.
func render(c *web.Ctx, status int, key, title string, body templ.Component) error {
	if status == 0 {
		status = http.StatusOK
	}
	return c.Render(web.Page{Status: status, Title: title + " · Administration", Shell: layout.AdminShell(key), Body: body})
}

// perPage is how many rows a list shows.
const perPage = 50

// pager cuts a list that has one row more than a page where there are more,
// and gives the addresses of the pages before and after.
func pager[T any](c *web.Ctx, list []T, page int) (cut []T, newer, older string) {
	uri := c.R.URL.RequestURI()
	if page > 1 {
		newer = link.Page(uri, page-1)
	}
	if len(list) > perPage {
		list, older = list[:perPage], link.Page(uri, page+1)
	}
	return list, newer, older
}
