// Package settings is the pages on which people look after their accounts:
// profile, addresses, looks, passkeys, sessions, keys and tokens. What the
// pages do is in packages accounts and auth.
package settings

import (
	"context"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/settingview"
	"github.com/gitfor/gitfor/views/ui"
)

// Service holds the pages.
type Service struct {
	DB       *db.DB
	Gate     *perms.Gate
	Accounts *accounts.Service
	Auth     *auth.Service
	Repos    *repos.Service
	// Hidden is the address that stands for an account's own.
	Hidden func(a *model.Account) string
	// SendLink sends the link that confirms an address to it; nil where no
	// mail can be sent.
	SendLink func(ctx context.Context, a *model.Account, email string) error
	// More are the pages of other features in the list.
	More []ui.Tab
}

// Routes mounts the pages.
func (s *Service) Routes(r *web.Router) {
	in := s.Gate.SignedIn()
	r.Get("/settings", in, func(c *web.Ctx) error { return c.Redirect(link.Settings("profile")) })
	r.Get("/settings/profile", in, s.profile)
	r.Post("/settings/profile", in, s.profileSave)
	r.Get("/settings/account", in, s.account)
	r.Post("/settings/account/name", in, s.rename)
	r.Post("/settings/account/delete", in, s.destroy)
	r.Get("/settings/emails", in, s.emails)
	r.Post("/settings/emails", in, s.emailAdd)
	r.Post("/settings/emails/primary", in, s.emailPrimary)
	r.Post("/settings/emails/remove", in, s.emailRemove)
	r.Post("/settings/emails/verify", in, s.emailVerify)
	r.Post("/settings/emails/privacy", in, s.emailPrivacy)
	r.Get("/settings/appearance", in, s.appearance)
	r.Post("/settings/appearance", in, s.appearanceSave)
	r.Raw().Post("/-/theme", in, s.theme)
	r.Get("/settings/organizations", in, s.orgs)
	r.Get("/settings/deleted", in, s.deleted)
	r.Post("/settings/deleted/repositories/{id}", in, s.repoRestore)
	r.Post("/settings/deleted/organizations/{id}", in, s.orgRestore)
	r.Get("/settings/passkeys", in, s.passkeys)
	r.Post("/settings/passkeys", in, s.passkeysWithoutScript)
	r.Post("/settings/passkeys/recovery-codes", in, s.newCodes)
	r.Post("/settings/passkeys/{id}", in, s.passkeyRename)
	r.Post("/settings/passkeys/{id}/remove", in, s.passkeyRemove)
	r.Get("/settings/sessions", in, s.sessions)
	r.Post("/settings/sessions/end", in, s.sessionEnd)
	r.Post("/settings/sessions/end-others", in, s.sessionsEnd)
	r.Get("/settings/keys", in, s.keys)
	r.Post("/settings/keys/ssh", in, s.sshAdd)
	r.Post("/settings/keys/ssh/{id}/remove", in, s.sshRemove)
	r.Post("/settings/keys/gpg", in, s.gpgAdd)
	r.Post("/settings/keys/gpg/{id}/remove", in, s.gpgRemove)
	r.Get("/settings/credentials", in, s.credentials)
	r.Get("/settings/tokens", in, s.tokens)
	r.Get("/settings/tokens/new", in, s.tokenForm)
	r.Post("/settings/tokens", in, s.tokenMake)
	r.Post("/settings/tokens/{id}/revoke", in, s.tokenRevoke)
}

// Shell is the frame of a settings page, with the page of this key as the
// current one.
func (s *Service) Shell(active string) layout.Shell {
	return layout.SettingsShell(layout.SettingsProps{Label: "Your settings", Active: active, Sections: settingview.Sections(s.More...),
		Place: []layout.Crumb{{Label: "Settings", Href: link.Settings("")}}})
}

// page shows a settings page; with messages about fields as a refused form.
func (s *Service) page(c *web.Ctx, key, title string, errs fault.Fields, body templ.Component, scripts ...string) error {
	p := web.Page{Title: title, Shell: s.Shell(key), Body: body, Props: layout.Props{NoIndex: true, Scripts: scripts}}
	if len(errs) > 0 {
		p.Status = fault.Invalid.Status()
	}
	return c.Render(p)
}

// invalid is the messages of a refused form; the error itself when it is
// another.
func invalid(err error) (fault.Fields, error) {
	if f := fault.From(err); err != nil && f.Kind == fault.Invalid {
		return f.Fields, nil
	}
	return nil, err
}

// sudo lets only go on who proved lately who they are.
func (s *Service) sudo(c *web.Ctx, page string) error {
	return s.Auth.RequireSudo(c, link.Settings(page))
}
