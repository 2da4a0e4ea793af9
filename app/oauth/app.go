package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/oauthdb"
)

// App is an app with the account that made it.
type App struct {
	*model.OAuthApp
	// OwnerID is 0 for the programs that every instance knows.
	OwnerID int64
}

// known are the programs that work with every instance without being made
// there: this project's own client, and GitHub's, by the id that it sends to
// every server. Both are public: they keep no secret.
func known() []*model.OAuthApp {
	local := []string{"http://127.0.0.1/callback", "http://127.0.0.1/"}
	return []*model.OAuthApp{
		{ClientID: "g1t", Name: "g1t", Description: "gitfor’s client for people and agents", Device: true, Callbacks: local},
		{ClientID: "178c6fc778ccc68e1d6a", Name: "GitHub CLI", Description: "The program gh", Homepage: "https://cli.github.com",
			Device: true, Callbacks: local},
	}
}

// Find returns the app of this client id; db.ErrNotFound when there is none.
func (s *Service) Find(ctx context.Context, clientID string) (*App, error) {
	for _, a := range known() {
		if a.ClientID == clientID {
			return &App{OAuthApp: a}, nil
		}
	}
	rest, ok := strings.CutPrefix(clientID, "app")
	owner, _, found := strings.Cut(rest, ".")
	id, err := strconv.ParseInt(owner, 36, 64)
	if !ok || !found || err != nil || id <= 0 || len(clientID) > 100 {
		return nil, db.ErrNotFound
	}
	a, err := oauthdb.App(ctx, s.DB.Account(id), clientID)
	if err != nil {
		return nil, err
	}
	return &App{a, id}, nil
}

// confidential says that the app keeps a secret.
func (a *App) confidential() bool { return len(a.Secrets) > 0 }

// proves says that secret is one of the app's.
func (a *App) proves(secret string) bool {
	sum := sha256.Sum256([]byte(secret))
	ok := 0
	for _, s := range a.Secrets {
		ok |= subtle.ConstantTimeCompare(s.Hash, sum[:])
	}
	return ok == 1
}

// callback is the address to send people back to: the given one when it is
// registered, the first registered one when none is given. A registered
// address of this machine matches with any port (RFC 8252, 7.3).
func (a *App) callback(given string) (string, bool) {
	if given == "" {
		if len(a.Callbacks) == 1 || a.OwnerID != 0 && len(a.Callbacks) > 0 {
			return a.Callbacks[0], true
		}
		return "", false
	}
	if slices.Contains(a.Callbacks, given) {
		return given, true
	}
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "http" || !loopback(u.Hostname()) || u.User != nil || u.Fragment != "" {
		return "", false
	}
	for _, c := range a.Callbacks {
		r, err := url.Parse(c)
		if err == nil && r.Scheme == "http" && loopback(r.Hostname()) && orRoot(r.Path) == orRoot(u.Path) && r.RawQuery == u.RawQuery {
			return given, true
		}
	}
	return "", false
}

func orRoot(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// AppInput describes an app.
type AppInput struct {
	Name        string `form:"name"`
	Description string `form:"description"`
	Homepage    string `form:"homepage"`
	Callbacks   string `form:"callbacks"` // one a line
	Device      bool   `form:"device"`
	Expires     bool   `form:"expires"`
}

func (in *AppInput) fill(a *model.OAuthApp) error {
	f := fault.Fields{}
	a.Name, a.Description, a.Homepage = strings.TrimSpace(in.Name), strings.TrimSpace(in.Description), strings.TrimSpace(in.Homepage)
	a.Device, a.Expires, a.Callbacks = in.Device, in.Expires, []string{}
	if n := utf8.RuneCountInString(a.Name); n == 0 || n > 60 || strings.ContainsFunc(a.Name, func(r rune) bool { return r < ' ' }) {
		f.Add("name", "A name has 1 to 60 characters on one line.")
	}
	if utf8.RuneCountInString(a.Description) > 300 {
		f.Add("description", "A description has at most 300 characters.")
	}
	if u, err := url.Parse(a.Homepage); a.Homepage != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		f.Add("homepage", "Write an address that begins with https://.")
	}
	for _, line := range strings.Fields(in.Callbacks) {
		if why := checkCallback(line); why != "" {
			f.Add("callbacks", why)
		}
		a.Callbacks = append(a.Callbacks, line)
	}
	switch {
	case len(a.Callbacks) > 20:
		f.Add("callbacks", "An app has at most 20 addresses.")
	case len(a.Callbacks) == 0 && !a.Device:
		f.Add("callbacks", "Give an address to send people back to, or let the app use device codes.")
	}
	return f.Err()
}

