package auth

import (
	"errors"
	"net/http"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/views/authview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// needSudo is the fault for a script of a session that was not confirmed
// lately.
func (s *Service) needSudo(c *web.Ctx) error {
	if c.Viewer.Sudo {
		return nil
	}
	return fault.New(fault.Forbidden, "Confirm first that it is you: open “Confirm access” and come back.")
}

// RequireSudo lets only sessions go on in which the person proved lately who
// they are; others are sent to prove it and come back to the page. The error
// is web.ErrAnswered then.
func (s *Service) RequireSudo(c *web.Ctx, back string) error {
	if c.Viewer.Sudo {
		return nil
	}
	if err := c.Redirect(link.Q("next", back).On("/sudo")); err != nil {
		return err
	}
	return web.ErrAnswered
}

func (s *Service) sudoPage(c *web.Ctx) error {
	next := safeNext(c.Query("next"))
	if c.Viewer.Sudo {
		return c.Redirect(next)
	}
	return s.page(c, http.StatusOK, "Confirm access", authview.Sudo(authview.SudoProps{Name: c.Viewer.Name(), Next: next, ByCode: c.Query("by") == "code"}))
}

// sudoCode confirms with a recovery code, for those who lost their keys while
// signed in.
func (s *Service) sudoCode(c *web.Ctx) error {
	var in struct {
		Code string `form:"code"`
		Next string `form:"next"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.recoveries.take(c.Remote); err != nil {
		return err
	}
	next := safeNext(in.Next)
	_, _, err := s.recover(c.Context(), c.Viewer.Name(), in.Code)
	if f := fault.From(err); err != nil && f.Kind == fault.Invalid {
		return s.page(c, http.StatusUnprocessableEntity, "Confirm access", authview.Sudo(authview.SudoProps{
			Name: c.Viewer.Name(), Next: next, ByCode: true, Code: in.Code, Errors: ui.Errors(f.Fields)}))
	}
	if err != nil {
		return err
	}
	if err := s.Confirm(c.Context(), c.Viewer.ID(), c.Viewer.SessionHash); err != nil {
		return err
	}
	return c.Redirect(next)
}

const (
	restorePurpose = "restore account"
	kindRestore    = "restore"
)

func (s *Service) restorePage(c *web.Ctx) error {
	id, _, err := s.restoring(c)
	if err != nil {
		return err
	}
	account, err := accountdb.ByID(c.Context(), s.db.Directory(), id)
	if err != nil {
		return err
	}
	c.W.Header().Set("Referrer-Policy", "no-referrer")
	return s.page(c, http.StatusOK, "Restore account", authview.Restore(authview.RestoreProps{Name: account.Name,
		Deleted: *account.DeletedAt, Until: account.DeletedAt.Add(s.accounts.RestoreWindow(c.Context())), Path: c.R.URL.EscapedPath()}))
}

func (s *Service) restoring(c *web.Ctx) (id int64, challenge string, err error) {
	owner, h, err := s.tokens.ParseLink(restorePurpose, c.Param("token"), s.now())
	if err != nil {
		return 0, "", fault.New(fault.Gone, "This page has expired. Sign in again.")
	}
	_, err = accountdb.Challenge(c.Context(), s.db.Cell(), linkID(h), kindRestore, &id)
	if errors.Is(err, db.ErrNotFound) || err == nil && id != owner {
		return 0, "", fault.New(fault.Gone, "This page was used before. Sign in again.")
	}
	return owner, linkID(h), err
}

func (s *Service) restore(c *web.Ctx) error {
	id, challenge, err := s.restoring(c)
	if err != nil {
		return err
	}
	if _, err := accountdb.TakeChallenge(c.Context(), s.db.Cell(), challenge, kindRestore, &id); err != nil {
		return err
	}
	if err := s.accounts.Restore(c.Context(), id); err != nil {
		return err
	}
	s.Forget(c.Context(), id)
	if err := s.signIn(c, id, ByPasskey); err != nil {
		return err
	}
	return c.RedirectFlash(link.Home(), "Welcome back. Your account is as it was.")
}
