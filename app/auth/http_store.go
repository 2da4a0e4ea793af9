package auth

import (
	"errors"
	"net/http"
	"time"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gorilla/sessions"
)

// Keys of a gorilla session's values.
const (
	valueAccount = "account" // int64
	valueHash    = "hash"    // []byte
	valueDevice  = "device"  // Device, of a session to be started
)

// store is a sessions.Store over the accounts' scopes: the cookie holds a
// token, everything else is in the row that its hash finds.
type store struct{ s *Service }

// Get returns the request's session, the same one each time.
func (st *store) Get(r *http.Request, name string) (*sessions.Session, error) {
	return sessions.GetRegistry(r).Get(st, name)
}

// New reads the session of the request's cookie; a new one when there is none
// or it has ended.
func (st *store) New(r *http.Request, name string) (*sessions.Session, error) {
	ses := sessions.NewSession(st, name)
	ses.Options = st.options(longest)
	ses.IsNew = true
	cookie, err := r.Cookie(st.s.kit.CookieName(name))
	if err != nil {
		return ses, nil
	}
	viewer, err := st.s.bySession(r.Context(), cookie.Value)
	if err != nil || viewer == nil {
		return ses, err
	}
	ses.ID, ses.IsNew = cookie.Value, false
	ses.Values[valueAccount], ses.Values[valueHash] = viewer.ID(), viewer.SessionHash
	ses.Values[viewerValue] = viewer
	return ses, nil
}

// viewerValue holds who the session acts for.
const viewerValue = "viewer"

// Save starts a session that has an account and a device, or ends one whose
// MaxAge is negative.
func (st *store) Save(r *http.Request, w http.ResponseWriter, ses *sessions.Session) error {
	account, _ := ses.Values[valueAccount].(int64)
	switch device, starts := ses.Values[valueDevice].(Device); {
	case ses.Options.MaxAge < 0:
		if hash, ok := ses.Values[valueHash].([]byte); ok {
			if err := st.s.EndSession(r.Context(), account, hash); err != nil {
				return err
			}
		}
		ses.ID = ""
	case starts:
		text, err := st.s.StartSession(r.Context(), account, device)
		if err != nil {
			return err
		}
		ses.ID, ses.IsNew = text, false
		delete(ses.Values, valueDevice)
	default:
		return errors.New("a session needs an account and a device")
	}
	http.SetCookie(w, sessions.NewCookie(st.s.kit.CookieName(ses.Name()), ses.ID, ses.Options))
	return nil
}

func (st *store) options(age time.Duration) *sessions.Options {
	return &sessions.Options{Path: "/", MaxAge: int(age.Seconds()), HttpOnly: true, Secure: st.s.kit.Secure(),
		SameSite: http.SameSiteLaxMode}
}

// sessionName is the cookie's name, before the kit's prefix.
const sessionName = "session"

// signIn starts a session for the browser behind c. One that it had ends, so
// that no session outlives a change of who it is for.
func (s *Service) signIn(c *web.Ctx, accountID int64, way string) error {
	if old, err := s.store.Get(c.R, sessionName); err == nil && !old.IsNew {
		if hash, ok := old.Values[valueHash].([]byte); ok {
			if err := s.EndSession(c.Context(), c.Viewer.ID(), hash); err != nil {
				return err
			}
		}
	}
	ses := sessions.NewSession(s.store, sessionName)
	ses.Options = (&store{s}).options(longest)
	ses.Values[valueAccount] = accountID
	ses.Values[valueDevice] = Device{Agent: c.R.UserAgent(), Remote: c.Remote, Way: way}
	return s.store.Save(c.R, c.W, ses)
}

// signOut ends the session of the browser behind c.
func (s *Service) signOut(c *web.Ctx) error {
	ses, err := s.store.Get(c.R, sessionName)
	if err != nil {
		return err
	}
	ses.Options.MaxAge = -1
	return s.store.Save(c.R, c.W, ses)
}

// viewerOf is who the request's cookie acts for, nil for nobody.
func (s *Service) viewerOf(r *http.Request) (*model.Viewer, error) {
	if _, err := r.Cookie(s.kit.CookieName(sessionName)); err != nil {
		return nil, nil
	}
	ses, err := s.store.Get(r, sessionName)
	if err != nil {
		return nil, err
	}
	viewer, _ := ses.Values[viewerValue].(*model.Viewer)
	return viewer, nil
}
