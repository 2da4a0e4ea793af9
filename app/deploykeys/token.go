package deploykeys

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/deploydb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// TokenInput describes a new token.
type TokenInput struct {
	Name  string `json:"name"`
	Write bool   `json:"write"`
	// Expires is when it ends, nil for never.
	Expires *time.Time `json:"expires_at"`
}

// NewToken makes a token and returns its text, which is stored nowhere.
func (s *Service) NewToken(ctx context.Context, viewer *model.Viewer, repo *model.Repo, in TokenInput) (string, *model.DeployCredential, error) {
	in.Name = strings.TrimSpace(in.Name)
	f := fault.Fields{}
	f.Add("name", checkName(in.Name))
	if in.Expires != nil && !in.Expires.After(time.Now()) {
		f.Add("expires", "This time is over.")
	}
	if err := f.Err(); err != nil {
		return "", nil, err
	}
	text, hash := s.tokens.New(secret.Deploy, repo.ID)
	row := &model.DeployCredential{Kind: model.DeployToken, Name: in.Name, Key: hash[:], Writes: in.Write, AccountID: viewer.ID(), ExpiresAt: in.Expires}
	if err := s.add(ctx, viewer, repo, row, "deploy_token.create"); err != nil {
		return "", nil, err
	}
	// The repository has the last word; the maker's index only helps to find
	// it.
	err := s.DB.InAccount(ctx, viewer.ID(), func(ctx context.Context, tx *db.AccountTx) error {
		return deploydb.AddEntry(ctx, tx, &model.DeployTokenEntry{RepoID: repo.ID, TokenID: row.ID, Name: row.Name})
	})
	return text, row, err
}

// RemoveToken ends a token; db.ErrNotFound when there is none of this id.
func (s *Service) RemoveToken(ctx context.Context, viewer *model.Viewer, repo *model.Repo, id int64) error {
	row, err := deploydb.Find(ctx, s.DB.Repo(repo.ID), model.DeployToken, id)
	if err != nil {
		return err
	}
	if err := s.remove(ctx, viewer, repo, row, "deploy_token.delete"); err != nil {
		return err
	}
	err = s.DB.InAccount(ctx, row.AccountID, func(ctx context.Context, tx *db.AccountTx) error {
		return deploydb.DropEntry(ctx, tx, repo.ID, id)
	})
	if errors.Is(err, db.ErrNotFound) {
		return nil // the maker is gone
	}
	return err
}

// ByToken is who a token of a repository acts for; fault.Unauthorized when it
// is wrong, has ended or was removed.
func (s *Service) ByToken(ctx context.Context, repoID int64, hash [32]byte) (*model.Viewer, error) {
	row, err := deploydb.ByKey(ctx, s.DB.Repo(repoID), model.DeployToken, hash[:])
	if errors.Is(err, db.ErrNotFound) {
		return nil, auth.BadCredentials()
	}
	if err != nil {
		return nil, err
	}
	if row.ExpiresAt != nil && !time.Now().Before(*row.ExpiresAt) {
		return nil, auth.BadCredentials()
	}
	v, err := s.viewer(ctx, repoID, row)
	if errors.Is(err, db.ErrNotFound) {
		return nil, auth.BadCredentials()
	}
	return v, err
}

// BySSHKey is who the key with this fingerprint acts for; db.ErrNotFound when
// no repository has it.
func (s *Service) BySSHKey(ctx context.Context, fingerprint string) (*model.Viewer, error) {
	repoID, err := deploydb.Locate(ctx, s.DB.Directory(), fingerprint)
	if err != nil {
		return nil, err
	}
	row, err := deploydb.ByKey(ctx, s.DB.Repo(repoID), model.DeployKey, []byte(fingerprint))
	if err != nil {
		return nil, err
	}
	return s.viewer(ctx, repoID, row)
}

// usedEvery bounds how often a use is written down.
const usedEvery = time.Hour

// viewer acts for the maker's account in the one repository. A deleted
// repository has none; a maker who is suspended has none either.
func (s *Service) viewer(ctx context.Context, repoID int64, row *model.DeployCredential) (*model.Viewer, error) {
	repo, err := repodb.ByIDAny(ctx, s.DB.Directory(), repoID)
	if err != nil {
		return nil, err
	}
	if repo.DeletedAt != nil {
		return nil, db.ErrNotFound
	}
	user, err := accountdb.User(ctx, s.DB.Directory(), row.AccountID)
	if err != nil {
		return nil, err
	}
	if user.Account.SuspendedAt != nil {
		return nil, fault.New(fault.Forbidden, "The account that made this is suspended. Ask the operator of this site why.")
	}
	if now := time.Now().UTC(); row.UsedAt == nil || now.Sub(*row.UsedAt) > usedEvery {
		err := s.DB.InRepo(ctx, repoID, func(ctx context.Context, tx *db.RepoTx) error { return deploydb.Used(ctx, tx, row.ID, now) })
		if err != nil {
			return nil, err
		}
	}
	return &model.Viewer{Account: user.Account, User: user, Token: true, TokenID: row.ID, DeployRepo: repoID, Write: row.Writes}, nil
}
