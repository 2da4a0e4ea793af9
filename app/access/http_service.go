package access

import (
	"context"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/views/layout"
)

// Deps are what the service needs.
type Deps struct {
	DB    *db.DB
	Gate  *perms.Gate
	Repos *repos.Service
	// Mail carries invitations; none are sent when nil. URL is the public
	// address.
	Mail *mail.Service
	URL  string
	// SettingsShell is the frame of a person's settings.
	SettingsShell func(active string) layout.Shell
}

// Service changes who may do what.
type Service struct {
	Deps
	// More, when set, shows the viewer's invitations to other things.
	More func(c *web.Ctx) (templ.Component, error)
	// Blocked, when set, says that one account keeps another away.
	Blocked func(ctx context.Context, by, who int64) (bool, error)
}

// New makes the service.
func New(deps Deps) *Service { return &Service{Deps: deps} }

// Section is the page of a repository's settings.
func Section() repos.SettingsSection {
	return repos.SettingsSection{Key: "access", Label: "Access", Icon: "users"}
}
