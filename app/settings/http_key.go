package settings

import (
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/settingview"
	"github.com/gitfor/gitfor/views/ui"
)

type keyInput struct {
	Title   string `form:"title"`
	Key     string `form:"key"`
	Armored string `form:"armored_public_key"`
}

func (s *Service) keys(c *web.Ctx) error {
	return s.showKeys(c, settingview.KeysProps{Form: c.Query("new")}, nil)
}

func (s *Service) showKeys(c *web.Ctx, p settingview.KeysProps, errs fault.Fields) error {
	sshKeys, err := s.Accounts.SSHKeys(c.Context(), c.Viewer.ID())
	if err != nil {
		return err
	}
	for _, k := range sshKeys {
		p.SSH = append(p.SSH, settingview.Key{ID: k.ID, Name: k.Name, Type: k.Type, Fingerprint: k.Fingerprint, SignsOnly: k.SignsOnly, Created: k.CreatedAt, Used: k.UsedAt})
	}
	gpgKeys, err := s.Accounts.GPGKeys(c.Context(), c.Viewer.ID())
	if err != nil {
		return err
	}
	for _, k := range gpgKeys {
		p.GPG = append(p.GPG, settingview.Key{ID: k.ID, Name: k.Name, Fingerprint: k.KeyID, Emails: k.Emails, Created: k.CreatedAt, Expires: k.Expires})
	}
	p.Errors = ui.Errors(errs)
	return s.page(c, "keys", "SSH and GPG keys", errs, settingview.Keys(p))
}

func (s *Service) sshAdd(c *web.Ctx) error {
	if err := s.sudo(c, "keys"); err != nil {
		return err
	}
	var in keyInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	_, err := s.Accounts.AddSSHKey(c.Context(), c.Viewer.ID(), in.Title, in.Key)
	errs, err := invalid(err)
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showKeys(c, settingview.KeysProps{Form: "ssh", Title: in.Title, Key: in.Key}, errs)
	}
	return c.RedirectFlash(link.Settings("keys"), "The key is added.")
}

func (s *Service) sshRemove(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.Accounts.RemoveSSHKey(c.Context(), c.Viewer.ID(), id); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("keys"), "The key is removed.")
}

func (s *Service) gpgAdd(c *web.Ctx) error {
	if err := s.sudo(c, "keys"); err != nil {
		return err
	}
	var in keyInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	_, err := s.Accounts.AddGPGKey(c.Context(), c.Viewer.ID(), in.Title, in.Armored)
	errs, err := invalid(err)
	if err != nil {
		return err
	}
	if errs != nil {
		return s.showKeys(c, settingview.KeysProps{Form: "gpg", Title: in.Title, Key: in.Armored}, errs)
	}
	return c.RedirectFlash(link.Settings("keys"), "The key is added.")
}

func (s *Service) gpgRemove(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.Accounts.RemoveGPGKey(c.Context(), c.Viewer.ID(), id); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("keys"), "The key is removed.")
}
