// Package deploykeys is keys and tokens for machines: each opens one
// repository, to fetch or also to push, and outlives the access of who made
// it.
//
//	deploykeys.go  Service; keys
//	token.go       tokens; who a key or token acts for
//	http.go        the pages of a repository's settings
//	api.go         GitHub's endpoints of deploy keys, and those of tokens
//
// Tables: the domain "deploy" of a repository's scope, and of the maker's, whose
// deploy_token_index says where tokens are; directory.scope_locators finds
// keys. Views: views/deployview.
package deploykeys

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/deploydb"
	"github.com/gitfor/gitfor/db/model"
)

// Deps are what the service needs.
type Deps struct {
	DB    *db.DB
	Gate  *perms.Gate
	Repos *repos.Service
	Auth  *auth.Service
	Ring  *secret.Ring
}

// Service keeps deploy keys and tokens.
type Service struct {
	Deps
	tokens *secret.Tokens
}

// New makes the service.
func New(deps Deps) *Service { return &Service{deps, secret.NewTokens(deps.Ring)} }

// most is how many credentials of a kind a repository has.
const most = 100

// KeyInput describes a new key; JSON names are GitHub's
// (https://docs.github.com/rest/deploy-keys/deploy-keys#create-a-deploy-key).
type KeyInput struct {
	Title    string `form:"title" json:"title"`
	Key      string `form:"key" json:"key"`
	ReadOnly bool   `form:"read_only" json:"read_only"`
}

func checkName(name string) string {
	switch {
	case name == "":
		return "Name it after what will use it."
	case utf8.RuneCountInString(name) > 100 || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		return "A name has at most 100 characters on one line."
	}
	return ""
}

const keyTaken = "key is already in use: it belongs to an account or another repository. Make another with ssh-keygen -t ed25519."

// AddKey lets a key open the repository. fault.Invalid when it is no good or in
// use.
func (s *Service) AddKey(ctx context.Context, viewer *model.Viewer, repo *model.Repo, in KeyInput) (*model.DeployCredential, error) {
	data, comment, err := accounts.ParseSSHKey(in.Key)
	f := fault.Fields{}
	if err != nil {
		f = fault.From(err).Fields
	}
	name := strings.TrimSpace(in.Title)
	if name == "" {
		name = strings.TrimSpace(comment)
	}
	f.Add("title", checkName(name))
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := s.claim(ctx, repo.ID, data.Fingerprint); err != nil {
		return nil, err
	}
	row := &model.DeployCredential{Kind: model.DeployKey, Name: name, Key: []byte(data.Fingerprint), Public: data.Public,
		Writes: !in.ReadOnly, AccountID: viewer.ID()}
	err = s.add(ctx, viewer, repo, row, "deploy_key.create")
	if err != nil {
		return nil, errors.Join(err, s.unclaim(context.WithoutCancel(ctx), repo.ID, data.Fingerprint))
	}
	return row, nil
}

// claim lets a fingerprint lead to the repository. One that was claimed and
// never stored, because something failed in between, is claimed again.
func (s *Service) claim(ctx context.Context, repoID int64, fingerprint string) error {
	err := s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return deploydb.AddLocator(ctx, tx, fingerprint, repoID)
	})
	if !errors.Is(err, db.ErrConflict) {
		return err
	}
	there, err := deploydb.Locate(ctx, s.DB.Directory(), fingerprint)
	if err == nil && there == repoID {
		if _, err = deploydb.ByKey(ctx, s.DB.Repo(repoID), model.DeployKey, []byte(fingerprint)); errors.Is(err, db.ErrNotFound) {
			return nil
		}
	}
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	return fault.Field("key", keyTaken)
}

func (s *Service) unclaim(ctx context.Context, repoID int64, fingerprint string) error {
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return deploydb.DropLocator(ctx, tx, fingerprint, repoID)
	})
}

func (s *Service) add(ctx context.Context, viewer *model.Viewer, repo *model.Repo, row *model.DeployCredential, action string) error {
	return s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := tx.Write(ctx, deploydb.Domain); err != nil {
			return err
		}
		have, err := deploydb.List(ctx, tx.Repo, row.Kind)
		if err != nil {
			return err
		}
		if len(have) >= most {
			return fault.New(fault.Conflict, "A repository has at most 100 of these. Remove one first.")
		}
		if err := deploydb.Insert(ctx, tx, row); err != nil {
			return err
		}
		return audit.Record(ctx, tx, audit.Entry{Action: action, Actor: viewer, Repo: repo, Target: row.Name,
			After: audit.Facts{"write": row.Writes}})
	})
}

// RemoveKey ends a key; db.ErrNotFound when there is none of this id.
func (s *Service) RemoveKey(ctx context.Context, viewer *model.Viewer, repo *model.Repo, id int64) error {
	row, err := deploydb.Find(ctx, s.DB.Repo(repo.ID), model.DeployKey, id)
	if err != nil {
		return err
	}
	if err := s.unclaim(ctx, repo.ID, string(row.Key)); err != nil {
		return err
	}
	return s.remove(ctx, viewer, repo, row, "deploy_key.delete")
}

func (s *Service) remove(ctx context.Context, viewer *model.Viewer, repo *model.Repo, row *model.DeployCredential, action string) error {
	return s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if err := deploydb.Delete(ctx, tx, row.ID); err != nil {
			return err
		}
		return audit.Record(ctx, tx, audit.Entry{Action: action, Actor: viewer, Repo: repo, Target: row.Name})
	})
}

// List returns the keys, or the tokens, of a repository.
func (s *Service) List(ctx context.Context, repo *model.Repo, kind string) ([]*model.DeployCredential, error) {
	return deploydb.List(ctx, s.DB.Repo(repo.ID), kind)
}
