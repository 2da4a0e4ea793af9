package codes

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// CreateRef makes a branch or tag (name is the full ref name) at an object.
func (s *Service) CreateRef(ctx context.Context, viewer *model.Viewer, repo *model.Repo, name string, at git.OID) error {
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return err
	}
	if err := checkRef(ctx, g, name, at); err != nil {
		return err
	}
	return s.move(ctx, viewer, repo, g, "web", git.RefUpdate{Name: name, Old: g.ZeroOID(), New: at})
}

// checkRef says whether a ref may have this name and point there.
func checkRef(ctx context.Context, g *git.Repository, name string, at git.OID) error {
	branch, isBranch := cutPrefix(name, git.BranchPrefix)
	tag, isTag := cutPrefix(name, git.TagPrefix)
	switch {
	case !isBranch && !isTag:
		return fault.Field("ref", "Only refs below refs/heads/ and refs/tags/ can be written here.")
	case isBranch && !git.ValidBranchName(branch), isTag && !git.ValidTagName(tag):
		return fault.Field("ref", "“"+git.Display(name)+"” is not a valid ref name.")
	}
	info, err := g.Info(ctx, at)
	if errors.Is(err, git.ErrNotFound) || !at.Valid() {
		return fault.Field("sha", "Object does not exist")
	}
	if err != nil {
		return err
	}
	if isBranch && info.Type != git.TypeCommit {
		return fault.Field("sha", "A branch points to a commit, and this is none.")
	}
	return nil
}

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) > len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):], true
	}
	return s, false
}

// MoveRef points an existing ref elsewhere; unless forced, a branch only moves
// forward.
func (s *Service) MoveRef(ctx context.Context, viewer *model.Viewer, repo *model.Repo, name string, to git.OID, force bool) error {
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return err
	}
	if err := checkRef(ctx, g, name, to); err != nil {
		return err
	}
	old, err := g.Ref(ctx, name)
	if errors.Is(err, git.ErrNotFound) {
		return fault.Field("ref", "Reference does not exist")
	}
	if err != nil {
		return err
	}
	if !force {
		ok, err := g.IsAncestor(ctx, old.Commit(), to)
		if err != nil && !errors.Is(err, git.ErrWrongType) && !errors.Is(err, git.ErrNotFound) {
			return err
		}
		if !ok {
			return fault.Field("sha", "Update is not a fast forward")
		}
	}
	return changedMeanwhile(s.move(ctx, viewer, repo, g, "web", git.RefUpdate{Name: name, Old: old.OID, New: to}))
}

func changedMeanwhile(err error) error {
	if errors.Is(err, git.ErrRefChanged) || errors.Is(err, git.ErrRefBusy) {
		return fault.Wrap(fault.Conflict, "It has been changed by somebody else meanwhile. Look again, then try again.", err)
	}
	return err
}

// DeleteRef deletes a branch or tag. The default branch stays.
func (s *Service) DeleteRef(ctx context.Context, viewer *model.Viewer, repo *model.Repo, name string) error {
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return err
	}
	if name == git.BranchPrefix+repo.DefaultBranch {
		return fault.Field("ref", "The default branch cannot be deleted; choose another default branch first.")
	}
	if _, ok := cutPrefix(name, git.BranchPrefix); !ok {
		if _, ok := cutPrefix(name, git.TagPrefix); !ok {
			return fault.Field("ref", "Only branches and tags can be deleted here.")
		}
	}
	ref, err := g.Ref(ctx, name)
	if errors.Is(err, git.ErrNotFound) {
		return fault.Field("ref", "Reference does not exist")
	}
	if err != nil {
		return err
	}
	return changedMeanwhile(s.move(ctx, viewer, repo, g, "web", git.RefUpdate{Name: name, Old: ref.OID, New: g.ZeroOID()}))
}

// BranchRenamed says that a branch has a new name. What names the old one,
// such as an open pull request, follows.
type BranchRenamed struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// EventType implements events.Payload.
func (BranchRenamed) EventType() string { return "branch.renamed" }

