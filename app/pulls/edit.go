package pulls

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// EditInput changes a pull request; fields that are nil stay as they are.
type EditInput struct {
	Title           *string `json:"title"`
	Body            *string `json:"body"`
	State           *string `json:"state"`
	Base            *string `json:"base"`
	MaintainerEdits *bool   `json:"maintainer_can_modify"`
	// Version is that of the texts which the editor started from.
	Version *int `json:"-"`
}

// Edit changes a pull request.
func (s *Service) Edit(ctx context.Context, p Place, number int64, in EditInput) (*model.Pull, error) {
	if in.State != nil && *in.State == model.StateOpen {
		if err := s.mayReopen(ctx, p, number); err != nil {
			return nil, err
		}
	}
	if in.Base != nil {
		if err := s.SetBase(ctx, p, number, *in.Base); err != nil {
			return nil, err
		}
	}
	c := threads.Change{Title: in.Title, Body: in.Body, State: in.State, Version: in.Version}
	if c.Title != nil || c.Body != nil || c.State != nil {
		if _, err := s.Threads.Update(ctx, p, number, c); err != nil {
			return nil, err
		}
	}
	if in.State != nil && *in.State == model.StateOpen {
		if err := s.caughtUp(ctx, p, number); err != nil {
			return nil, err
		}
	}
	if in.MaintainerEdits != nil {
		if err := s.setMaintainerEdits(ctx, p, number, *in.MaintainerEdits); err != nil {
			return nil, err
		}
	}
	return s.Find(ctx, p, number)
}

// closeTx closes a pull request without merging it.
func (s *Service) closeTx(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull) (*threads.Result, error) {
	closed := model.StateClosed
	if pull.AutoMerge != nil {
		pull.AutoMerge = nil
		if err := pulldb.Update(ctx, tx, pull, "auto_merge"); err != nil {
			return nil, err
		}
	}
	return s.Threads.UpdateTx(ctx, tx, p, pull.Number, threads.Change{State: &closed})
}

// mayReopen says why a closed pull request cannot be opened again.
func (s *Service) mayReopen(ctx context.Context, p Place, number int64) error {
	pull, err := s.Find(ctx, p, number)
	if err != nil || pull.Issue.Open() {
		return err
	}
	if pull.Merged() {
		return conflict("This pull request is merged, so it cannot be opened again. Revert it instead.")
	}
	head, err := s.headTip(ctx, pull)
	if err != nil {
		return err
	}
	if head == "" {
		return conflict("The branch " + git.Display(pull.HeadLabel) + " does not exist. Restore it first.")
	}
	same, _, err := pulldb.List(ctx, s.DB.Repo(p.Repo.ID), pulldb.Filter{State: model.StateOpen, BaseRef: pull.BaseRef,
		HeadRepo: pull.HeadRepo, HeadRef: pull.HeadRef, Limit: 1})
	if err == nil && len(same) > 0 {
		err = conflict("Another pull request proposes this branch already: #" + num(same[0].Number) + ".")
	}
	return err
}

// caughtUp takes up what was pushed while the pull request was closed.
func (s *Service) caughtUp(ctx context.Context, p Place, number int64) error {
	pull, err := s.Find(ctx, p, number)
	if err != nil {
		return err
	}
	return s.catchUpOne(ctx, p, pull)
}

// mayChange says whether the viewer may change the pull request beyond its
// conversation: its author, and people with write access.
func mayChange(p Place, pull *model.Pull) error {
	if p.MayEdit(pull.Issue.AuthorID) {
		return nil
	}
	return denied("Only the author and people with write access may do this.")
}

// change runs f on an open pull request under the lock of its state.
func (s *Service) change(ctx context.Context, p Place, number int64, f func(ctx context.Context, tx *db.RepoTx, pull *model.Pull) error) error {
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		pull, err := find(ctx, tx.Repo, p, number)
		if err != nil {
			return err
		}
		if err := mayChange(p, pull); err != nil {
			return err
		}
		return f(ctx, tx, pull)
	})
}

