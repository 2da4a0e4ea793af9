package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
)

// flowError is an error that an app is told, by its code (RFC 6749, 5.2; RFC
// 8628, 3.5).
type flowError struct{ Code, About string }

func (e *flowError) Error() string { return e.Code + ": " + e.About }

func errGrant(about string) error { return &flowError{"invalid_grant", about} }

// scopesOf reads a list divided by spaces or commas; what does not exist here
// is left out, as GitHub does, since programs ask for what their server knows.
func scopesOf(text string) []string {
	out := []string{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		if found, err := auth.ParseScopes(word); err == nil && len(out) < 50 {
			out = append(out, found...)
		}
	}
	return auth.Top(out)
}

const (
	kindCode   = "oauth-code"
	kindUsed   = "oauth-code-used"
	kindDevice = "oauth-device"
	kindUser   = "oauth-user-code"
)

// code is what an authorization code stands for.
type code struct {
	Client    string   `json:"client"`
	Account   int64    `json:"account"`
	Scopes    []string `json:"scopes"`
	Redirect  string   `json:"redirect"`
	Given     bool     `json:"given"` // the app named the address itself
	Challenge string   `json:"challenge"`
}

// family names the tokens that a code gave.
type family struct {
	Account int64 `json:"account"`
	Family  int64 `json:"family"`
}

// newCode makes the code that the app exchanges for tokens.
func (s *Service) newCode(ctx context.Context, c code) (string, error) {
	text := random(30)
	return text, accountdb.PutChallenge(ctx, s.DB.Cell(), hashed("code", text), kindCode, c, s.now().Add(codeTime))
}

// exchange gives the tokens for a code, once. A code that comes twice was
// stolen: then what it gave ends (RFC 6749, 4.1.2).
func (s *Service) exchange(ctx context.Context, app *App, text, redirect, verifier string, proved bool) (*Answer, error) {
	var c code
	id := hashed("code", text)
	expires, err := accountdb.TakeChallenge(ctx, s.DB.Cell(), id, kindCode, &c)
	if errors.Is(err, db.ErrNotFound) {
		return nil, s.codeAgain(ctx, app, text)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case c.Client != app.ClientID:
		return nil, errGrant("The code belongs to another app.")
	case !s.now().Before(expires):
		return nil, errGrant("The code has expired.")
	case c.Given && redirect != c.Redirect, !c.Given && redirect != "" && redirect != c.Redirect:
		return nil, errGrant("The redirect_uri is not the one that the code was asked with.")
	case c.Challenge == "" && !proved:
		return nil, errGrant("The code was asked without PKCE, and the app did not prove itself with its secret.")
	case c.Challenge != "" && !matches(c.Challenge, verifier):
		return nil, errGrant("The code_verifier is wrong.")
	}
	if _, err := s.Auth.Active(ctx, c.Account); err != nil {
		return nil, errGrant("The account is gone.")
	}
	out, fam, err := s.start(ctx, c.Account, app, c.Scopes)
	if err != nil {
		return nil, err
	}
	return out, accountdb.PutChallenge(ctx, s.DB.Cell(), hashed("used", text), kindUsed, family{c.Account, fam}, s.now().Add(2*codeTime))
}

func (s *Service) codeAgain(ctx context.Context, app *App, text string) error {
	var f family
	_, err := accountdb.TakeChallenge(ctx, s.DB.Cell(), hashed("used", text), kindUsed, &f)
	if errors.Is(err, db.ErrNotFound) {
		return &flowError{"bad_verification_code", "The code passed is incorrect or expired."}
	}
	if err == nil {
		err = s.DB.InAccount(ctx, f.Account, func(ctx context.Context, tx *db.AccountTx) error {
			return s.endFamily(ctx, tx, f.Account, app, f.Family)
		})
		s.Auth.Forget(ctx, f.Account)
	}
	if err != nil {
		return err
	}
	return &flowError{"bad_verification_code", "The code was used before. The tokens that it gave are revoked."}
}

// matches checks a PKCE verifier (RFC 7636, 4.6).
func matches(challenge, verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return len(verifier) >= 43 && len(verifier) <= 128 &&
		secret.EqualText(base64.RawURLEncoding.EncodeToString(sum[:]), challenge)
}

// device is what a device code stands for.
type device struct {
	Client string   `json:"client"`
	Scopes []string `json:"scopes"`
	User   string   `json:"user_code"`
	// Account agreed when it is not 0; Denied says that somebody refused.
	Account int64     `json:"account"`
	Denied  bool      `json:"denied"`
	Asked   time.Time `json:"asked"`
	From    string    `json:"from"`
}

