package repos

import (
	"context"
	"errors"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// The ways in which a branch of a fork was brought up to date.
const (
	SyncNone        = "none"
	SyncFastForward = "fast-forward"
	SyncMerge       = "merge"
)

// Upstream is the repository that fork was made from, when the viewer may read
// it.
func (s *Service) Upstream(ctx context.Context, viewer *model.Viewer, fork *model.Repo) (*model.Repo, error) {
	if fork.ForkOf == 0 {
		return nil, db.ErrNotFound
	}
	up, _, err := repodb.FindID(ctx, s.DB.Directory(), fork.ForkOf, viewer.ID())
	if err == nil && !viewer.Reaches(up.ID, up.IsPrivate(), false) {
		return nil, db.ErrNotFound
	}
	return up, err
}

// Sync brings a branch of a fork up to date with the same branch of its
// source, by moving it forward or by a merge, and says which.
func (s *Service) Sync(ctx context.Context, viewer *model.Viewer, fork *model.Repo, branch string) (how string, err error) {
	up, err := s.Upstream(ctx, viewer, fork)
	if errors.Is(err, db.ErrNotFound) {
		return "", fault.New(fault.Invalid, "This repository is no fork of one that you may read.")
	}
	if err != nil {
		return "", err
	}
	from, err := s.Open(ctx, up)
	if err != nil {
		return "", err
	}
	to, err := s.Open(ctx, fork)
	if err != nil {
		return "", err
	}
	theirs, err := from.Ref(ctx, git.BranchPrefix+branch)
	if errors.Is(err, git.ErrNotFound) {
		return "", fault.New(fault.Invalid, up.FullName()+" has no branch “"+git.Display(branch)+"”.")
	}
	if err != nil {
		return "", err
	}
	if err := s.bring(ctx, up, from, to, theirs); err != nil {
		return "", err
	}
	update := git.RefUpdate{Name: theirs.Name, Old: to.ZeroOID(), New: theirs.OID}
	ours, err := to.Ref(ctx, theirs.Name)
	switch {
	case errors.Is(err, git.ErrNotFound):
		how = SyncFastForward
	case err != nil:
		return "", err
	default:
		update.Old = ours.OID
		if how, update.New, err = s.joined(ctx, viewer, up, to, branch, ours.OID, theirs.OID); err != nil || how == SyncNone {
			return how, err
		}
	}
	err = s.MoveRefs(ctx, to, &Push{Repo: fork, Actor: viewer, Via: "web", Updates: []git.RefUpdate{update}})
	if errors.Is(err, git.ErrRefChanged) || errors.Is(err, git.ErrRefBusy) {
		return "", fault.Wrap(fault.Conflict, "The branch has been changed meanwhile. Try again.", err)
	}
	return how, err
}

// bring makes the objects of one branch known to the fork.
func (s *Service) bring(ctx context.Context, up *model.Repo, from, to *git.Repository, branch git.Ref) error {
	if known, err := to.Has(ctx, branch.OID); err != nil || known {
		return err
	}
	refs := []git.Ref{branch}
	if !up.IsPrivate() {
		var err error
		if refs, err = publicRefs(ctx, from); err != nil {
			return err
		}
	}
	return s.lend(ctx, up, from, to, refs)
}

// joined is the commit that has both histories.
func (s *Service) joined(ctx context.Context, viewer *model.Viewer, up *model.Repo, g *git.Repository, branch string, ours, theirs git.OID) (string, git.OID, error) {
	if done, err := g.IsAncestor(ctx, theirs, ours); err != nil || done {
		return SyncNone, ours, err
	}
	if ahead, err := g.IsAncestor(ctx, ours, theirs); err != nil || ahead {
		return SyncFastForward, theirs, err
	}
	conflict := "There are conflicts between the two branches. Merge them with git, or open a pull request."
	merged, err := g.MergeTree(ctx, ours, theirs, git.MergeOptions{})
	if errors.Is(err, git.ErrUnrelated) {
		return "", "", fault.Wrap(fault.Conflict, conflict, err)
	}
	if err != nil {
		return "", "", err
	}
	if !merged.Clean() {
		return "", "", fault.New(fault.Conflict, conflict)
	}
	who := s.Person(viewer)
	oid, err := g.CommitTree(ctx, git.CommitSpec{Tree: merged.Tree, Parents: []git.OID{ours, theirs}, Author: who, Committer: who,
		Message: "Merge branch '" + up.FullName() + ":" + git.Display(branch) + "' into " + git.Display(branch), Sign: s.Sign})
	return SyncMerge, oid, err
}
