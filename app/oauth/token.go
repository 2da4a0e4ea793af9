package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/oauthdb"
)

// data is what the row of an app's token holds; its first fields are those of
// every token.
type data struct {
	All    bool     `json:"all"`
	Scopes []string `json:"scopes"`
	App    string   `json:"app"`
	// Family is the same for all tokens that came from one sign-in.
	Family int64 `json:"family"`
	// Used says that a refresh token was used: a second use is theft.
	Used bool `json:"used,omitempty"`
}

// Answer is what an app gets (RFC 6749, 5.1, with GitHub's names for the
// times).
type Answer struct {
	AccessToken    string `json:"access_token,omitempty"`
	TokenType      string `json:"token_type,omitempty"`
	Scope          string `json:"scope"`
	ExpiresIn      int    `json:"expires_in,omitempty"`
	RefreshToken   string `json:"refresh_token,omitempty"`
	RefreshExpires int    `json:"refresh_token_expires_in,omitempty"`
}

// issue makes the tokens of an app that account lets act for it. family 0
// begins a new one, which is returned.
func (s *Service) issue(ctx context.Context, tx *db.AccountTx, account int64, app *App, scopes []string, family int64) (*Answer, int64, error) {
	text, hash := s.Tokens.New(secret.OAuthAccess, account)
	out := &Answer{AccessToken: text, TokenType: "bearer", Scope: strings.Join(scopes, ",")}
	access := &model.Credential{Kind: model.CredentialOAuth, Key: hash[:], Name: app.Name}
	list := []*model.Credential{access}
	if app.Expires {
		until := tx.Now().Add(accessTime)
		access.ExpiresAt, out.ExpiresIn = &until, int(accessTime/time.Second)
		text, hash := s.Tokens.New(secret.OAuthRefresh, account)
		end := tx.Now().Add(refreshTime)
		out.RefreshToken, out.RefreshExpires = text, int(refreshTime/time.Second)
		list = append(list, &model.Credential{Kind: model.CredentialRefresh, Key: hash[:], Name: app.Name, ExpiresAt: &end})
	}
	if family == 0 {
		var err error
		if family, err = tx.NextID(ctx); err != nil {
			return nil, 0, err
		}
	}
	b, err := json.Marshal(data{Scopes: scopes, App: app.ClientID, Family: family})
	if err != nil {
		return nil, 0, err
	}
	for _, cr := range list {
		cr.Data = b
	}
	return out, family, accountdb.InsertCredentials(ctx, tx, list...)
}

// start gives an app its first tokens after the account agreed, and returns
// the family that they begin.
func (s *Service) start(ctx context.Context, account int64, app *App, scopes []string) (out *Answer, family int64, err error) {
	err = s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return oauthdb.Index(ctx, tx, app.ClientID, account)
	})
	if err != nil {
		return nil, 0, err
	}
	err = s.DB.InAccount(ctx, account, func(ctx context.Context, tx *db.AccountTx) error {
		if err := oauthdb.PutGrant(ctx, tx, app.ClientID, scopes); err != nil {
			return err
		}
		old, err := accountdb.AppCredentials(ctx, tx, app.ClientID, 0)
		if err != nil {
			return err
		}
		for i := keepTokens; i < len(old); i++ {
			if err := accountdb.DeleteCredential(ctx, tx, old[i].Kind, old[i].ID); err != nil {
				return err
			}
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "oauth_access.create", ActorID: account, AccountID: account, Target: app.Name,
			After: audit.Facts{"scopes": scopes}}); err != nil {
			return err
		}
		out, family, err = s.issue(ctx, tx, account, app, scopes, 0)
		return err
	})
	return out, family, err
}

// refresh exchanges a refresh token for new tokens. One that was used before
// was stolen, from the app or by it: then all that came from the same sign-in
// ends (RFC 9700, 4.14.2).
func (s *Service) refresh(ctx context.Context, app *App, text string, narrow []string) (*Answer, error) {
	kind, owner, hash, err := s.Tokens.Parse(text)
	if err != nil || kind != secret.OAuthRefresh {
		return nil, errGrant("The refresh token is wrong.")
	}
	var out *Answer
	var refused error
	err = s.DB.InAccount(ctx, owner, func(ctx context.Context, tx *db.AccountTx) error {
		out, refused = nil, nil
		row, err := accountdb.Credential(ctx, tx.Account, model.CredentialRefresh, hash[:])
		if errors.Is(err, db.ErrNotFound) {
			refused = errGrant("The refresh token is wrong or was revoked.")
			return nil
		}
		if err != nil {
			return err
		}
		var d data
		if err := json.Unmarshal(row.Data, &d); err != nil {
			return err
		}
		switch {
		case d.App != app.ClientID:
			refused = errGrant("The refresh token belongs to another app.")
			return nil
		case d.Used:
			refused = errGrant("The refresh token was used before. All tokens of this sign-in are revoked.")
			return s.endFamily(ctx, tx, owner, app, d.Family)
		case row.ExpiresAt != nil && !tx.Now().Before(*row.ExpiresAt):
			refused = errGrant("The refresh token has expired.")
			return nil
		}
		scopes, ok := within(narrow, d.Scopes)
		if !ok {
			refused = &flowError{"invalid_scope", "The app asks for more than was granted."}
			return nil
		}
		return s.rotate(ctx, tx, owner, app, row, d, scopes, &out)
	})
	s.Auth.Forget(ctx, owner)
	if err != nil {
		return nil, err
	}
	return out, refused
}

