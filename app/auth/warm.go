package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// hash is the SHA-256 of a session's or token's text.
type hash = [32]byte

// session is a browser that is signed in, as it is kept in memory.
type session struct {
	account           int64
	hash              hash
	seen, ends, began time.Time
	data              SessionData
}

// token is a personal access token, as it is kept in memory.
type token struct {
	account int64
	id      int64
	used    *time.Time
	ends    *time.Time
	data    TokenData
	scopes  []string // expanded
}

// user returns a person with the account; copies, so that nobody changes what
// is kept.
func (s *Service) user(ctx context.Context, id int64) (*model.User, error) {
	u, err := s.users.get(id, func() (*model.User, error) {
		return accountdb.User(ctx, s.db.Directory(), id)
	})
	if err != nil {
		return nil, err
	}
	user, account := *u, *u.Account
	user.Account = &account
	return &user, nil
}

// session finds the session of a cookie; db.ErrNotFound when it has ended.
func (s *Service) session(ctx context.Context, text string) (*session, error) {
	kind, account, h, err := s.tokens.Parse(text)
	if err != nil || kind != secret.Session {
		return nil, db.ErrNotFound
	}
	ses, err := s.sessions.get(h, func() (*session, error) {
		row, err := accountdb.Session(ctx, s.db.Account(account), h[:])
		if err != nil {
			return nil, err
		}
		ses := &session{account: account, hash: h, seen: row.SeenAt, ends: row.ExpiresAt, began: row.CreatedAt}
		return ses, json.Unmarshal(row.Data, &ses.data)
	})
	if err == nil && !s.now().Before(ses.ends) {
		return nil, db.ErrNotFound
	}
	return ses, err
}

// token finds a personal access token or an app's; db.ErrNotFound when it was revoked or
// has expired.
func (s *Service) token(ctx context.Context, credential string, account int64, h hash) (*token, error) {
	t, err := s.pats.get(h, func() (*token, error) {
		row, err := accountdb.Credential(ctx, s.db.Account(account), credential, h[:])
		if err != nil {
			return nil, err
		}
		t := &token{account: account, id: row.ID, used: row.UsedAt, ends: row.ExpiresAt}
		if err := json.Unmarshal(row.Data, &t.data); err != nil {
			return nil, err
		}
		t.scopes = expand(t.data.Scopes)
		return t, nil
	})
	if err == nil && t.ends != nil && !s.now().Before(*t.ends) {
		return nil, db.ErrNotFound
	}
	return t, err
}

// BadCredentials is the fault for a token that is wrong, whatever is wrong
// with it.
func BadCredentials() error { return fault.New(fault.Unauthorized, "Bad credentials") }

// ByToken is who a token acts for. fault.Unauthorized when it is wrong,
// expired or revoked, fault.Forbidden when the account is suspended.
func (s *Service) ByToken(ctx context.Context, text string) (*model.Viewer, error) {
	kind, owner, h, err := s.tokens.Parse(text)
	if err != nil {
		return nil, BadCredentials()
	}
	if resolve := s.kinds[kind]; resolve != nil {
		return resolve(ctx, owner, h)
	}
	credential := map[secret.Kind]string{secret.Personal: model.CredentialToken, secret.OAuthAccess: model.CredentialOAuth}[kind]
	if credential == "" {
		return nil, BadCredentials()
	}
	t, err := s.token(ctx, credential, owner, h)
	if errors.Is(err, db.ErrNotFound) {
		return nil, BadCredentials()
	}
	if err != nil {
		return nil, err
	}
	u, err := s.active(ctx, owner)
	if err != nil {
		return nil, err
	}
	s.touched.token(t, s.now())
	return &model.Viewer{Account: u.Account, User: u, Token: true, TokenID: t.id, All: t.data.All,
		Scopes: t.scopes, Repos: slices.Clone(t.data.Repos)}, nil
}

// active is the person, unless the account is suspended or deleted.
func (s *Service) active(ctx context.Context, id int64) (*model.User, error) {
	u, err := s.user(ctx, id)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return nil, BadCredentials()
	case err != nil:
		return nil, err
	case u.Account.DeletedAt != nil:
		return nil, BadCredentials()
	case u.Account.SuspendedAt != nil:
		return nil, fault.New(fault.Forbidden, "This account is suspended. Ask the operator of this site why.")
	}
	return u, nil
}

// BySSHKey is who the key with this fingerprint ("SHA256:…") acts for;
// db.ErrNotFound when nobody added it.
func (s *Service) BySSHKey(ctx context.Context, fingerprint string) (*model.Viewer, error) {
	id, err := accountdb.Locate(ctx, s.db.Directory(), accountdb.LocateSSHKey, fingerprint)
	if err != nil {
		return nil, err
	}
	row, err := accountdb.Credential(ctx, s.db.Account(id), model.CredentialSSHKey, []byte(fingerprint))
	if err != nil {
		return nil, err
	}
	var key struct{ SignsOnly bool }
	if err := json.Unmarshal(row.Data, &key); err != nil {
		return nil, err
	}
	if key.SignsOnly {
		return nil, fault.New(fault.Forbidden, "This key only verifies commits. Add another one to your account to use git over SSH.")
	}
	u, err := s.active(ctx, id)
	if err != nil {
		return nil, err
	}
	s.touched.credential(id, row.ID, row.UsedAt, s.now())
	return &model.Viewer{Account: u.Account, User: u, Token: true, TokenID: row.ID, All: true}, nil
}

// SetKind sets who recognises tokens of a kind that this package does not
// make, such as deploy tokens. owner is the id in the token, hash its SHA-256.
func (s *Service) SetKind(kind secret.Kind, resolve func(ctx context.Context, owner int64, hash [32]byte) (*model.Viewer, error)) {
	s.kinds[kind] = resolve
}

// Forget drops what is in memory about an account, here and in other
// processes: after a change of its record, its sessions or its credentials.
func (s *Service) Forget(ctx context.Context, account int64) {
	s.forget(account)
	s.notify(ctx, account)
}

func (s *Service) forget(account int64) {
	s.users.drop(func(id int64, _ *model.User) bool { return id == account })
	s.sessions.drop(func(_ hash, ses *session) bool { return ses.account == account })
	s.pats.drop(func(_ hash, t *token) bool { return t.account == account })
}

// heard drops what another process changed.
func (s *Service) heard(payload string) {
	if id, err := strconv.ParseInt(payload, 10, 64); err == nil {
		s.forget(id)
	}
}

// forgetAll empties the memory: a notice may have been missed.
func (s *Service) forgetAll() {
	s.users.clear()
	s.sessions.clear()
	s.pats.clear()
}

func (s *Service) wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