// letters of user codes: no vowels, so no words, and nothing that looks like
// something else (RFC 8628, 6.1).
const letters = "BCDFGHJKLMNPQRSTVWXZ"

func userCode() string {
	b := make([]byte, 0, 9)
	var r [1]byte
	for len(b) < 9 {
		if len(b) == 4 {
			b = append(b, '-')
		}
		_, _ = rand.Read(r[:]) // never fails, by its documentation
		if int(r[0]) < 256/len(letters)*len(letters) {
			b = append(b, letters[int(r[0])%len(letters)])
		}
	}
	return string(b)
}

// normal is a typed user code as it was made.
func normal(typed string) string {
	var b strings.Builder
	for _, r := range strings.ToUpper(typed) {
		if strings.ContainsRune(letters, r) {
			b.WriteRune(r)
		}
	}
	if s := b.String(); len(s) == 8 {
		return s[:4] + "-" + s[4:]
	}
	return ""
}

// newDevice makes a device code and the code that a person types.
func (s *Service) newDevice(ctx context.Context, app *App, scopes []string, from string) (deviceCode, user string, err error) {
	deviceCode, user = random(30), userCode()
	d := device{Client: app.ClientID, Scopes: scopes, User: user, Asked: s.now(), From: from}
	expires, id := s.now().Add(deviceTime), hashed("device", deviceCode)
	if err := accountdb.PutChallenge(ctx, s.DB.Cell(), id, kindDevice, d, expires); err != nil {
		return "", "", err
	}
	return deviceCode, user, accountdb.PutChallenge(ctx, s.DB.Cell(), hashed("user", user), kindUser, id, expires)
}

// byUser returns what a typed code stands for, and the id of its row;
// db.ErrNotFound when it is wrong, used or expired.
func (s *Service) byUser(ctx context.Context, typed string) (*device, string, time.Time, error) {
	var id string
	expires, err := accountdb.Challenge(ctx, s.DB.Cell(), hashed("user", normal(typed)), kindUser, &id)
	if err == nil && !s.now().Before(expires) {
		err = db.ErrNotFound
	}
	if err != nil {
		return nil, "", expires, err
	}
	var d device
	expires, err = accountdb.Challenge(ctx, s.DB.Cell(), id, kindDevice, &d)
	return &d, id, expires, err
}

// decide notes what the person said to the code; it is good once.
func (s *Service) decide(ctx context.Context, typed string, account int64, agreed bool) (*device, error) {
	d, id, expires, err := s.byUser(ctx, typed)
	if err != nil {
		return nil, err
	}
	var taken string
	if _, err := accountdb.TakeChallenge(ctx, s.DB.Cell(), hashed("user", normal(typed)), kindUser, &taken); err != nil {
		return nil, err
	}
	if d.Denied = !agreed; agreed {
		d.Account = account
	}
	return d, accountdb.PutChallenge(ctx, s.DB.Cell(), id, kindDevice, d, expires)
}

// poll answers a device that asks whether the person has agreed.
func (s *Service) poll(ctx context.Context, app *App, deviceCode string) (*Answer, error) {
	id := hashed("device", deviceCode)
	var d device
	expires, err := accountdb.Challenge(ctx, s.DB.Cell(), id, kindDevice, &d)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return nil, &flowError{"expired_token", "The device code is wrong, used or expired."}
	case err != nil:
		return nil, err
	case d.Client != app.ClientID:
		return nil, &flowError{"incorrect_client_credentials", "The device code belongs to another app."}
	case !s.now().Before(expires):
		return nil, &flowError{"expired_token", "The device code has expired."}
	case d.Denied:
		return nil, &flowError{"access_denied", "The person refused."}
	case d.Account == 0 && s.early(id):
		return nil, &flowError{"slow_down", "Ask every five seconds at most."}
	case d.Account == 0:
		return nil, &flowError{"authorization_pending", "The person has not entered the code yet."}
	}
	if _, err := accountdb.TakeChallenge(ctx, s.DB.Cell(), id, kindDevice, &d); err != nil {
		return nil, &flowError{"expired_token", "The device code was used before."}
	}
	if _, err := s.Auth.Active(ctx, d.Account); err != nil {
		return nil, &flowError{"access_denied", "The account is gone."}
	}
	out, _, err := s.start(ctx, d.Account, app, d.Scopes)
	return out, err
}

// early says that the device asked less than pollEvery ago.
func (s *Service) early(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	last, again := s.polls[id]
	if len(s.polls) > 10_000 {
		clear(s.polls)
	}
	s.polls[id] = now
	// A little less, for the time that a request is under way.
	return again && now.Sub(last) < pollEvery-time.Second
}
