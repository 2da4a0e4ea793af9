package settings

import (
	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/settingview"
	"github.com/gitfor/gitfor/views/ui"
)

func (s *Service) profile(c *web.Ctx) error { return s.showProfile(c, c.Viewer.Account, nil) }

func (s *Service) showProfile(c *web.Ctx, a *model.Account, errs fault.Fields) error {
	emails, err := s.Accounts.Emails(c.Context(), a.ID)
	if err != nil {
		return err
	}
	company, _ := a.Settings["company"].(string)
	return s.page(c, "profile", "Profile", errs, settingview.Profile(settingview.ProfileProps{Account: a, Company: company, Emails: emails, Errors: ui.Errors(errs)}))
}

func (s *Service) profileSave(c *web.Ctx) error {
	var in accounts.ProfileInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	_, err := s.Accounts.UpdateProfile(c.Context(), c.Viewer.ID(), in)
	errs, err := invalid(err)
	if err != nil {
		return err
	}
	if errs != nil {
		a := *c.Viewer.Account
		for _, f := range [...]struct{ to, from *string }{{&a.DisplayName, in.DisplayName}, {&a.Bio, in.Bio}, {&a.Location, in.Location},
			{&a.Website, in.Website}, {&a.PublicEmail, in.PublicEmail}} {
			if f.from != nil {
				*f.to = *f.from
			}
		}
		if in.Company != nil {
			a.Settings = map[string]any{"company": *in.Company}
		}
		return s.showProfile(c, &a, errs)
	}
	return c.RedirectFlash(link.Settings("profile"), "Your profile is saved.")
}

func (s *Service) account(c *web.Ctx) error {
	return s.showAccount(c, settingview.AccountProps{}, nil)
}

func (s *Service) showAccount(c *web.Ctx, p settingview.AccountProps, errs fault.Fields) error {
	p.Account, p.Errors, p.Days = c.Viewer.Account, ui.Errors(errs), s.days(c)
	return s.page(c, "account", "Account", errs, settingview.Account(p))
}

// days is how long a deleted account can come back.
func (s *Service) days(c *web.Ctx) int {
	return int(s.Accounts.RestoreWindow(c.Context()).Hours()) / 24
}

func (s *Service) rename(c *web.Ctx) error {
	if err := s.sudo(c, "account"); err != nil {
		return err
	}
	var in struct {
		Name string `form:"username"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	errs, err := invalid(s.Accounts.Rename(c.Context(), c.Viewer, c.Viewer.Account, in.Name))
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showAccount(c, settingview.AccountProps{NewName: in.Name}, errs)
	}
	return c.RedirectFlash(link.Settings("account"), "Your name is changed. The old one redirects.")
}

func (s *Service) destroy(c *web.Ctx) error {
	if err := s.sudo(c, "account"); err != nil {
		return err
	}
	var in struct {
		Name string `form:"name"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	errs, err := invalid(s.Accounts.Delete(c.Context(), c.Viewer, in.Name))
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showAccount(c, settingview.AccountProps{Typed: in.Name}, errs)
	}
	if _, err := s.Auth.EndOtherSessions(c.Context(), c.Viewer.ID(), nil); err != nil {
		return err
	}
	return c.RedirectFlash(link.Home(), "Your account is deleted. Sign in within "+ui.Plural(s.days(c), "day")+" to have it back.")
}

func (s *Service) appearance(c *web.Ctx) error {
	cb, _ := c.Viewer.Account.Settings["diff_cb"].(bool)
	return s.showAppearance(c, settingview.AppearanceProps{Theme: c.Viewer.User.Theme, DiffCB: cb, TimeZone: c.Viewer.User.TimeZone}, nil)
}

func (s *Service) showAppearance(c *web.Ctx, p settingview.AppearanceProps, errs fault.Fields) error {
	p.Errors = ui.Errors(errs)
	return s.page(c, "appearance", "Appearance", errs, settingview.Appearance(p))
}

func (s *Service) appearanceSave(c *web.Ctx) error {
	var in struct {
		Theme    string `form:"theme"`
		DiffCB   bool   `form:"diff_cb"`
		TimeZone string `form:"time_zone"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	errs, err := invalid(s.Accounts.UpdateAppearance(c.Context(), c.Viewer.ID(),
		accounts.AppearanceInput{Theme: &in.Theme, DiffCB: &in.DiffCB, TimeZone: &in.TimeZone}))
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showAppearance(c, settingview.AppearanceProps{Theme: in.Theme, DiffCB: in.DiffCB, TimeZone: in.TimeZone}, errs)
	}
	return c.RedirectFlash(link.Settings("appearance"), "The new look is saved.")
}

// theme stores a theme that was chosen from a menu.
func (s *Service) theme(c *web.Ctx) error {
	theme := c.R.PostFormValue("theme")
	err := s.Accounts.UpdateAppearance(c.Context(), c.Viewer.ID(), accounts.AppearanceInput{Theme: &theme})
	if err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) orgs(c *web.Ctx) error {
	orgs, err := accountdb.OrgsOf(c.Context(), s.DB.Directory(), c.Viewer.ID())
	if err != nil {
		return err
	}
	return s.page(c, "organizations", "Organisations", nil, settingview.Orgs(settingview.OrgsProps{Orgs: orgs}))
}