// Payloads lists the events of this package for the catalogue.
func Payloads() []events.Payload { return []events.Payload{BranchRenamed{}, Starred{}, Unstarred{}} }

// RenameBranch gives a branch another name; the default branch stays the
// default.
func (s *Service) RenameBranch(ctx context.Context, viewer *model.Viewer, repo *model.Repo, from, to string) error {
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return err
	}
	old, err := g.Ref(ctx, git.BranchPrefix+from)
	if err != nil {
		return lost(err)
	}
	if !git.ValidBranchName(to) {
		return fault.Field("new_name", "That cannot be the name of a branch.")
	}
	isDefault := from == repo.DefaultBranch
	if isDefault && !utf8.ValidString(to) {
		return fault.Field("new_name", "The default branch's name must be UTF-8.")
	}
	if from == to {
		return nil
	}
	if _, err := g.Ref(ctx, git.BranchPrefix+to); err == nil {
		return fault.Field("new_name", "There is a branch of this name already.")
	}
	err = s.Repos.MoveRefs(ctx, g, &repos.Push{Repo: repo, Actor: viewer, Via: "web", Updates: []git.RefUpdate{
		{Name: git.BranchPrefix + to, Old: g.ZeroOID(), New: old.OID}, {Name: git.BranchPrefix + from, Old: old.OID, New: g.ZeroOID()}}})
	if errors.Is(err, git.ErrRefConflict) {
		return fault.Field("new_name", "That name and the one of another branch cannot both exist: one is a folder in the other.")
	}
	if err != nil {
		return changedMeanwhile(err)
	}
	if isDefault {
		if err := s.Repos.Edit(ctx, viewer, repo, repos.EditInput{DefaultBranch: &to}); err != nil {
			return err
		}
	}
	return s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, BranchRenamed{git.Display(from), git.Display(to)})
	})
}

// MergeInput is a merge of one revision into a branch.
type MergeInput struct {
	Base, Head, Message string
}

// Merge merges Head into the branch Base with a merge commit. It is nil when
// Base has all of Head already, and a fault of kind Conflict when a person
// must decide.
func (s *Service) Merge(ctx context.Context, viewer *model.Viewer, repo *model.Repo, in MergeInput) (*git.Commit, error) {
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return nil, err
	}
	base, err := g.Ref(ctx, git.BranchPrefix+in.Base)
	if err != nil {
		return nil, fault.Wrap(fault.NotFound, "Base does not exist", err)
	}
	head, err := g.ResolveRef(ctx, in.Head)
	if err != nil || head.Commit == "" {
		return nil, fault.Wrap(fault.NotFound, "Head does not exist", err)
	}
	if done, err := g.IsAncestor(ctx, head.Commit, base.OID); err != nil || done {
		return nil, err
	}
	merged, err := g.MergeTree(ctx, base.OID, head.Commit, git.MergeOptions{})
	if errors.Is(err, git.ErrUnrelated) {
		return nil, fault.Wrap(fault.Conflict, "Merge conflict: the histories have nothing in common", err)
	}
	if err != nil {
		return nil, err
	}
	if !merged.Clean() {
		return nil, fault.New(fault.Conflict, "Merge conflict")
	}
	if in.Message == "" {
		in.Message = "Merge " + git.Display(in.Head) + " into " + git.Display(in.Base)
	}
	who := s.Repos.Person(viewer)
	oid, err := g.CommitTree(ctx, git.CommitSpec{Tree: merged.Tree, Parents: []git.OID{base.OID, head.Commit}, Author: who,
		Committer: who, Message: in.Message, Sign: s.Sign})
	if err != nil {
		return nil, err
	}
	err = s.move(ctx, viewer, repo, g, "merge", git.RefUpdate{Name: base.Name, Old: base.OID, New: oid})
	if err != nil {
		return nil, changedMeanwhile(err)
	}
	return g.Commit(ctx, oid)
}