// checkCallback says why people cannot be sent back to an address, "" when
// they can (RFC 8252, 7; RFC 6749, 3.1.2).
func checkCallback(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme == "" || len(text) > 1000:
		return "“" + text + "” is not a full address."
	case u.Fragment != "" || u.User != nil:
		return "An address has no part after # and no user."
	case u.Scheme == "https" && u.Host != "", u.Scheme == "http" && loopback(u.Hostname()):
		return ""
	case strings.Contains(u.Scheme, "."): // such as com.example.app
		return ""
	}
	return "Use https://, http:// on this machine, or a scheme of your own that holds a dot."
}

// maxApps bounds the apps of an account.
const maxApps = 50

// CreateApp makes an app of the viewer's.
func (s *Service) CreateApp(ctx context.Context, viewer *model.Viewer, in AppInput) (*model.OAuthApp, error) {
	a := &model.OAuthApp{ClientID: "app" + strconv.FormatInt(viewer.ID(), 36) + "." + random(12), Secrets: []model.OAuthSecret{}}
	if err := in.fill(a); err != nil {
		return nil, err
	}
	have, err := oauthdb.Apps(ctx, s.DB.Account(viewer.ID()))
	if err != nil {
		return nil, err
	}
	if len(have) >= maxApps {
		return nil, fault.New(fault.Conflict, "An account may have at most 50 apps.")
	}
	return a, s.DB.InAccount(ctx, viewer.ID(), func(ctx context.Context, tx *db.AccountTx) error {
		if err := audit.Record(ctx, tx, audit.Entry{Action: "oauth_application.create", Actor: viewer, AccountID: viewer.ID(), Target: a.Name}); err != nil {
			return err
		}
		return oauthdb.InsertApp(ctx, tx, a)
	})
}

// EditApp changes an app of the viewer's.
func (s *Service) EditApp(ctx context.Context, viewer *model.Viewer, a *model.OAuthApp, in AppInput) error {
	if err := in.fill(a); err != nil {
		return err
	}
	return s.save(ctx, viewer, a, "oauth_application.update")
}

func (s *Service) save(ctx context.Context, viewer *model.Viewer, a *model.OAuthApp, action string) error {
	return s.DB.InAccount(ctx, viewer.ID(), func(ctx context.Context, tx *db.AccountTx) error {
		if err := audit.Record(ctx, tx, audit.Entry{Action: action, Actor: viewer, AccountID: viewer.ID(), Target: a.Name}); err != nil {
			return err
		}
		return oauthdb.SaveApp(ctx, tx, a)
	})
}

// NewSecret gives an app one more secret, two at most, and returns its text,
// which is stored nowhere.
func (s *Service) NewSecret(ctx context.Context, viewer *model.Viewer, a *model.OAuthApp) (string, error) {
	if len(a.Secrets) >= 2 {
		return "", fault.New(fault.Conflict, "An app has at most two secrets, to change from one to the other. Remove the old one first.")
	}
	text := random(30)
	sum := sha256.Sum256([]byte(text))
	id := int64(1)
	for _, old := range a.Secrets {
		id = max(id, old.ID+1)
	}
	a.Secrets = append(a.Secrets, model.OAuthSecret{ID: id, Hash: sum[:], End: text[len(text)-4:], CreatedAt: s.now()})
	return text, s.save(ctx, viewer, a, "oauth_application.generate_client_secret")
}

// RemoveSecret takes one of an app's secrets away.
func (s *Service) RemoveSecret(ctx context.Context, viewer *model.Viewer, a *model.OAuthApp, id int64) error {
	n := len(a.Secrets)
	a.Secrets = slices.DeleteFunc(a.Secrets, func(sec model.OAuthSecret) bool { return sec.ID == id })
	if len(a.Secrets) == n {
		return db.ErrNotFound
	}
	return s.save(ctx, viewer, a, "oauth_application.remove_client_secret")
}

// DeleteApp removes an app of the viewer's and ends every token that it has.
func (s *Service) DeleteApp(ctx context.Context, viewer *model.Viewer, a *model.OAuthApp) error {
	for {
		ids, err := oauthdb.Granters(ctx, s.DB.Directory(), a.ClientID, 100)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := s.Revoke(ctx, nil, id, a.ClientID); err != nil && !errors.Is(err, db.ErrNotFound) {
				return err
			}
		}
		if len(ids) == 0 {
			break
		}
	}
	return s.DB.InAccount(ctx, viewer.ID(), func(ctx context.Context, tx *db.AccountTx) error {
		if err := audit.Record(ctx, tx, audit.Entry{Action: "oauth_application.destroy", Actor: viewer, AccountID: viewer.ID(), Target: a.Name}); err != nil {
			return err
		}
		return oauthdb.DeleteApp(ctx, tx, a.ID)
	})
}
