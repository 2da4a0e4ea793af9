package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gitfor/gitfor/app/activity"
	"github.com/gitfor/gitfor/app/admin"
	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/mcp"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/static"
	"github.com/gitfor/gitfor/views/book"
	"github.com/gitfor/gitfor/views/link"
)

// routes mounts every feature.
func (a *App) routes(r *web.Router) {
	raw := r.Raw()
	raw.Get("/healthz", a.Gate.Anyone(), func(c *web.Ctx) error { return c.Text("ok\n") })
	raw.Get("/readyz", a.Gate.Anyone(), a.readyz)
	raw.Get("/metrics", a.Gate.Anyone(), a.metrics.serve)
	api.NewMeta(a.Kit.Routes).Routes(r, a.Gate.Anyone())
	(&mcp.Service{Version: a.cfg.Version, Log: a.log}).Routes(r, a.Gate.Anyone(), a.Gate.SignedIn())
	raw.Get("/-/static/*", a.Gate.Anyone(), func(c *web.Ctx) error {
		static.Handler().ServeHTTP(c.W, c.R)
		return nil
	})
	if a.cfg.Dev {
		ui := func(c *web.Ctx) error {
			book.Handler().ServeHTTP(c.W, c.R)
			return nil
		}
		raw.Get(link.Book(), a.Gate.Anyone(), ui)
		raw.Get(link.Book()+"/*", a.Gate.Anyone(), ui)
	}
	a.Explore.Routes(r)
	a.Auth.Routes(r)
	a.Settings.Routes(r)
	a.Accounts.Routes(r)
	a.Repos.Routes(r)
	a.OAuth.Routes(r, a.Settings.Shell)
	a.Access.Routes(r)
	a.Orgs.Routes(r)
	a.Transport.Routes(r)
	a.LFS.Routes(r)
	a.DeployKeys.Routes(r)
	a.Mirrors.Routes(r)
	a.Events.Routes(r, a.Gate)
	a.Live.Routes(r, a.Gate)
	a.Notifications.Routes(r)
	a.Webhooks.Routes(r)
	(&admin.Service{DB: a.DB, Gate: a.Gate, Instance: a.Instance, Accounts: a.Accounts, Events: a.Events,
		SaveScope: a.State.SaveScope, Checks: a.healthChecks(), Version: a.cfg.Version}).Routes(r)
	(&admin.Machinery{State: a.State, DB: a.DB, Gate: a.Gate, Events: a.Events}).Routes(r)
	a.Audit.Routes(r)
	a.Upkeep.Routes(r)
	a.Intake.Routes(r)
	a.Signatures.Routes(r)
	a.Codes.Routes(r)
	a.Issues.Routes(r)
	a.Statuses.Routes(r)
	a.Protection.Routes(r)
	a.Pulls.Routes(r)
	a.Releases.Routes(r)
	(&activity.Service{DB: a.DB, Gate: a.Gate, Repos: a.Repos}).Routes(r)
	a.Reviews.Routes(r)
	a.Attachments.Routes(r)
	a.Drafts.Routes(r)
}

func (a *App) readyz(c *web.Ctx) error {
	bad := a.Ready(c.Context())
	c.W.Header().Set("Content-Type", "application/json; charset=utf-8")
	c.W.Header().Set("Cache-Control", "no-store")
	if len(bad) > 0 {
		c.W.Header().Set("Retry-After", "1")
		c.W.WriteHeader(http.StatusServiceUnavailable)
	}
	return json.NewEncoder(c.W).Encode(map[string]any{"ready": len(bad) == 0, "reasons": bad})
}

// healthChecks are what the operator's page of health looks at.
func (a *App) healthChecks() []admin.Check {
	list := []admin.Check{
		{Name: "database", Run: func(ctx context.Context) (string, error) {
			version, err := a.DB.ServerVersion(ctx)
			return "Postgres " + version, err
		}},
		{Name: "serving", Run: func(ctx context.Context) (string, error) {
			for part, why := range a.Ready(ctx) {
				return "", errors.New(part + ": " + why)
			}
			return "migrated, storage can be written, jobs run", nil
		}},
	}
	for _, check := range a.checks {
		list = append(list, admin.Check(check))
	}
	return list
}
