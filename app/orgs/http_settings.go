package orgs

import (
	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/orgview"
	"github.com/gitfor/gitfor/views/ui"
)

// Sections are the pages of an organisation's settings.
func Sections() []accounts.OrgSection {
	return []accounts.OrgSection{{Key: "", Label: "Profile", Icon: "building-2"}, {Key: "members", Label: "What members may do", Icon: "users"}}
}

func (s *Service) settings(c *web.Ctx, key, title string, errs fault.Fields, body templ.Component) error {
	page := web.Page{Title: title + " · " + c.Account.Shown(), Shell: s.Accounts.OrgShell(c, key), Body: body, Props: layout.Props{NoIndex: true}}
	if len(errs) > 0 {
		page.Status = fault.Invalid.Status()
	}
	return c.Render(page)
}

func (s *Service) profile(c *web.Ctx) error {
	return s.showProfile(c, orgview.ProfileProps{Org: c.Account}, nil)
}

func (s *Service) showProfile(c *web.Ctx, p orgview.ProfileProps, errs fault.Fields) error {
	p.Base, p.Errors, p.Name = link.OrgSettings(c.Account.Name, ""), ui.Errors(errs), c.Account.Name
	return s.settings(c, "", "Profile", errs, orgview.Profile(p))
}

func (s *Service) profileSave(c *web.Ctx) error {
	var in accounts.ProfileInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	_, err := s.Accounts.UpdateProfile(c.Context(), c.Account.ID, in)
	errs, err := invalid(err)
	if err != nil {
		return err
	}
	if errs != nil {
		a := *c.Account
		for _, f := range [...]struct{ to, from *string }{{&a.DisplayName, in.DisplayName}, {&a.Bio, in.Bio}, {&a.Location, in.Location},
			{&a.Website, in.Website}, {&a.PublicEmail, in.PublicEmail}} {
			if f.from != nil {
				*f.to = *f.from
			}
		}
		return s.showProfile(c, orgview.ProfileProps{Org: &a}, errs)
	}
	return c.RedirectFlash(link.OrgSettings(c.Account.Name, ""), "The profile is saved.")
}

func (s *Service) rename(c *web.Ctx) error {
	if err := s.Auth.RequireSudo(c, link.OrgSettings(c.Account.Name, "")); err != nil {
		return err
	}
	name := c.R.PostFormValue("username")
	errs, err := invalid(s.Accounts.Rename(c.Context(), c.Viewer, c.Account, name))
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showProfile(c, orgview.ProfileProps{Org: c.Account, NewName: name}, errs)
	}
	return c.RedirectFlash(link.OrgSettings(c.Account.Name, ""), "The organisation has its new name; the old one redirects.")
}

func (s *Service) destroy(c *web.Ctx) error {
	if err := s.Auth.RequireSudo(c, link.OrgSettings(c.Account.Name, "")); err != nil {
		return err
	}
	errs, err := invalid(s.Accounts.DeleteOrg(c.Context(), c.Viewer, c.Account, c.R.PostFormValue("name")))
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showProfile(c, orgview.ProfileProps{Org: c.Account}, errs)
	}
	return c.RedirectFlash(link.Settings("organizations"), c.Account.Name+" and its repositories are deleted.")
}

func (s *Service) rules(c *web.Ctx) error { return s.showRules(c, c.Account, nil) }

func (s *Service) showRules(c *web.Ctx, a *model.Account, errs fault.Fields) error {
	base := string(a.BaseRole)
	if base == "" {
		base = "none"
	}
	return s.settings(c, "members", "What members may do", errs, orgview.Rules(orgview.RulesProps{Base: link.OrgSettings(c.Account.Name, "members"),
		BaseRole: base, MembersCreate: a.MembersCreate(), RequirePasskey: a.RequiresPasskey(), Errors: ui.Errors(errs)}))
}

func (s *Service) rulesSave(c *web.Ctx) error {
	var in struct {
		BaseRole       string `form:"base_role"`
		MembersCreate  bool   `form:"members_create"`
		RequirePasskey bool   `form:"require_passkey"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	var err error
	if in.RequirePasskey && c.Viewer.Weak {
		err = fault.Field("require_passkey", "You did not sign in with a passkey yourself, and would be locked out.")
	} else {
		_, err = s.SetRules(c.Context(), c.Viewer, c.Account, RulesInput{BaseRole: &in.BaseRole, MembersCreate: &in.MembersCreate,
			RequirePasskey: &in.RequirePasskey})
	}
	errs, err := invalid(err)
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showRules(c, c.Account, errs)
	}
	return c.RedirectFlash(link.OrgSettings(c.Account.Name, "members"), "The rules are saved.")
}
