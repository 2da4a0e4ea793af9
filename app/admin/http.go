package admin

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/instance"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/views/layout"
)

// Service is the pages about the instance: its settings, and who and what
// there is.
type Service struct {
	DB       *db.DB
	Gate     *perms.Gate
	Instance *instance.Service
}

// Routes registers the pages.
func (s *Service) Routes(r *web.Router) {
	admin := s.Gate.SiteAdmin()
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
