package auth

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// attempt is the first half of a ceremony as the page's script gets it.
type attempt struct {
	ID      string `json:"id"`
	Options any    `json:"options"`
}

// answer is what the script sends in the second half.
type answer struct {
	ID         string          `json:"id"`
	Credential json.RawMessage `json:"credential"`
	Name       string          `json:"name"`
	Next       string          `json:"next"`
}

// done tells the script where to go.
type done struct {
	Next string `json:"next"`
}

// refusal tells the script what to show.
type refusal struct {
	Message string            `json:"message"`
	Fields  map[string]string `json:"fields,omitempty"`
	// Unknown is the relying party whose passkey the browser may forget.
	Unknown string `json:"unknown,omitempty"`
}

// script answers a page's script: with what h returns, or with what to tell
// the person.
func (s *Service) script(h func(c *web.Ctx) (any, error)) web.Handler {
	return func(c *web.Ctx) error {
		c.W.Header().Set("Cache-Control", "no-store")
		out, err := h(c)
		if err == nil {
			return c.JSON(http.StatusOK, out)
		}
		f := fault.From(err)
		if f.Kind == fault.Internal {
			return err
		}
		r := refusal{Message: f.Message, Fields: f.Fields}
		if f.Resource == unknownPasskey && s.wa != nil {
			r.Unknown = s.wa.Config.RPID
		}
		if f.Err != nil {
			s.log.InfoContext(c.Context(), "passkey refused", "id", c.RequestID, "path", c.R.URL.Path, "err", f.Err)
		}
		return c.JSON(f.Kind.Status(), r)
	}
}

func (s *Service) signupOptions(c *web.Ctx) (any, error) {
	if err := s.begins.take(c.Remote); err != nil {
		return nil, err
	}
	var in SignUpInput
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	id, options, err := s.beginSignUp(c.Context(), in)
	return attempt{id, options}, err
}

func (s *Service) signupPasskey(c *web.Ctx) (any, error) {
	in, err := read(c)
	if err != nil {
		return nil, err
	}
	user, err := s.finishSignUp(c.Context(), in.ID, DeviceName(c.R.UserAgent()), in.Credential)
	if err != nil {
		return nil, err
	}
	return done{recoveryCodesPath}, s.signIn(c, user.AccountID, BySignUp)
}

