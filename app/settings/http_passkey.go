package settings

import (
	"bytes"

	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/settingview"
)

func (s *Service) passkeys(c *web.Ctx) error {
	if !c.Viewer.Sudo {
		// Adding one needs a proof of identity; it is asked for here, as
		// the ceremony's script cannot go elsewhere in between.
		return s.sudo(c, "passkeys")
	}
	keys, err := s.Auth.Passkeys(c.Context(), c.Viewer.ID())
	if err != nil {
		return err
	}
	left, err := s.Auth.RecoveryCodesLeft(c.Context(), c.Viewer.ID())
	if err != nil {
		return err
	}
	p := settingview.PasskeysProps{Left: left, Suggest: auth.DeviceName(c.R.UserAgent())}
	for _, k := range keys {
		p.Passkeys = append(p.Passkeys, settingview.Passkey{ID: k.ID, Name: k.Name, Created: k.CreatedAt, Used: k.UsedAt,
			Synced: k.Record.Flags.BackupState, Warning: k.Record.Authenticator.CloneWarning})
	}
	return s.page(c, "passkeys", "Passkeys", nil, settingview.Passkeys(p), "js/passkey.js")
}

func (s *Service) passkeysWithoutScript(*web.Ctx) error {
	return fault.New(fault.Conflict, "Passkeys need JavaScript. Turn it on for this site and try again.")
}

func (s *Service) passkeyRename(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	var in struct {
		Name string `form:"name"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.Auth.RenamePasskey(c.Context(), c.Viewer.ID(), id, in.Name); err != nil {
		return err
	}
	return c.Redirect(link.Settings("passkeys"))
}

func (s *Service) passkeyRemove(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.sudo(c, "passkeys"); err != nil {
		return err
	}
	if err := s.Auth.RemovePasskey(c.Context(), c.Viewer.ID(), id); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("passkeys"), "The passkey is removed. You may delete it from your device, too.")
}

func (s *Service) newCodes(c *web.Ctx) error {
	if err := s.sudo(c, "passkeys"); err != nil {
		return err
	}
	if err := s.Auth.NewRecoveryCodes(c.Context(), c.Viewer.ID()); err != nil {
		return err
	}
	return c.Redirect("/signup/recovery-codes")
}

func (s *Service) sessions(c *web.Ctx) error {
	list, err := s.Auth.Sessions(c.Context(), c.Viewer.ID())
	if err != nil {
		return err
	}
	var p settingview.SessionsProps
	for i := range list {
		ses := &list[i]
		p.Sessions = append(p.Sessions, settingview.Session{ID: ses.ID(), Device: auth.DeviceName(ses.Agent), Agent: ses.Agent, Remote: ses.Remote,
			Way: wayWords(ses.Way), Current: bytes.Equal(ses.Hash, c.Viewer.SessionHash), Created: ses.CreatedAt, Seen: ses.SeenAt})
	}
	return s.page(c, "sessions", "Sessions", nil, settingview.Sessions(p))
}

// wayWords says how a session began.
func wayWords(way string) string {
	switch way {
	case auth.ByRecovery:
		return "with a recovery code"
	case auth.ByLink:
		return "with an operator’s link"
	case auth.BySignUp:
		return "by signing up"
	}
	return "with a passkey"
}

func (s *Service) sessionEnd(c *web.Ctx) error {
	var in struct {
		Session string `form:"session"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.Auth.EndSessionID(c.Context(), c.Viewer.ID(), in.Session); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("sessions"), "That session is ended.")
}

func (s *Service) sessionsEnd(c *web.Ctx) error {
	if _, err := s.Auth.EndOtherSessions(c.Context(), c.Viewer.ID(), c.Viewer.SessionHash); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("sessions"), "All other sessions are ended.")
}
