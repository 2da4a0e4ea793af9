package oauth

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/oauthdb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/oauthview"
)

// Routes mounts the pages and what machines call.
func (s *Service) Routes(r *web.Router, shell func(active string) layout.Shell) {
	in, any := s.Gate.SignedIn(), s.Gate.Anyone()
	r.Get("/login/oauth/authorize", in, s.authorize)
	r.Post("/login/oauth/authorize", in, s.agree)
	r.Get("/login/device", in, s.devicePage)
	r.Post("/login/device", in, s.deviceAsk)
	r.Post("/login/device/confirm", in, s.deviceAgree)
	raw := r.Raw()
	raw.Post("/login/oauth/access_token", any, s.token)
	raw.Post("/login/device/code", any, s.deviceCode)
	raw.Post("/login/oauth/revoke", any, s.revokeToken)
	raw.Get("/.well-known/oauth-authorization-server", any, s.metadata)
	p := pages{s, shell}
	r.Get("/settings/applications", in, p.grants)
	r.Post("/settings/applications/revoke", in, p.revoke)
	r.Get("/settings/developers", in, p.apps)
	r.Get("/settings/developers/new", in, p.form)
	r.Post("/settings/developers", in, p.create)
	r.Get("/settings/developers/{id}", in, p.app)
	r.Post("/settings/developers/{id}", in, p.save)
	r.Post("/settings/developers/{id}/secrets", in, p.secret)
	r.Post("/settings/developers/{id}/secrets/{secret}/remove", in, p.secretRemove)
	r.Post("/settings/developers/{id}/delete", in, p.destroy)
}

// asked is a request for authorization (RFC 6749, 4.1.1).
type asked struct {
	app       *App
	redirect  string // where to send the person back to
	given     string // redirect_uri as it was sent
	state     string
	scopes    []string
	challenge string
	prompt    string
}

// read checks a request for authorization. What is wrong with the app or the
// address is shown here; all else the app is told.
func (s *Service) read(c *web.Ctx, get func(string) string) (*asked, error) {
	app, err := s.Find(c.Context(), get("client_id"))
	if errors.Is(err, db.ErrNotFound) {
		return nil, fault.New(fault.BadRequest, "The app that sent you here is not known. It may have been deleted.")
	}
	if err != nil {
		return nil, err
	}
	a := &asked{app: app, given: get("redirect_uri"), state: get("state"), scopes: scopesOf(get("scope")),
		challenge: get("code_challenge"), prompt: get("prompt")}
	var ok bool
	if a.redirect, ok = app.callback(a.given); !ok {
		return nil, fault.New(fault.BadRequest, "The app “"+app.Name+"” wants to send you to an address that it did not register, so you are not sent there.")
	}
	var bad *flowError
	switch kind := get("response_type"); {
	case kind != "" && kind != "code":
		bad = &flowError{"unsupported_response_type", "Only code is supported."}
	case a.challenge != "" && get("code_challenge_method") != "S256":
		bad = &flowError{"invalid_request", "Only the code_challenge_method S256 is supported."}
	case a.challenge != "" && len(a.challenge) != 43:
		bad = &flowError{"invalid_request", "The code_challenge is not a SHA-256 in URL-safe base 64."}
	case a.challenge == "" && !app.confidential():
		bad = &flowError{"invalid_request", "An app without a secret needs PKCE: send a code_challenge."}
	}
	if bad != nil {
		return nil, s.back(c, a, url.Values{"error": {bad.Code}, "error_description": {bad.About}})
	}
	return a, nil
}

// back sends the person back to the app; it returns web.ErrAnswered.
func (s *Service) back(c *web.Ctx, a *asked, q url.Values) error {
	u, err := url.Parse(a.redirect)
	if err != nil {
		return err
	}
	have := u.Query()
	for k, v := range q {
		have[k] = v
	}
	if a.state != "" {
		have.Set("state", a.state)
	}
	have.Set("iss", c.Kit().Config().URL) // RFC 9207
	u.RawQuery = have.Encode()
	c.W.Header().Set("Cache-Control", "no-store")
	c.W.Header().Set("Referrer-Policy", "no-referrer")
	if err := c.Redirect(u.String()); err != nil {
		return err
	}
	return web.ErrAnswered
}

func (s *Service) authorize(c *web.Ctx) error {
	a, err := s.read(c, c.Query)
	if err != nil {
		return err
	}
	grant, err := oauthdb.Grant(c.Context(), s.DB.Account(c.Viewer.ID()), a.app.ClientID)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	// Whoever agreed before is not asked again, by an app that can prove that
	// it is the one that was agreed to.
	if err == nil && a.prompt != "consent" && a.app.confidential() && covered(a.scopes, grant.Scopes) {
		return s.give(c, a)
	}
	// Forms may otherwise lead nowhere but to this site.
	h := c.W.Header()
	h.Set("Content-Security-Policy", strings.Replace(h.Get("Content-Security-Policy"), "form-action 'self'", "form-action 'self' "+source(a.redirect), 1))
	p := oauthview.ConsentProps{Action: "/login/oauth/authorize", To: place(a.redirect), Hidden: map[string]string{
		"client_id": a.app.ClientID, "redirect_uri": a.given, "state": a.state, "scope": strings.Join(a.scopes, " "),
		"code_challenge": a.challenge, "code_challenge_method": map[bool]string{true: "S256"}[a.challenge != ""]}}
	return s.consent(c, a.app, a.scopes, p)
}

