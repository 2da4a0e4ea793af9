package auth

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/authview"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// needsScript is what a browser without scripts is told.
const needsScript = "Passkeys need JavaScript. Turn it on for this site and reload the page."

// page shows a page of the narrow frame with the passkeys' script.
func (s *Service) page(c *web.Ctx, status int, title string, body templ.Component) error {
	return c.Render(web.Page{Status: status, Title: title, Shell: layout.Auth, Body: body,
		Props: layout.Props{NoIndex: true, Scripts: []string{"js/passkey.js"}}})
}

func (s *Service) signupPage(c *web.Ctx) error {
	if c.Viewer.SignedIn() {
		return c.Redirect(link.Home())
	}
	if err := s.maySignUp(c.Context()); err != nil {
		return err
	}
	return s.showSignup(c, http.StatusOK, SignUpInput{Name: c.Query("username"), Email: c.Query("email")}, nil)
}

func (s *Service) showSignup(c *web.Ctx, status int, in SignUpInput, errs fault.Fields) error {
	code, err := s.NeedsCode(c.Context())
	if err != nil {
		return err
	}
	return s.page(c, status, "Sign up", authview.Signup(authview.SignupProps{Username: in.Name, Email: in.Email, Code: code, Origin: s.origin, Errors: ui.Errors(errs)}))
}

// signupWithoutScript answers the form of a browser in which the script did
// not run: it says what is wrong, and keeps what was typed.
func (s *Service) signupWithoutScript(c *web.Ctx) error {
	var in SignUpInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	f := fault.From(s.CheckSignUp(c.Context(), in))
	errs := fault.Fields{"": needsScript}
	if f != nil {
		if f.Kind != fault.Invalid {
			return f
		}
		for k, v := range f.Fields {
			errs[k] = v
		}
	}
	return s.showSignup(c, http.StatusUnprocessableEntity, in, errs)
}

func (s *Service) loginPage(c *web.Ctx) error {
	next := safeNext(c.Query("next"))
	if c.Viewer.SignedIn() {
		return c.Redirect(next)
	}
	return s.page(c, http.StatusOK, "Sign in", authview.Login(authview.LoginProps{Username: c.Query("username"), Next: next, Origin: s.origin}))
}

func (s *Service) loginWithoutScript(c *web.Ctx) error {
	var in struct {
		Name string `form:"username"`
		Next string `form:"next"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	return s.page(c, http.StatusUnprocessableEntity, "Sign in", authview.Login(authview.LoginProps{
		Username: in.Name, Next: safeNext(in.Next), Errors: ui.Errors{"": needsScript}}))
}

func (s *Service) recoveryPage(c *web.Ctx) error {
	if c.Viewer.SignedIn() {
		return c.Redirect(link.Settings("passkeys"))
	}
	return s.page(c, http.StatusOK, "Recovery code", authview.Recovery(authview.RecoveryProps{Username: c.Query("username")}))
}

func (s *Service) recoveryUse(c *web.Ctx) error {
	var in struct {
		Name string `form:"username"`
		Code string `form:"code"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.recoveries.take(c.Remote); err != nil {
		return err
	}
	account, left, err := s.recover(c.Context(), strings.TrimSpace(in.Name), in.Code)
	if f := fault.From(err); err != nil && f.Kind == fault.Invalid {
		return s.page(c, http.StatusUnprocessableEntity, "Recovery code", authview.Recovery(authview.RecoveryProps{
			Username: in.Name, Code: in.Code, Errors: ui.Errors(f.Fields)}))
	}
	if err != nil {
		return err
	}
	if err := s.signIn(c, account.ID, ByRecovery); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("passkeys"), "You are signed in. That code is used up; "+
		ui.Plural(left, "code")+" left. Add a new passkey now.")
}

func (s *Service) codesPage(c *web.Ctx) error {
	codes, err := s.ShownCodes(c.Context(), c.Viewer.ID())
	if err != nil {
		return err
	}
	if len(codes) == 0 {
		return c.Redirect(link.Settings("passkeys"))
	}
	c.W.Header().Set("Cache-Control", "no-store")
	return s.page(c, http.StatusOK, "Recovery codes", authview.Codes(authview.CodesProps{Name: c.Viewer.Name(), Site: s.publicURL, Codes: codes}))
}

func (s *Service) codesKept(c *web.Ctx) error {
	if err := s.HideCodes(c.Context(), c.Viewer.ID()); err != nil {
		return err
	}
	return c.Redirect(link.Home())
}

func (s *Service) logoutPage(c *web.Ctx) error {
	if !c.Viewer.SignedIn() {
		return c.Redirect(link.Home())
	}
	return s.page(c, http.StatusOK, "Sign out", authview.Logout(c.Viewer.Name()))
}

func (s *Service) logout(c *web.Ctx) error {
	if err := s.signOut(c); err != nil {
		return err
	}
	return c.Redirect(link.Home())
}

func (s *Service) linkPage(c *web.Ctx) error {
	account, _, err := s.link(c.Context(), c.Param("token"))
	if err != nil {
		return err
	}
	c.W.Header().Set("Referrer-Policy", "no-referrer")
	return s.page(c, http.StatusOK, "Add a passkey", authview.Link(authview.LinkProps{Name: account.Name, Path: "/passkey-link/" + c.Param("token"), Origin: s.origin}))
}
