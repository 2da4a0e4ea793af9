package pulls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// intoPrefix begins the names of the counters by which a repository knows
// into which others its branches are proposed.
const intoPrefix = "pulls_into_"

// listen notes in the head's repository that its pushes concern another one.
func (s *Service) listen(ctx context.Context, head, base *model.Repo) error {
	if head.ID == base.ID {
		return nil
	}
	return s.DB.InRepo(ctx, head.ID, func(_ context.Context, tx *db.RepoTx) error {
		tx.SetCount(intoPrefix+strconv.FormatInt(base.ID, 10), 1)
		return nil
	})
}

// OnPush brings the pull requests up to date whose branches a push moved: new
// rounds, merged by the push, branches that are gone. It may be called twice
// for an event.
func (s *Service) OnPush(ctx context.Context, e *model.Event) error {
	var push repos.Pushed
	if err := json.Unmarshal(e.Data, &push); err != nil {
		return fmt.Errorf("event %s: %w", e.EventID, err)
	}
	from, err := repodb.ByIDAny(ctx, s.DB.Directory(), e.RepoID)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	branches, any := branchesOf(&push)
	if !any {
		return nil
	}
	counts, err := s.DB.Repo(from.ID).Counts(ctx)
	if err != nil {
		return err
	}
	if err := s.catchUp(ctx, from, from, branches, e.ActorID); err != nil {
		return err
	}
	for name := range counts {
		rest, ok := strings.CutPrefix(name, intoPrefix)
		id, err := strconv.ParseInt(rest, 10, 64)
		if !ok || err != nil {
			continue
		}
		into, err := repodb.ByIDAny(ctx, s.DB.Directory(), id)
		if errors.Is(err, db.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := s.catchUp(ctx, into, from, branches, e.ActorID); err != nil {
			return err
		}
	}
	return nil
}

// branchesOf are the branches that a push moved; none with true are too many
// to name, or named in a way that cannot be read back.
func branchesOf(push *repos.Pushed) (names []string, any bool) {
	for _, r := range push.Refs {
		name, ok := strings.CutPrefix(r.Ref, git.BranchPrefix)
		switch {
		case strings.Contains(r.Ref, `\`):
			return nil, true
		case ok:
			names = append(names, name)
		}
	}
	if push.RefsTotal > len(push.Refs) {
		return nil, true
	}
	return names, len(names) > 0
}

func (s *Service) catchUp(ctx context.Context, into, from *model.Repo, branches []string, actor int64) error {
	list, err := pulldb.Touching(ctx, s.DB.Repo(into.ID), from.ID, branches)
	if err != nil {
		return err
	}
	p := Place{Viewer: &model.Viewer{Account: &model.Account{ID: actor}}, Repo: into, Role: model.RoleWrite}
	var failed []error
	for _, pull := range list {
		if err := s.catchUpOne(ctx, p, pull); err != nil && !errors.Is(err, db.ErrNotFound) {
			failed = append(failed, fmt.Errorf("pull request %d: %w", pull.Number, err))
		}
	}
	return errors.Join(failed...)
}

// headTip is where the head's branch is now, "" when it is gone.
func (s *Service) headTip(ctx context.Context, pull *model.Pull) (git.OID, error) {
	if pull.HeadRepo == 0 {
		return "", nil
	}
	g, err := s.Repos.Git.Open(ctx, pull.HeadRepo)
	if errors.Is(err, git.ErrNoRepository) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	oid, err := tip(ctx, g, pull.HeadRef)
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	return oid, err
}

// catchUpOne brings an open pull request up to date with its branches.
func (s *Service) catchUpOne(ctx context.Context, p Place, pull *model.Pull) error {
	g, err := s.open(ctx, p.Repo)
	if err != nil {
		return err
	}
	base, err := s.baseTip(ctx, g, pull)
	if err != nil {
		return err
	}
	head, err := s.headTip(ctx, pull)
	if err != nil {
		return err
	}
	if m := pull.Merging; m != nil && base != "" {
		// A merge from here whose process may have died.
		if in, err := g.IsAncestor(ctx, git.OID(m.SHA), base); err != nil || in {
			if err == nil {
				_, err = s.finish(ctx, as(p, m.By), pull.Number, m)
			}
			return err
		}
	}
	if head != "" && head != git.OID(pull.HeadSHA) {
		if err := s.newRound(ctx, p, g, pull, base, head); err != nil {
			return err
		}
	}
	if base == "" {
		return s.baseGone(ctx, p, pull)
	}
	if done, err := s.mergedByPush(ctx, p, g, pull, base); done || err != nil {
		return err
	}
	if head == "" {
		return s.headGone(ctx, p, pull)
	}
	return nil
}

// as is the place with another person, who could write there.
func as(p Place, account int64) Place {
	if account != p.Viewer.ID() {
		p.Viewer = &model.Viewer{Account: &model.Account{ID: account}}
	}
	return p
}

// mergedByPush closes a pull request as merged whose commits the base has got
// since it was last looked at. A head that was set back to what the base had
// is no merge.
func (s *Service) mergedByPush(ctx context.Context, p Place, g *git.Repository, pull *model.Pull, base git.OID) (bool, error) {
	head, before := git.OID(pull.HeadSHA), git.OID(pull.BaseSHA)
	if base == before {
		return false, nil
	}
	in, err := g.IsAncestor(ctx, head, base)
	if err != nil || !in {
		return false, err
	}
	if old, err := g.IsAncestor(ctx, head, before); err == nil && old {
		return false, nil
	}
	_, err = s.finish(ctx, p, pull.Number, &model.Merging{SHA: base.String(), Head: pull.HeadSHA,
		Method: model.MethodPushed, By: p.Viewer.ID()})
	return true, err
}

// newRound notes that the head's branch moved.
func (s *Service) newRound(ctx context.Context, p Place, g *git.Repository, pull *model.Pull, base, head git.OID) error {
	from, err := repodb.ByIDAny(ctx, s.DB.Directory(), pull.HeadRepo)
	if err != nil {
		return err
	}
	if err := s.bring(ctx, g, p.Repo, from, head); err != nil {
		return err
	}
	// What the base was is what decides later whether a push merged it.
	known := git.OID(pull.BaseSHA)
	if base == "" {
		base = known
	}
	f, err := survey(ctx, g, base, head, "", "")
	if err != nil {
		return err
	}
	kept, err := g.IsAncestor(ctx, git.OID(pull.HeadSHA), head)
	if err != nil {
		return err
	}
	err = s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		now, err := pulldb.Find(ctx, tx.Repo, pull.Number)
		if err != nil || !now.Issue.Open() || now.HeadSHA == head.String() {
			return err
		}
		before := now.HeadSHA
		columns := f.into(now)
		now.BaseSHA = known.String()
		now.Rounds = append(now.Rounds, model.Round{Head: now.HeadSHA, Base: now.MergeBase, At: tx.Now(), By: p.Viewer.ID(), Forced: !kept})
		if err := pulldb.Update(ctx, tx, now, append(columns, "rounds")...); err != nil {
			return err
		}
		line := &model.TimelineItem{Number: pull.Number, Kind: model.ItemPushedCommits, AuthorID: p.Viewer.ID(),
			Data: model.TimelineData{From: before, To: now.HeadSHA}}
		if !kept {
			line.Kind = model.ItemForcePushed
		}
		if err := threaddb.Append(ctx, tx, line); err != nil {
			return err
		}
		if err := threaddb.Update(ctx, tx, now.Issue); err != nil {
			return err
		}
		if a := now.AutoMerge; a != nil && a.By != p.Viewer.ID() {
			if err := s.dropAuto(ctx, tx, p, now, "New commits were pushed."); err != nil {
				return err
			}
		}
		e := EventOf(now, "synchronized")
		e.Before, e.Forced = before, !kept
		*pull = *now
		return emit(ctx, tx, p, e)
	})
	if err != nil {
		return err
	}
	if err := keep(ctx, g, pull); err != nil || s.Reviews == nil {
		return err
	}
	if err := s.askOwners(ctx, p, g, pull); err != nil {
		return err
	}
	return s.Reviews.Round(ctx, p, g, pull)
}

// headGone closes a pull request whose branch was deleted.
func (s *Service) headGone(ctx context.Context, p Place, pull *model.Pull) error {
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		now, err := pulldb.Find(ctx, tx.Repo, pull.Number)
		if err != nil || !now.Issue.Open() {
			return err
		}
		line := &model.TimelineItem{Number: pull.Number, Kind: model.ItemHeadDeleted, AuthorID: p.Viewer.ID(),
			Data: model.TimelineData{From: now.HeadRef, Commit: now.HeadSHA}}
		if err := threaddb.Append(ctx, tx, line); err != nil {
			return err
		}
		_, err = s.closeTx(ctx, tx, p, now)
		return err
	})
}

// baseGone gives a pull request whose base was deleted after it was merged
// the base of that one, as the next in a stack.
func (s *Service) baseGone(ctx context.Context, p Place, pull *model.Pull) error {
	g, err := s.open(ctx, p.Repo)
	if err != nil {
		return err
	}
	next := pull.BaseRef
	for range 10 {
		parent, err := pulldb.LastMergedFrom(ctx, s.DB.Repo(p.Repo.ID), next)
		if errors.Is(err, db.ErrNotFound) {
			return s.lost(ctx, p, pull)
		}
		if err != nil {
			return err
		}
		next = parent.BaseRef
		if _, err := tip(ctx, g, next); err == nil {
			return s.rebase(ctx, p, g, pull, next, model.ItemBaseRetargeted)
		}
	}
	return s.lost(ctx, p, pull)
}

// lost notes that the base does not exist.
func (s *Service) lost(ctx context.Context, p Place, pull *model.Pull) error {
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		now, err := pulldb.Find(ctx, tx.Repo, pull.Number)
		if err != nil || now.Mergeable == model.MergeGone {
			return err
		}
		now.Mergeable, now.Conflicts = model.MergeGone, nil
		return pulldb.Update(ctx, tx, now, "mergeable", "conflicts")
	})
}