// source is an address as a source of a content security policy.
func source(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.ContainsAny(u.Host, " ;,'\"") {
		if err == nil && u.Scheme != "" {
			return u.Scheme + ":"
		}
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func place(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Host
}

// covered says that all that is asked was granted, by itself or within a
// wider scope.
func covered(asked, granted []string) bool {
	all := auth.Expand(granted)
	return !slices.ContainsFunc(asked, func(scope string) bool { return !slices.Contains(all, scope) })
}

// consent shows what an app wants, what that reaches, and two buttons.
func (s *Service) consent(c *web.Ctx, app *App, scopes []string, p oauthview.ConsentProps) error {
	p.App, p.Account = app.OAuthApp, c.Viewer.Account
	for _, scope := range auth.Scopes() {
		if slices.Contains(scopes, scope.Name) {
			p.Scopes = append(p.Scopes, oauthview.Scope{Name: scope.Name, About: scope.About})
		}
	}
	if app.OwnerID != 0 {
		found, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), app.OwnerID)
		if err != nil {
			return err
		}
		p.Owner = found[app.OwnerID]
	}
	if slices.Contains(scopes, "repo") || slices.Contains(scopes, "public_repo") {
		reach, err := repodb.ReachOf(c.Context(), s.DB.Directory(), c.Viewer.ID())
		if err != nil {
			return err
		}
		p.Write, p.Owners = reach.Write, reach.Owners
		if slices.Contains(scopes, "repo") {
			p.Private = reach.Private
		}
		p.Repos = true
	}
	return s.page(c, "Let "+app.Name+" act for you", oauthview.Consent(p))
}

func (s *Service) page(c *web.Ctx, title string, body templ.Component) error {
	c.W.Header().Set("Cache-Control", "no-store")
	return c.Render(web.Page{Title: title, Shell: layout.Auth, Body: body, Props: layout.Props{NoIndex: true}})
}

func (s *Service) give(c *web.Ctx, a *asked) error {
	text, err := s.newCode(c.Context(), code{Client: a.app.ClientID, Account: c.Viewer.ID(), Scopes: a.scopes, Redirect: a.redirect,
		Given: a.given != "", Challenge: a.challenge})
	if err != nil {
		return err
	}
	return s.back(c, a, url.Values{"code": {text}})
}

func (s *Service) agree(c *web.Ctx) error {
	a, err := s.read(c, c.R.PostFormValue)
	if err != nil {
		return err
	}
	if c.R.PostFormValue("decision") != "yes" {
		return s.back(c, a, url.Values{"error": {"access_denied"}, "error_description": {"The person refused."}})
	}
	return s.give(c, a)
}

func (s *Service) devicePage(c *web.Ctx) error {
	return s.page(c, "Connect a device", oauthview.Device(oauthview.DeviceProps{Code: normal(c.Query("user_code")), Done: c.Query("done")}))
}

// deviceAsk shows what the device that a person's code came from wants.
func (s *Service) deviceAsk(c *web.Ctx) error {
	if err := s.tries.Take(c.Remote); err != nil {
		return err
	}
	typed := c.R.PostFormValue("user_code")
	d, _, _, err := s.byUser(c.Context(), typed)
	if errors.Is(err, db.ErrNotFound) {
		c.W.Header().Set("Cache-Control", "no-store")
		return c.Render(web.Page{Status: http.StatusUnprocessableEntity, Title: "Connect a device", Shell: layout.Auth,
			Body: oauthview.Device(oauthview.DeviceProps{Code: typed, Error: "This code is wrong, was used or has expired. Look at the device again."})})
	}
	if err != nil {
		return err
	}
	app, err := s.Find(c.Context(), d.Client)
	if err != nil {
		return err
	}
	return s.consent(c, app, d.Scopes, oauthview.ConsentProps{Action: "/login/device/confirm", Device: true, From: d.From, Asked: d.Asked,
		Hidden: map[string]string{"user_code": d.User}})
}

func (s *Service) deviceAgree(c *web.Ctx) error {
	if err := s.tries.Take(c.Remote); err != nil {
		return err
	}
	agreed := c.R.PostFormValue("decision") == "yes"
	if _, err := s.decide(c.Context(), c.R.PostFormValue("user_code"), c.Viewer.ID(), agreed); errors.Is(err, db.ErrNotFound) {
		return fault.New(fault.Gone, "This code was used or has expired. Begin again on the device.")
	} else if err != nil {
		return err
	}
	return c.Redirect("/login/device?done=" + map[bool]string{true: "yes", false: "no"}[agreed])
}
