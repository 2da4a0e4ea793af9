package lfs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/lfsdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// maxAdopted bounds how many pointers of one push are looked at.
const maxAdopted = 1000

// OnPush gives a repository the objects that commits from elsewhere in its
// network name: a merged pull request from a fork brings pointers whose content
// only the fork has. The person who pushed must be able to read the repository
// that has it.
func (s *Service) OnPush(ctx context.Context, e *model.Event) error {
	repo, err := repodb.ByIDAny(ctx, s.DB.Directory(), e.RepoID)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if repo.DeletedAt != nil || repo.RootID == 0 && repo.Forks == 0 {
		return nil
	}
	var p repos.Pushed
	if err := json.Unmarshal(e.Data, &p); err != nil {
		return err
	}
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return err
	}
	wanted := map[string]int64{}
	for _, r := range p.Refs {
		after, ok := git.ParseOID(r.After)
		if !ok || after.IsZero() {
			continue
		}
		if err := s.pointers(ctx, g, repo, r.Before, after, wanted); err != nil {
			return err
		}
	}
	return s.adopt(ctx, repo, e.ActorID, wanted)
}

// pointers adds the pointers that a move of a ref brought.
func (s *Service) pointers(ctx context.Context, g *git.Repository, repo *model.Repo, before string, after git.OID, wanted map[string]int64) error {
	opts := git.DiffOptions{Head: after, NoRenames: true}
	if old, ok := git.ParseOID(before); ok && !old.IsZero() {
		opts.Base = old
	} else if base, err := forkPoint(ctx, g, repo, after); err == nil && base != after {
		opts.Base = base
	}
	if opts.Base == "" {
		opts.Base = g.EmptyTree()
	}
	files, err := g.DiffFiles(ctx, opts)
	if errors.Is(err, git.ErrNotFound) {
		return nil // gone meanwhile
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.NewOID == "" || f.IsSubmodule() || len(wanted) >= maxAdopted {
			continue
		}
		data, err := g.Blob(ctx, f.NewOID, MaxPointer)
		if errors.Is(err, git.ErrTooLarge) || errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrWrongType) {
			continue
		}
		if err != nil {
			return err
		}
		if ptr, ok := ParsePointer(data); ok {
			wanted[ptr.OID] = ptr.Size
		}
	}
	return nil
}

func (s *Service) adopt(ctx context.Context, repo *model.Repo, account int64, wanted map[string]int64) error {
	if len(wanted) == 0 {
		return nil
	}
	var oids []string
	for oid := range wanted {
		oids = append(oids, oid)
	}
	slices.Sort(oids)
	have, err := lfsdb.Objects(ctx, s.DB.Repo(repo.ID), oids)
	if err != nil {
		return err
	}
	oids = slices.DeleteFunc(oids, func(oid string) bool { _, ok := have[oid]; return ok })
	if len(oids) == 0 {
		return nil
	}
	root := repo.RootID
	if root == 0 {
		root = repo.ID
	}
	held, err := lfsdb.HeldInNetwork(ctx, s.DB.Directory(), root, oids)
	if err != nil {
		return err
	}
	for _, oid := range oids {
		readable, err := repodb.ReadableIDs(ctx, s.DB.Directory(), held[oid], account)
		if err != nil {
			return err
		}
		for _, id := range held[oid] {
			there, err := lfsdb.Objects(ctx, s.DB.Repo(id), []string{oid})
			if err != nil {
				return err
			}
			if size, ok := there[oid]; ok && readable[id] && size == wanted[oid] {
				viewer := &model.Viewer{Account: &model.Account{ID: account}}
				if err := s.link(ctx, viewer, repo, oid, size); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}
