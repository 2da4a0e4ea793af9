package pulls

import (
	"context"
	"errors"
	"strconv"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
	"github.com/gitfor/gitfor/db/threaddb"
)

func num(n int64) string { return strconv.FormatInt(n, 10) }

// headPlace is the head's repository, for somebody who wants to write its
// branch: by their own role there or, where the author allows it, by that in
// the base's repository.
func (s *Service) headPlace(ctx context.Context, p Place, pull *model.Pull) (*model.Repo, *git.Repository, error) {
	repo, role, err := s.headRepo(ctx, p, pull)
	if err != nil {
		return nil, nil, err
	}
	if repo == nil {
		return nil, nil, conflict("The repository of the branch is gone.")
	}
	byBase := pull.MaintainerEdits && p.Role.AtLeast(model.RoleWrite)
	if !role.AtLeast(model.RoleWrite) && !byBase {
		return nil, nil, denied("Only people who may push to " + repo.FullName() + " may do this.")
	}
	if repo.Archived() {
		return nil, nil, denied(repo.FullName() + " is archived and read-only.")
	}
	g, err := s.open(ctx, repo)
	return repo, g, err
}

// DeleteBranch deletes the head's branch of a pull request that is closed.
func (s *Service) DeleteBranch(ctx context.Context, p Place, number int64) error {
	pull, err := s.Find(ctx, p, number)
	if err != nil {
		return err
	}
	if pull.Issue.Open() {
		return conflict("The pull request is still open.")
	}
	repo, g, err := s.headPlace(ctx, p, pull)
	if err != nil {
		return err
	}
	if pull.HeadRef == repo.DefaultBranch {
		return conflict("This is the default branch of " + repo.FullName() + ".")
	}
	at, err := tip(ctx, g, pull.HeadRef)
	if errors.Is(err, git.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if at != git.OID(pull.HeadSHA) {
		return conflict("The branch has commits that are not part of this pull request, so it stays.")
	}
	used, _, err := pulldb.List(ctx, s.DB.Repo(p.Repo.ID), pulldb.Filter{State: model.StateOpen, HeadRepo: repo.ID, HeadRef: pull.HeadRef, Limit: 1})
	if err != nil {
		return err
	}
	if len(used) > 0 {
		return conflict("The branch is part of #" + num(used[0].Number) + ", which is open.")
	}
	err = s.Repos.MoveRefs(ctx, g, &repos.Push{Repo: repo, Actor: p.Viewer, Via: "web",
		Updates: []git.RefUpdate{{Name: git.BranchPrefix + pull.HeadRef, Old: at, New: g.ZeroOID()}}})
	if err != nil {
		return err
	}
	return s.note(ctx, p, pull, model.ItemHeadDeleted)
}

// RestoreBranch makes the head's branch anew, where it was last.
func (s *Service) RestoreBranch(ctx context.Context, p Place, number int64) error {
	pull, err := s.Find(ctx, p, number)
	if err != nil {
		return err
	}
	repo, g, err := s.headPlace(ctx, p, pull)
	if err != nil {
		return err
	}
	if err := s.bring(ctx, g, repo, p.Repo, git.OID(pull.HeadSHA)); err != nil {
		return err
	}
	err = s.Repos.MoveRefs(ctx, g, &repos.Push{Repo: repo, Actor: p.Viewer, Via: "web",
		Updates: []git.RefUpdate{{Name: git.BranchPrefix + pull.HeadRef, Old: g.ZeroOID(), New: git.OID(pull.HeadSHA)}}})
	if errors.Is(err, git.ErrRefChanged) || errors.Is(err, git.ErrRefConflict) {
		return conflict("A branch of this name exists.")
	}
	if err != nil {
		return err
	}
	return s.note(ctx, p, pull, model.ItemHeadRestored)
}

// note adds a line about the head's branch to the timeline.
func (s *Service) note(ctx context.Context, p Place, pull *model.Pull, kind string) error {
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		return threaddb.Append(ctx, tx, &model.TimelineItem{Number: pull.Number, Kind: kind, AuthorID: p.Viewer.ID(),
			Data: model.TimelineData{From: pull.HeadRef, Commit: pull.HeadSHA}})
	})
}

// UpdateBranch brings the base's newest commits into the head's branch, by a
// merge or a rebase, and is the new head. expected, when set, is what the head
// must be.
func (s *Service) UpdateBranch(ctx context.Context, p Place, number int64, expected, method string) (string, error) {
	pull, err := s.Find(ctx, p, number)
	if err != nil {
		return "", err
	}
	if !pull.Issue.Open() {
		return "", conflict("The pull request is closed.")
	}
	repo, hg, err := s.headPlace(ctx, p, pull)
	if err != nil {
		return "", err
	}
	leave, err := s.lanes.enter(ctx, lane{repo.ID, pull.HeadRef})
	if err != nil {
		return "", err
	}
	defer leave()
	head, err := tip(ctx, hg, pull.HeadRef)
	if err != nil {
		return "", conflict("The branch does not exist any more.")
	}
	if expected != "" && git.OID(expected) != head {
		return "", fault.Field("expected_head_sha", "expected head sha didn’t match current head ref.")
	}
	g, err := s.open(ctx, p.Repo)
	if err != nil {
		return "", err
	}
	base, err := tip(ctx, g, pull.BaseRef)
	if err != nil {
		return "", conflict("The base branch does not exist any more.")
	}
	if err := s.bring(ctx, hg, repo, p.Repo, base); err != nil {
		return "", err
	}
	made, err := s.updated(ctx, p, hg, pull, base, head, method)
	if err != nil {
		return "", err
	}
	return made.String(), s.Repos.MoveRefs(ctx, hg, &repos.Push{Repo: repo, Actor: p.Viewer, Via: "web",
		Updates: []git.RefUpdate{{Name: git.BranchPrefix + pull.HeadRef, Old: head, New: made}}})
}

func (s *Service) updated(ctx context.Context, p Place, g *git.Repository, pull *model.Pull, base, head git.OID, method string) (git.OID, error) {
	if in, err := g.IsAncestor(ctx, base, head); err != nil {
		return "", err
	} else if in {
		return "", conflict("The branch is up to date with " + git.Display(pull.BaseRef) + ".")
	}
	who := s.Repos.Person(p.Viewer)
	if method == model.MethodRebase {
		return replay(ctx, g, base, head, who, s.Repos.Sign)
	}
	res, err := g.MergeTree(ctx, head, base, git.MergeOptions{})
	if errors.Is(err, git.ErrUnrelated) {
		return "", &NotMergeable{"The two branches have no common history."}
	}
	if err != nil {
		return "", err
	}
	if !res.Clean() {
		return "", &NotMergeable{"There are conflicts with " + git.Display(pull.BaseRef) + " in " + conflictNames(res) + "."}
	}
	return g.CommitTree(ctx, git.CommitSpec{Tree: res.Tree, Parents: []git.OID{head, base}, Author: who, Committer: who,
		Message: "Merge branch '" + pull.BaseRef + "' into " + pull.HeadRef + "\n", Sign: s.Repos.Sign})
}
