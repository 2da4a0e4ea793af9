package repos

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// ForkInput describes a fork; JSON names are GitHub's
// (https://docs.github.com/rest/repos/forks#create-a-fork).
type ForkInput struct {
	Owner       string `form:"owner" json:"organization"`
	Name        string `form:"name" json:"name"`
	Description string `form:"description" json:"-"`
	DefaultOnly bool   `form:"default_only" json:"default_branch_only"`
}

// Fork makes a fork of source for viewer, who must be able to read it. Where
// the owner has one already that one is returned, and existed is true.
func (s *Service) Fork(ctx context.Context, viewer *model.Viewer, source *model.Repo, in ForkInput) (fork *model.Repo, existed bool, err error) {
	if in.Owner == "" {
		in.Owner = viewer.Name()
	}
	owner, err := s.mayCreate(ctx, viewer, in.Owner)
	if err != nil {
		return nil, false, err
	}
	if !viewer.Has("repo") && (source.IsPrivate() || !viewer.Has("public_repo")) {
		return nil, false, fault.New(fault.Forbidden, "This token lacks the scope repo.")
	}
	if have, err := repodb.ForkOfOwner(ctx, s.DB.Directory(), source.ID, owner.ID); err == nil || !errors.Is(err, db.ErrNotFound) {
		return have, true, err
	}
	if owner.ID == source.OwnerID && (in.Name == "" || model.Key(in.Name) == source.NameKey) {
		return nil, false, fault.Field("name", "A fork beside its source needs another name.")
	}
	if in.Name == "" {
		in.Name = source.Name
	}
	if problem := CheckName(in.Name); problem != "" {
		return nil, false, fault.Field("name", problem)
	}
	if problem := checkText(in.Description, MaxDescription); problem != "" {
		return nil, false, fault.Field("description", problem)
	}
	fork = forkOf(source, owner, in)
	if err := s.insertFork(ctx, viewer, fork, source); err != nil {
		return nil, false, err
	}
	if err := s.fill(ctx, fork, source, in.DefaultOnly); err != nil {
		return nil, false, fmt.Errorf("fork %s: %w", source.FullName(), err)
	}
	return fork, false, nil
}

// forkOf is the fork's record: what the source is, under another name.
func forkOf(source *model.Repo, owner *model.Account, in ForkInput) *model.Repo {
	r := &model.Repo{OwnerID: owner.ID, Owner: owner, Name: in.Name, NameKey: model.Key(in.Name), Description: in.Description,
		Topics: []string{}, Visibility: source.Visibility, DefaultBranch: source.DefaultBranch, ForkOf: source.ID, RootID: source.RootID,
		Languages: source.Languages, Licence: source.Licence, PushedAt: source.PushedAt, Settings: model.RepoSettings{NoIssues: true}}
	if r.RootID == 0 {
		r.RootID = source.ID
	}
	if r.Description == "" {
		r.Description = source.Description
	}
	if r.Languages == nil {
		r.Languages = map[string]int64{}
	}
	return r
}

func (s *Service) insertFork(ctx context.Context, viewer *model.Viewer, fork, source *model.Repo) error {
	err := s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := insertWatched(ctx, tx, viewer, fork); err != nil {
			return err
		}
		if err := repodb.CountFork(ctx, tx, source.ID, 1); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "repo.fork", Actor: viewer, Repo: fork,
			After: audit.Facts{"visibility": fork.Visibility, "fork_of": source.FullName()}}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: fork, Actor: viewer}, Forked{facts(fork), source.FullName()})
	})
	if errors.Is(err, db.ErrConflict) {
		return fault.Field("name", fork.Owner.Name+" already has a repository called “"+fork.Name+"”.")
	}
	return err
}

// fill gives a fork its branches and tags.
func (s *Service) fill(ctx context.Context, fork, source *model.Repo, defaultOnly bool) error {
	from, err := s.Open(ctx, source)
	if err != nil {
		return err
	}
	to, err := s.Git.InitFormat(ctx, fork.ID, fork.DefaultBranch, from.Format())
	if err != nil {
		return err
	}
	refs, err := publicRefs(ctx, from)
	if err != nil {
		return err
	}
	if err := s.lend(ctx, source, from, to, refs); err != nil {
		return err
	}
	var updates []git.RefUpdate
	for _, r := range refs {
		if !defaultOnly || r.Name == git.BranchPrefix+source.DefaultBranch {
			updates = append(updates, git.RefUpdate{Name: r.Name, Old: to.ZeroOID(), New: r.OID})
		}
	}
	if len(updates) == 0 {
		return nil
	}
	return to.UpdateRefs(ctx, updates)
}

// publicRefs are the branches and tags of a repository that lead to commits:
// what its readers may fetch.
func publicRefs(ctx context.Context, g *git.Repository) ([]git.Ref, error) {
	all, err := g.Refs(ctx, "refs/")
	if err != nil {
		return nil, err
	}
	var out []git.Ref
	for _, r := range all {
		if !strings.HasPrefix(r.Name, git.BranchPrefix) && !strings.HasPrefix(r.Name, git.TagPrefix) {
			continue
		}
		info, err := g.Info(ctx, r.OID)
		if err != nil {
			return nil, err
		}
		if info.Type == git.TypeCommit || info.Type == git.TypeTag {
			out = append(out, r)
		}
	}
	return out, nil
}

// lend brings what refs of source reach to a fork. Of a public repository the
// objects go into the pool of its network, which holds nothing else, and the
// fork borrows them: git serves any object by its id, so a repository that
// lends must hold nothing that others may not read. Of a private one they are
// copied.
func (s *Service) lend(ctx context.Context, source *model.Repo, from, to *git.Repository, refs []git.Ref) error {
	tips := make([]git.OID, len(refs))
	for i, r := range refs {
		tips[i] = r.OID
	}
	if len(tips) == 0 {
		return nil
	}
	if source.IsPrivate() {
		return to.CopyObjects(ctx, from, tips...)
	}
	root := source.RootID
	if root == 0 {
		root = source.ID
	}
	pool, err := s.pool(ctx, root, from)
	if err != nil {
		return err
	}
	if err := pool.CopyObjects(ctx, from, tips...); err != nil {
		return err
	}
	if err := keep(ctx, pool, tips); err != nil {
		return err
	}
	if err := to.SetAlternates([]string{filepath.Join(pool.Path, "objects")}); err != nil || s.Lent == nil {
		return err
	}
	return s.Lent(ctx, root)
}

// pool is the repository that forks of a network borrow from.
func (s *Service) pool(ctx context.Context, root int64, like *git.Repository) (*git.Repository, error) {
	g, err := s.Pools.Open(ctx, root)
	if errors.Is(err, git.ErrNoRepository) {
		return s.Pools.InitFormat(ctx, root, "main", like.Format())
	}
	return g, err
}

// keep names objects of a pool, so that nothing takes them for garbage and the
// next copy brings only what is new.
func keep(ctx context.Context, pool *git.Repository, tips []git.OID) error {
	const prefix = "refs/kept/"
	have, err := pool.Refs(ctx, prefix)
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(have))
	for _, r := range have {
		known[r.Name] = true
	}
	var updates []git.RefUpdate
	for _, oid := range tips {
		if name := prefix + oid.String(); !known[name] {
			known[name] = true
			updates = append(updates, git.RefUpdate{Name: name, New: oid})
		}
	}
	if len(updates) == 0 {
		return nil
	}
	return pool.UpdateRefs(ctx, updates)
}