func (s *Service) loginOptions(c *web.Ctx) (any, error) {
	if err := s.begins.take(c.Remote); err != nil {
		return nil, err
	}
	// Looking up a name takes a little longer or shorter than not finding
	// it; answers leave at a fixed time after the question.
	defer s.atLeast(c, 40*time.Millisecond)()
	var in struct {
		Name string `json:"username"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	var allow [][]byte
	if name := strings.TrimSpace(in.Name); name != "" {
		var err error
		if allow, err = s.allowed(c.Context(), name); err != nil {
			return nil, err
		}
	}
	id, options, err := s.ask(c.Context(), forSignIn, allow, ceremony{})
	return attempt{id, options}, err
}

// atLeast returns a function that waits until d has gone by since now.
func (s *Service) atLeast(c *web.Ctx, d time.Duration) func() {
	t := time.NewTimer(d)
	return func() {
		defer t.Stop()
		select {
		case <-t.C:
		case <-c.Context().Done():
		}
	}
}

func (s *Service) loginPasskey(c *web.Ctx) (any, error) {
	in, err := read(c)
	if err != nil {
		return nil, err
	}
	cer, err := s.finish(c.Context(), forSignIn, in.ID)
	if err != nil {
		return nil, err
	}
	p, _, err := s.proved(c.Context(), cer, in.Credential)
	if err != nil {
		return nil, err
	}
	s.forget(p.id)
	if to, err := s.mayEnter(c, p); to != "" || err != nil {
		return done{to}, err
	}
	return done{safeNext(in.Next)}, s.signIn(c, p.id, ByPasskey)
}

// mayEnter says whether a person who proved who they are gets a session; an
// account that is being deleted is offered back instead.
func (s *Service) mayEnter(c *web.Ctx, p *person) (to string, err error) {
	u, err := s.user(c.Context(), p.id)
	if err != nil {
		return "", err
	}
	if at := u.Account.DeletedAt; at != nil {
		token, h := s.tokens.NewLink(restorePurpose, p.id, s.now().Add(15*time.Minute))
		err := accountdb.PutChallenge(c.Context(), s.db.Cell(), linkID(h), kindRestore, p.id, s.now().Add(15*time.Minute))
		return "/login/restore/" + token, err
	}
	_, err = s.active(c.Context(), p.id)
	return "", err
}

func (s *Service) addOptions(c *web.Ctx) (any, error) {
	if err := s.needSudo(c); err != nil {
		return nil, err
	}
	id, options, err := s.beginAdd(c.Context(), forAdd, c.Viewer.Account, ceremony{})
	return attempt{id, options}, err
}

func (s *Service) addPasskeyDone(c *web.Ctx) (any, error) {
	if err := s.needSudo(c); err != nil {
		return nil, err
	}
	in, err := read(c)
	if err != nil {
		return nil, err
	}
	cer, err := s.finish(c.Context(), forAdd, in.ID)
	if err != nil {
		return nil, err
	}
	if cer.Account != c.Viewer.ID() {
		return nil, fault.New(fault.Conflict, "You signed in as somebody else in between. Press the button again.")
	}
	return done{link.Settings("passkeys")}, s.finishAdd(c.Context(), cer, named(c, in.Name), in.Credential, nil)
}

func named(c *web.Ctx, name string) string {
	if name = clip(strings.TrimSpace(name), 100); name != "" {
		return name
	}
	return DeviceName(c.R.UserAgent())
}

func (s *Service) sudoOptions(c *web.Ctx) (any, error) {
	allow, err := s.allowed(c.Context(), c.Viewer.Name())
	if err != nil {
		return nil, err
	}
	id, options, err := s.ask(c.Context(), forSudo, allow, ceremony{Account: c.Viewer.ID()})
	return attempt{id, options}, err
}

func (s *Service) sudoPasskey(c *web.Ctx) (any, error) {
	in, err := read(c)
	if err != nil {
		return nil, err
	}
	cer, err := s.finish(c.Context(), forSudo, in.ID)
	if err != nil {
		return nil, err
	}
	p, _, err := s.proved(c.Context(), cer, in.Credential)
	if err != nil {
		return nil, err
	}
	if p.id != c.Viewer.ID() {
		return nil, fault.New(fault.Forbidden, "That passkey belongs to another account. Use one of "+c.Viewer.Name()+"’s.")
	}
	return done{safeNext(in.Next)}, s.Confirm(c.Context(), p.id, c.Viewer.SessionHash)
}

func (s *Service) linkOptions(c *web.Ctx) (any, error) {
	if err := s.begins.take(c.Remote); err != nil {
		return nil, err
	}
	account, challenge, err := s.link(c.Context(), c.Param("token"))
	if err != nil {
		return nil, err
	}
	id, options, err := s.beginAdd(c.Context(), forLink, account, ceremony{Link: challenge})
	return attempt{id, options}, err
}

func (s *Service) linkPasskey(c *web.Ctx) (any, error) {
	in, err := read(c)
	if err != nil {
		return nil, err
	}
	cer, err := s.finish(c.Context(), forLink, in.ID)
	if err != nil {
		return nil, err
	}
	account, challenge, err := s.link(c.Context(), c.Param("token"))
	if err != nil {
		return nil, err
	}
	if challenge != cer.Link || account.ID != cer.Account {
		return nil, fault.New(fault.Conflict, "This attempt began with another link. Press the button again.")
	}
	use := func() error { return s.useLink(c.Context(), challenge) }
	if err := s.finishAdd(c.Context(), cer, named(c, in.Name), in.Credential, use); err != nil {
		return nil, err
	}
	return s.enterByLink(c, account)
}

// enterByLink signs a person in who has just added a passkey, and gives them
// recovery codes where they have none.
func (s *Service) enterByLink(c *web.Ctx, account *model.Account) (any, error) {
	next := link.Settings("passkeys")
	left, err := s.RecoveryCodesLeft(c.Context(), account.ID)
	if err != nil {
		return nil, err
	}
	if left == 0 {
		if err := s.NewRecoveryCodes(c.Context(), account.ID); err != nil {
			return nil, err
		}
		next = recoveryCodesPath
	}
	return done{next}, s.signIn(c, account.ID, ByLink)
}

func read(c *web.Ctx) (answer, error) {
	var in answer
	if err := c.Decode(&in); err != nil {
		return in, err
	}
	if in.ID == "" || len(in.Credential) == 0 {
		return in, fault.New(fault.BadRequest, "The browser's answer is not complete. Reload the page and try again.")
	}
	return in, nil
}

// safeNext is where to go after signing in: an address of this site, or home.
func safeNext(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t\x00") || len(next) > 2000 {
		return link.Home()
	}
	if path, _, _ := strings.Cut(next, "?"); path == "/login" || path == "/logout" || path == "/signup" {
		return link.Home()
	}
	return next
}
