package settings

import (
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/settingview"
	"github.com/gitfor/gitfor/views/ui"
)

func (s *Service) emails(c *web.Ctx) error { return s.showEmails(c, "", nil) }

func (s *Service) showEmails(c *web.Ctx, typed string, errs fault.Fields) error {
	emails, err := s.Accounts.Emails(c.Context(), c.Viewer.ID())
	if err != nil {
		return err
	}
	return s.page(c, "emails", "Emails", errs, settingview.Emails(settingview.EmailsProps{User: c.Viewer.User, Emails: emails,
		Hidden: s.Hidden(c.Viewer.Account), Typed: typed, CanSend: s.SendLink != nil, Errors: ui.Errors(errs)}))
}

type emailInput struct {
	Email   string `form:"email"`
	Private bool   `form:"private"`
}

func (s *Service) emailAdd(c *web.Ctx) error {
	var in emailInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	errs, err := invalid(s.Accounts.AddEmail(c.Context(), c.Viewer.ID(), in.Email))
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showEmails(c, in.Email, errs)
	}
	if s.SendLink == nil {
		return c.RedirectFlash(link.Settings("emails"), "The address is added.")
	}
	return s.send(c, in.Email)
}

// send sends the link that confirms an address.
func (s *Service) send(c *web.Ctx, email string) error {
	if err := s.SendLink(c.Context(), c.Viewer.Account, email); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("emails"), "A link to confirm the address is on its way to it.")
}

func (s *Service) emailVerify(c *web.Ctx) error {
	var in emailInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	emails, err := s.Accounts.Emails(c.Context(), c.Viewer.ID())
	if err != nil {
		return err
	}
	for _, e := range emails {
		if e.Email == in.Email && s.SendLink != nil {
			return s.send(c, e.Email)
		}
	}
	return fault.New(fault.Conflict, "No link can be sent there.")
}

func (s *Service) emailPrimary(c *web.Ctx) error {
	var in emailInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.sudo(c, "emails"); err != nil {
		return err
	}
	if err := s.Accounts.SetPrimary(c.Context(), c.Viewer.ID(), in.Email); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("emails"), in.Email+" is your primary address now.")
}

func (s *Service) emailRemove(c *web.Ctx) error {
	var in emailInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.Accounts.RemoveEmail(c.Context(), c.Viewer.ID(), in.Email); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("emails"), in.Email+" is removed.")
}

func (s *Service) emailPrivacy(c *web.Ctx) error {
	var in emailInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.Accounts.SetEmailPrivate(c.Context(), c.Viewer.ID(), in.Private); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("emails"), "Saved.")
}