// SetDraft makes a pull request a draft, or ready for review.
func (s *Service) SetDraft(ctx context.Context, p Place, number int64, draft bool) error {
	if err := s.setDraft(ctx, p, number, draft); err != nil || draft {
		return err
	}
	pull, err := s.Find(ctx, p, number)
	if err != nil {
		return err
	}
	g, err := s.open(ctx, p.Repo)
	if err != nil {
		return err
	}
	return s.askOwners(ctx, p, g, pull)
}

func (s *Service) setDraft(ctx context.Context, p Place, number int64, draft bool) error {
	return s.change(ctx, p, number, func(ctx context.Context, tx *db.RepoTx, pull *model.Pull) error {
		if pull.Issue.Draft == draft {
			return nil
		}
		if !pull.Issue.Open() {
			return conflict("This pull request is closed.")
		}
		pull.Issue.Draft = draft
		if err := threaddb.Update(ctx, tx, pull.Issue, "draft"); err != nil {
			return err
		}
		kind, what := model.ItemReady, "ready_for_review"
		if draft {
			kind, what = model.ItemDrafted, "converted_to_draft"
		}
		if err := threaddb.Append(ctx, tx, &model.TimelineItem{Number: number, Kind: kind, AuthorID: p.Viewer.ID()}); err != nil {
			return err
		}
		return emit(ctx, tx, p, EventOf(pull, what))
	})
}

func (s *Service) setMaintainerEdits(ctx context.Context, p Place, number int64, on bool) error {
	return s.change(ctx, p, number, func(ctx context.Context, tx *db.RepoTx, pull *model.Pull) error {
		if pull.MaintainerEdits == on {
			return nil
		}
		pull.MaintainerEdits = on
		return pulldb.Update(ctx, tx, pull, "maintainer_edits")
	})
}

// SetBase changes the branch that a pull request is to be merged into.
func (s *Service) SetBase(ctx context.Context, p Place, number int64, base string) error {
	pull, err := s.Find(ctx, p, number)
	if err != nil {
		return err
	}
	if base == pull.BaseRef {
		return nil
	}
	if err := mayChange(p, pull); err != nil {
		return err
	}
	if !pull.Issue.Open() {
		return conflict("This pull request is closed, so its base stays.")
	}
	if !utf8.ValidString(base) || base == "" || pull.HeadRepo == p.Repo.ID && base == pull.HeadRef {
		return fault.Field("base", "Choose another branch than the one that is to be merged.")
	}
	g, err := s.open(ctx, p.Repo)
	if err != nil {
		return err
	}
	if _, err := tip(ctx, g, base); errors.Is(err, git.ErrNotFound) {
		return fault.Field("base", "There is no branch “"+git.Display(base)+"”.")
	}
	return s.rebase(ctx, p, g, pull, base, model.ItemBaseChanged)
}

// rebase gives a pull request another base; line is the kind of its line in
// the timeline.
func (s *Service) rebase(ctx context.Context, p Place, g *git.Repository, pull *model.Pull, base, line string) error {
	at, err := tip(ctx, g, base)
	if err != nil {
		return err
	}
	f, err := survey(ctx, g, at, git.OID(pull.HeadSHA), "", "")
	if err != nil {
		return err
	}
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		now, err := pulldb.Find(ctx, tx.Repo, pull.Number)
		if err != nil {
			return err
		}
		if now.HeadSHA != pull.HeadSHA || !now.Issue.Open() {
			return conflict("The pull request has changed meanwhile. Try again.")
		}
		if now.BaseRef == base {
			return nil
		}
		old := now.BaseRef
		now.BaseRef = base
		columns := f.into(now)
		if now.Round() > 0 {
			now.Rounds[now.Round()-1].Base = now.MergeBase
		}
		if err := pulldb.Update(ctx, tx, now, append(columns, "base_ref", "rounds")...); err != nil {
			return err
		}
		item := &model.TimelineItem{Number: pull.Number, Kind: line, AuthorID: p.Viewer.ID(), Data: model.TimelineData{From: old, To: base}}
		if err := threaddb.Append(ctx, tx, item); err != nil {
			return err
		}
		if err := threaddb.Update(ctx, tx, now.Issue); err != nil {
			return err
		}
		e := EventOf(now, "base_changed")
		e.OldBase = old
		return emit(ctx, tx, p, e)
	})
}
