package access

import (
	"context"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/layout"
)

// Deps are what the service needs.
type Deps struct {
	DB    *db.DB
	Gate  *perms.Gate
	Repos *repos.Service
	// SettingsShell is the frame of a person's settings.
	SettingsShell func(active string) layout.Shell
}

// Service changes who may do what.
type Service struct {
	Deps
	// Invited, when set, is told of a new invitation after it was stored, to
	// send mail.
	Invited func(ctx context.Context, inv *model.Invitation, repo *model.Repo)
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
