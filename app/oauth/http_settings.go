package oauth

import (
	"errors"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/oauthdb"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/oauthview"
	"github.com/gitfor/gitfor/views/ui"
)

// pages are those of a person's settings.
type pages struct {
	*Service
	shell func(active string) layout.Shell
}

// shownSecret names the secret that the next page shows.
const shownSecret = "client-secret"

func (p pages) show(c *web.Ctx, key, title string, errs fault.Fields, body templ.Component) error {
	page := web.Page{Title: title, Shell: p.shell(key), Body: body, Props: layout.Props{NoIndex: true}}
	if len(errs) > 0 {
		page.Status = fault.Invalid.Status()
	}
	return c.Render(page)
}

func (p pages) grants(c *web.Ctx) error {
	acc := p.DB.Account(c.Viewer.ID())
	list, err := oauthdb.Grants(c.Context(), acc)
	if err != nil {
		return err
	}
	tokens, err := accountdb.Credentials(c.Context(), acc, model.CredentialOAuth)
	if err != nil {
		return err
	}
	var rows []oauthview.Grant
	for _, g := range list {
		row := oauthview.Grant{Grant: g, Name: "An app that is gone"}
		app, err := p.Find(c.Context(), g.ClientID)
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return err
		}
		if err == nil {
			row.Name, row.Homepage, row.Description = app.Name, app.Homepage, app.Description
		}
		for _, t := range tokens {
			if appOf(t) != g.ClientID {
				continue
			}
			row.Tokens++
			if t.UsedAt != nil && (row.Used == nil || t.UsedAt.After(*row.Used)) {
				row.Used = t.UsedAt
			}
		}
		rows = append(rows, row)
	}
	return p.show(c, "applications", "Applications", nil, oauthview.Grants(rows))
}

func (p pages) revoke(c *web.Ctx) error {
	if err := p.Revoke(c.Context(), c.Viewer, c.Viewer.ID(), c.R.PostFormValue("client_id")); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("applications"), "The app cannot act for you any more.")
}

func (p pages) apps(c *web.Ctx) error {
	list, err := oauthdb.Apps(c.Context(), p.DB.Account(c.Viewer.ID()))
	if err != nil {
		return err
	}
	ids := make([]string, len(list))
	for i, a := range list {
		ids[i] = a.ClientID
	}
	users, err := oauthdb.CountGranters(c.Context(), p.DB.Directory(), ids)
	if err != nil {
		return err
	}
	return p.show(c, "developers", "Your apps", nil, oauthview.Apps(list, users))
}

func (p pages) form(c *web.Ctx) error {
	return p.showForm(c, oauthview.AppProps{App: &model.OAuthApp{Expires: true}}, nil)
}

func (p pages) showForm(c *web.Ctx, props oauthview.AppProps, errs fault.Fields) error {
	props.Errors = ui.Errors(errs)
	title := "New app"
	if props.App.ID != 0 {
		title = "App " + props.App.Name
	}
	return p.show(c, "developers", title, errs, oauthview.App(props))
}

func invalid(err error) (fault.Fields, error) {
	if f := fault.From(err); err != nil && f.Kind == fault.Invalid {
		return f.Fields, nil
	}
	return nil, err
}

func (p pages) create(c *web.Ctx) error {
	var in AppInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	a, err := p.CreateApp(c.Context(), c.Viewer, in)
	errs, err := invalid(err)
	if err != nil {
		return err
	}
	if errs != nil {
		return p.showForm(c, oauthview.AppProps{App: typed(&model.OAuthApp{}, in), Callbacks: in.Callbacks}, errs)
	}
	return c.RedirectFlash(link.Settings("developers/"+num(a.ID)), "The app is made.")
}

func typed(a *model.OAuthApp, in AppInput) *model.OAuthApp {
	b := *a
	b.Name, b.Description, b.Homepage, b.Device, b.Expires = in.Name, in.Description, in.Homepage, in.Device, in.Expires
	return &b
}

func (p pages) mine(c *web.Ctx) (*model.OAuthApp, error) {
	id, err := c.ParamInt("id")
	if err != nil {
		return nil, err
	}
	return oauthdb.AppByID(c.Context(), p.DB.Account(c.Viewer.ID()), id)
}

func (p pages) app(c *web.Ctx) error {
	a, err := p.mine(c)
	if err != nil {
		return err
	}
	text, err := p.Auth.TakeShown(c.Context(), c.Viewer.ID(), shownSecret)
	if err != nil {
		return err
	}
	if text != "" {
		c.W.Header().Set("Cache-Control", "no-store")
	}
	return p.showForm(c, oauthview.AppProps{App: a, Callbacks: oauthview.Lines(a.Callbacks), Secret: text}, nil)
}

func (p pages) save(c *web.Ctx) error {
	a, err := p.mine(c)
	if err != nil {
		return err
	}
	var in AppInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	before := *a
	errs, err := invalid(p.EditApp(c.Context(), c.Viewer, a, in))
	if err != nil {
		return err
	}
	if errs != nil {
		return p.showForm(c, oauthview.AppProps{App: typed(&before, in), Callbacks: in.Callbacks}, errs)
	}
	return c.RedirectFlash(link.Settings("developers/"+num(a.ID)), "The app is saved.")
}

func (p pages) secret(c *web.Ctx) error {
	a, err := p.mine(c)
	if err != nil {
		return err
	}
	at := link.Settings("developers/" + num(a.ID))
	if err := p.Auth.RequireSudo(c, at); err != nil {
		return err
	}
	text, err := p.NewSecret(c.Context(), c.Viewer, a)
	if err != nil {
		return err
	}
	if err := p.Auth.ShowOnce(c.Context(), c.Viewer.ID(), shownSecret, text); err != nil {
		return err
	}
	return c.Redirect(at)
}

func (p pages) secretRemove(c *web.Ctx) error {
	a, err := p.mine(c)
	if err != nil {
		return err
	}
	id, err := c.ParamInt("secret")
	if err != nil {
		return err
	}
	if err := p.RemoveSecret(c.Context(), c.Viewer, a, id); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("developers/"+num(a.ID)), "The secret is removed.")
}

func (p pages) destroy(c *web.Ctx) error {
	a, err := p.mine(c)
	if err != nil {
		return err
	}
	if err := p.Auth.RequireSudo(c, link.Settings("developers/"+num(a.ID))); err != nil {
		return err
	}
	if err := p.DeleteApp(c.Context(), c.Viewer, a); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("developers"), "The app and all its tokens are gone.")
}