// rotate marks the refresh token as used, ends the access tokens of its
// family, and makes new ones.
func (s *Service) rotate(ctx context.Context, tx *db.AccountTx, owner int64, app *App, row *model.Credential, d data, scopes []string, out **Answer) error {
	old, err := accountdb.AppCredentials(ctx, tx, app.ClientID, d.Family)
	if err != nil {
		return err
	}
	for _, cr := range old {
		if cr.Kind == model.CredentialOAuth {
			if err := accountdb.DeleteCredential(ctx, tx, cr.Kind, cr.ID); err != nil {
				return err
			}
		}
	}
	d.Used = true
	now := tx.Now()
	if row.Data, err = json.Marshal(d); err != nil {
		return err
	}
	row.UsedAt = &now
	if err := accountdb.SaveCredential(ctx, tx, row); err != nil {
		return err
	}
	*out, _, err = s.issue(ctx, tx, owner, app, scopes, d.Family)
	return err
}

func (s *Service) endFamily(ctx context.Context, tx *db.AccountTx, owner int64, app *App, family int64) error {
	list, err := accountdb.AppCredentials(ctx, tx, app.ClientID, family)
	if err != nil {
		return err
	}
	for _, cr := range list {
		if err := accountdb.DeleteCredential(ctx, tx, cr.Kind, cr.ID); err != nil {
			return err
		}
	}
	return audit.Record(ctx, tx, audit.Entry{Action: "oauth_access.token_reused", ActorID: owner, AccountID: owner, Target: app.Name})
}

// within narrows granted to what is asked; nothing asked is all of it.
func within(asked, granted []string) ([]string, bool) {
	if len(asked) == 0 {
		return granted, true
	}
	have := map[string]bool{}
	for _, g := range granted {
		have[g] = true
	}
	for _, a := range asked {
		if !have[a] {
			return nil, false
		}
	}
	return asked, true
}

// Revoke ends what an account grants an app, with all its tokens.
// db.ErrNotFound when it grants nothing.
func (s *Service) Revoke(ctx context.Context, viewer *model.Viewer, account int64, clientID string) error {
	err := s.DB.InAccount(ctx, account, func(ctx context.Context, tx *db.AccountTx) error {
		list, err := accountdb.AppCredentials(ctx, tx, clientID, 0)
		if err != nil {
			return err
		}
		for _, cr := range list {
			if err := accountdb.DeleteCredential(ctx, tx, cr.Kind, cr.ID); err != nil {
				return err
			}
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "oauth_authorization.destroy", Actor: viewer, AccountID: account, Target: clientID}); err != nil {
			return err
		}
		return oauthdb.DropGrant(ctx, tx, clientID)
	})
	s.Auth.Forget(ctx, account)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	if err := s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return oauthdb.Unindex(ctx, tx, clientID, account)
	}); err != nil {
		return err
	}
	return err
}

// RevokeToken ends one token of an app, and with a refresh token all of its
// sign-in (RFC 7009). One that is wrong or gone is no error.
func (s *Service) RevokeToken(ctx context.Context, app *App, text string) error {
	kind, owner, hash, err := s.Tokens.Parse(text)
	credential := map[secret.Kind]string{secret.OAuthAccess: model.CredentialOAuth, secret.OAuthRefresh: model.CredentialRefresh}[kind]
	if err != nil || credential == "" {
		return nil
	}
	err = s.DB.InAccount(ctx, owner, func(ctx context.Context, tx *db.AccountTx) error {
		row, err := accountdb.Credential(ctx, tx.Account, credential, hash[:])
		if err != nil {
			return err
		}
		var d data
		if err := json.Unmarshal(row.Data, &d); err != nil || d.App != app.ClientID {
			return err
		}
		list, err := accountdb.AppCredentials(ctx, tx, app.ClientID, d.Family)
		if err != nil {
			return err
		}
		for _, cr := range list {
			if err := accountdb.DeleteCredential(ctx, tx, cr.Kind, cr.ID); err != nil {
				return err
			}
		}
		return audit.Record(ctx, tx, audit.Entry{Action: "oauth_access.destroy", ActorID: owner, AccountID: owner, Target: app.Name})
	})
	s.Auth.Forget(ctx, owner)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}

// appOf is the client id of the app that holds a token.
func appOf(cr *model.Credential) string {
	var d data
	if json.Unmarshal(cr.Data, &d) != nil {
		return ""
	}
	return d.App
}

func num(n int64) string { return strconv.FormatInt(n, 10) }
