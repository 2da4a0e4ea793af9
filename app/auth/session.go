package auth

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

const (
	// idle is how long a session lasts without being used, longest how long
	// it lasts at all.
	idle    = 30 * 24 * time.Hour
	longest = 180 * 24 * time.Hour
	// SudoTime is how long after a proof of identity dangerous settings may
	// be changed.
	SudoTime = 20 * time.Minute
)

// Ways of signing in.
const (
	ByPasskey  = "passkey"
	ByRecovery = "recovery"
	ByLink     = "link"
	BySignUp   = "sign-up"
)

// Device is what is known of a browser that signs in.
type Device struct {
	Agent  string // its User-Agent
	Remote string // its address
	Way    string // ByPasskey, …
}

// SessionData is what a session's row holds besides its times.
type SessionData struct {
	Agent  string    `json:"agent"`
	Remote string    `json:"remote"`
	Way    string    `json:"way"`
	SudoAt time.Time `json:"sudo_at"`
}

// StartSession signs a browser in and returns the cookie's value, which is
// stored nowhere.
func (s *Service) StartSession(ctx context.Context, accountID int64, d Device) (string, error) {
	text, h := s.tokens.New(secret.Session, accountID)
	err := s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		if err := audit.Record(ctx, tx, audit.Entry{Action: "user.login", ActorID: accountID, AccountID: accountID,
			After: audit.Facts{"with": d.Way}}); err != nil {
			return err
		}
		return accountdb.InsertSession(ctx, tx, newSession(tx.Now(), h, d))
	})
	return text, s.wrap("start session", err)
}

func newSession(now time.Time, h hash, d Device) *model.Session {
	data := SessionData{Agent: clip(d.Agent, 300), Remote: clip(d.Remote, 60), Way: d.Way, SudoAt: now}
	b, _ := json.Marshal(data) // strings and a time cannot fail
	return &model.Session{Hash: h[:], Data: b, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(idle)}
}

// EndSession signs a browser out. One that was signed out before is no error.
func (s *Service) EndSession(ctx context.Context, accountID int64, hash []byte) error {
	err := s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		if err := accountdb.DeleteSession(ctx, tx, hash); err != nil {
			return err
		}
		return audit.Record(ctx, tx, audit.Entry{Action: "user.logout", ActorID: accountID, AccountID: accountID})
	})
	s.Forget(ctx, accountID)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return s.wrap("end session", err)
}

// EndOtherSessions signs all browsers out but the one whose session is kept,
// nil for none, and says how many.
func (s *Service) EndOtherSessions(ctx context.Context, accountID int64, keep []byte) (n int, err error) {
	err = s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		if n, err = accountdb.DeleteSessions(ctx, tx, keep); err != nil || n == 0 {
			return err
		}
		return audit.Record(ctx, tx, audit.Entry{Action: "user.end_sessions", ActorID: accountID, AccountID: accountID,
			After: audit.Facts{"ended": n}})
	})
	s.Forget(ctx, accountID)
	return n, s.wrap("end sessions", err)
}

// Confirm notes that the person behind a session has just proved who they
// are.
func (s *Service) Confirm(ctx context.Context, accountID int64, hash []byte) error {
	err := s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		row, err := accountdb.Session(ctx, tx.Account, hash)
		if err != nil {
			return err
		}
		var data SessionData
		if err := json.Unmarshal(row.Data, &data); err != nil {
			return err
		}
		data.SudoAt = tx.Now()
		if row.Data, err = json.Marshal(data); err != nil {
			return err
		}
		return accountdb.SaveSession(ctx, tx, row)
	})
	s.Forget(ctx, accountID)
	return s.wrap("confirm session", err)
}

// bySession is who a cookie acts for; nil when the session has ended or the
// account may not sign in.
func (s *Service) bySession(ctx context.Context, text string) (*model.Viewer, error) {
	ses, err := s.session(ctx, text)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	u, err := s.user(ctx, ses.account)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case u.Account.DeletedAt != nil || u.Account.SuspendedAt != nil:
		return nil, nil
	}
	now := s.now()
	s.touched.session(ses, now)
	return &model.Viewer{Account: u.Account, User: u, SessionHash: ses.hash[:], Sudo: now.Sub(ses.data.SudoAt) < SudoTime, Weak: weak(ses.data.Way)}, nil
}

// clip cuts s to at most n bytes of valid text.
func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if r >= ' ' && r != 0x7f && r != '\ufffd' {
			out = append(out, r)
		}
	}
	return string(out)
}

// Expire forgets an account's sessions and credentials whose time is over and
// returns when the next one ends.
func (s *Service) Expire(ctx context.Context, accountID int64, _ time.Time) (next time.Time, err error) {
	err = s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		next, err = accountdb.Expire(ctx, tx)
		return err
	})
	return next, s.wrap("expire sessions", err)
}

// weak says that a way of signing in proves less than a passkey.
func weak(way string) bool {
	switch way {
	case ByPasskey, BySignUp, ByLink, "":
		return false
	}
	return true
}
