package auth

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// TokenData is what a token's row holds besides its name and times.
type TokenData struct {
	All    bool     `json:"all"`
	Scopes []string `json:"scopes"`
	Repos  []int64  `json:"repos"` // null: all that the owner reaches
}

// TokenInput describes a new personal access token.
type TokenInput struct {
	Name string
	// Scopes are what it may do; nil means all that its owner may.
	Scopes []string
	// Expires is when it ends, nil for never.
	Expires *time.Time
	// Repos are the only repositories it reaches; nil means all.
	Repos []int64
}

// maxTokens bounds the tokens of an account.
const maxTokens = 200

// NewToken makes a token and returns its text, which is stored nowhere.
// fault.Invalid for a wrong name, scope or time.
func (s *Service) NewToken(ctx context.Context, accountID int64, in TokenInput) (string, error) {
	in.Name = strings.TrimSpace(in.Name)
	f := fault.Fields{}
	if in.Name == "" {
		f.Add("name", "Name the token after what will use it.")
	}
	if utf8.RuneCountInString(in.Name) > 100 || strings.ContainsFunc(in.Name, func(r rune) bool { return r < ' ' }) {
		f.Add("name", "A token's name has at most 100 characters on one line.")
	}
	if in.Expires != nil && !in.Expires.After(s.now()) {
		f.Add("expires", "This time is over.")
	}
	if _, err := ParseScopes(strings.Join(in.Scopes, ",")); err != nil {
		f.Add("scopes", fault.From(err).Fields["scopes"])
	}
	if in.Repos != nil && len(in.Repos) == 0 {
		f.Add("repos", "Choose at least one repository.")
	}
	if err := f.Err(); err != nil {
		return "", err
	}
	return s.insertToken(ctx, accountID, in)
}

func (s *Service) insertToken(ctx context.Context, accountID int64, in TokenInput) (string, error) {
	text, h := s.tokens.New(secret.Personal, accountID)
	data, err := json.Marshal(TokenData{All: in.Scopes == nil, Scopes: top(in.Scopes), Repos: slices.Clone(in.Repos)})
	if err != nil {
		return "", err
	}
	err = s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		n, err := accountdb.CountCredentials(ctx, tx, model.CredentialToken)
		if err != nil {
			return err
		}
		if n >= maxTokens {
			return fault.New(fault.Conflict, "An account may have at most 200 tokens. Revoke one first.")
		}
		scopes := any(top(in.Scopes))
		if in.Scopes == nil {
			scopes = "all"
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "personal_access_token.create", AccountID: accountID, Target: in.Name,
			After: audit.Facts{"scopes": scopes}}); err != nil {
			return err
		}
		return accountdb.InsertCredentials(ctx, tx, &model.Credential{Kind: model.CredentialToken, Key: h[:],
			Name: in.Name, Data: data, ExpiresAt: in.Expires})
	})
	return text, s.wrap("make token", err)
}

// RevokeToken ends a token; db.ErrNotFound when there is none of this id.
func (s *Service) RevokeToken(ctx context.Context, accountID, id int64) error {
	err := s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		row, err := accountdb.CredentialByID(ctx, tx.Account, model.CredentialToken, id)
		if err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "personal_access_token.destroy", AccountID: accountID, Target: row.Name}); err != nil {
			return err
		}
		return accountdb.DeleteCredential(ctx, tx, model.CredentialToken, id)
	})
	s.Forget(ctx, accountID)
	return s.wrap("revoke token", err)
}

// Token is a personal access token in its owner's list.
type Token struct {
	*model.Credential
	TokenData
}

// Tokens lists an account's tokens, newest first, expired ones too.
func (s *Service) Tokens(ctx context.Context, accountID int64) ([]Token, error) {
	rows, err := accountdb.Credentials(ctx, s.db.Account(accountID), model.CredentialToken)
	if err != nil {
		return nil, err
	}
	out := make([]Token, len(rows))
	for i, row := range rows {
		out[i].Credential = row
		if err := json.Unmarshal(row.Data, &out[i].TokenData); err != nil {
			return nil, err
		}
	}
	return out, nil
}
