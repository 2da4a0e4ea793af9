package reviews

import (
	"context"
	"slices"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/reviewdb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// Comment writes a comment on a change. A pending one is seen by its author
// only until their review is submitted; others are a review of their own.
func (s *Service) Comment(ctx context.Context, p Place, number int64, in CommentInput, pending bool) (*model.ReviewComment, error) {
	pull, err := s.Pulls.Find(ctx, p, number)
	if err != nil {
		return nil, err
	}
	if err := mayReview(p, pull); err != nil {
		return nil, err
	}
	g, err := s.open(ctx, p.Repo)
	if err != nil {
		return nil, err
	}
	c, err := s.anchored(ctx, g, pull, in)
	if err != nil {
		return nil, err
	}
	err = s.change(ctx, p, number, func(ctx context.Context, tx *db.RepoTx, pull *model.Pull) error {
		r, err := s.reviewFor(ctx, tx, p, pull, c.SHA, c.Round, pending)
		if err != nil {
			return err
		}
		c.ID, c.Thread = 0, 0
		return s.write(ctx, tx, p, pull, r, c)
	})
	if err != nil {
		return nil, err
	}
	if c.Place == nil {
		if err := s.Follow(ctx, p, g, pull); err != nil {
			return nil, err
		}
		return reviewdb.Comment(ctx, s.DB.Repo(p.Repo.ID), c.ID)
	}
	return c, nil
}

// reviewFor is the review that a new comment belongs to: the author's pending
// one, which is begun where there is none, or one of its own.
func (s *Service) reviewFor(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull, sha string, round int, pending bool) (*model.Review, error) {
	r := &model.Review{Number: pull.Number, AuthorID: p.Viewer.ID(), SHA: sha, Round: round}
	if !pending {
		now := tx.Now()
		r.State, r.SubmittedAt, r.Counts = model.ReviewCommented, &now, p.Role.AtLeast(model.RoleWrite)
		if err := reviewdb.Insert(ctx, tx, r); err != nil {
			return nil, err
		}
		return r, s.line(ctx, tx, p, pull, r)
	}
	old, err := reviewdb.Pending(ctx, tx.Repo, pull.Number, p.Viewer.ID())
	if err == nil {
		return old, nil
	}
	if !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	r.State = model.ReviewPending
	return r, reviewdb.Insert(ctx, tx, r)
}

// line notes a review that was submitted in the timeline.
func (s *Service) line(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull, r *model.Review) error {
	item := &model.TimelineItem{Number: pull.Number, Kind: model.ItemReviewed, AuthorID: p.Viewer.ID(), Body: r.Body,
		Data: model.TimelineData{Review: r.ID, Reason: r.State, Commit: r.SHA}}
	if err := threaddb.Append(ctx, tx, item); err != nil {
		return err
	}
	return threaddb.Update(ctx, tx, pull.Issue)
}

func (s *Service) write(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull, r *model.Review, c *model.ReviewComment) error {
	c.AuthorID, c.ReviewID, c.Pending = p.Viewer.ID(), r.ID, r.State == model.ReviewPending
	if err := reviewdb.InsertComment(ctx, tx, c); err != nil || c.Pending {
		return err
	}
	if err := s.Threads.ReferTx(ctx, tx, p, pull.Issue, c.Body); err != nil {
		return err
	}
	return s.told(ctx, tx, p, pull, c, "created")
}

// Reply answers in the conversation that a comment belongs to.
func (s *Service) Reply(ctx context.Context, p Place, number, to int64, text string, pending bool) (*model.ReviewComment, error) {
	body, err := threads.CommentBody(text)
	if err != nil {
		return nil, err
	}
	var c *model.ReviewComment
	err = s.change(ctx, p, number, func(ctx context.Context, tx *db.RepoTx, pull *model.Pull) error {
		first, err := s.seen(ctx, tx.Repo, p, number, to)
		if err != nil {
			return err
		}
		if first.Pending {
			pending = true
		}
		c = &model.ReviewComment{Number: number, Thread: first.Thread, AuthorID: p.Viewer.ID(), Body: body, Path: first.Path, Side: first.Side,
			Line: first.Line, StartLine: first.StartLine, StartSide: first.StartSide, SHA: first.SHA, BaseSHA: first.BaseSHA,
			Round: first.Round, Hunk: first.Hunk, ResolvedBy: first.ResolvedBy, ResolvedAt: first.ResolvedAt}
		r := &model.Review{}
		if pending {
			if r, err = s.reviewFor(ctx, tx, p, pull, pull.HeadSHA, pull.Round(), true); err != nil {
				return err
			}
		}
		if err := s.write(ctx, tx, p, pull, r, c); err != nil {
			return err
		}
		return threaddb.Update(ctx, tx, pull.Issue)
	})
	return c, err
}

// seen is a comment on a change of this pull request that the viewer may see.
func (s *Service) seen(ctx context.Context, repo db.Repo, p Place, number, id int64) (*model.ReviewComment, error) {
	c, err := reviewdb.Comment(ctx, repo, id)
	if err != nil {
		return nil, err
	}
	if number != 0 && c.Number != number || c.Pending && c.AuthorID != p.Viewer.ID() {
		return nil, db.ErrNotFound
	}
	return c, nil
}

// FindComment is a comment on a change that the viewer may see, and its pull
// request.
func (s *Service) FindComment(ctx context.Context, p Place, id int64) (*model.ReviewComment, *model.Pull, error) {
	return s.findComment(ctx, s.DB.Repo(p.Repo.ID), p, id)
}

func (s *Service) findComment(ctx context.Context, repo db.Repo, p Place, id int64) (*model.ReviewComment, *model.Pull, error) {
	c, err := s.seen(ctx, repo, p, 0, id)
	if err != nil {
		return nil, nil, err
	}
	pull, err := s.Pulls.FindIn(ctx, repo, p, c.Number)
	return c, pull, err
}

// EditComment changes a comment's text. version is that which the editor
// started from, nil to write whatever is there; a fault of kind Conflict wraps
// a *threads.Conflict.
func (s *Service) EditComment(ctx context.Context, p Place, id int64, text string, version *int) (*model.ReviewComment, error) {
	body, err := threads.CommentBody(text)
	if err != nil {
		return nil, err
	}
	var c *model.ReviewComment
	err = s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		var pull *model.Pull
		if c, pull, err = s.findComment(ctx, tx.Repo, p, id); err != nil {
			return err
		}
		if !p.MayEdit(c.AuthorID) {
			return denied("Only the author and people with write access may edit this.")
		}
		if version != nil && *version != c.Version && c.Body != body {
			return fault.Wrap(fault.Conflict, "Somebody else has changed this comment since you began to edit it. Nothing of yours was saved yet.",
				&threads.Conflict{Body: c.Body, Version: c.Version})
		}
		if c.Body == body {
			return nil
		}
		old := model.Edit{By: p.Viewer.ID(), Version: c.Version, Body: c.Body}
		if err := threaddb.KeepEdit(ctx, tx, c.Number, c.ID, old); err != nil {
			return err
		}
		now := tx.Now()
		c.Body, c.Version, c.EditedAt = body, c.Version+1, &now
		if err := reviewdb.UpdateComment(ctx, tx, c, "body", "version", "edited_at"); err != nil || c.Pending {
			return err
		}
		if err := s.Threads.ReferTx(ctx, tx, p, pull.Issue, body); err != nil {
			return err
		}
		return s.told(ctx, tx, p, pull, c, "edited")
	})
	return c, err
}

// DeleteComment removes a comment and is its pull request.
func (s *Service) DeleteComment(ctx context.Context, p Place, id int64) (*model.Pull, error) {
	var pull *model.Pull
	err := s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		c, found, err := s.findComment(ctx, tx.Repo, p, id)
		if err != nil {
			return err
		}
		if pull = found; !p.MayEdit(c.AuthorID) {
			return denied("Only the author and people with write access may delete this.")
		}
		if err := reviewdb.DeleteComment(ctx, tx, c); err != nil || c.Pending {
			return err
		}
		return s.told(ctx, tx, p, pull, c, "deleted")
	})
	return pull, err
}

// maxReactions bounds how many reactions one comment has.
const maxReactions = 2_000

// React adds the viewer's reaction to a comment; made is false when it was
// there already.
func (s *Service) React(ctx context.Context, p Place, id int64, what string) (r model.Reaction, made bool, err error) {
	if !slices.Contains(model.Reactions(), what) {
		return r, false, fault.Field("content", "This reaction does not exist.")
	}
	err = s.reactions(ctx, p, id, func(ctx context.Context, tx *db.RepoTx, list []model.Reaction) ([]model.Reaction, error) {
		made = false
		if at := slices.IndexFunc(list, func(r model.Reaction) bool { return r.By == p.Viewer.ID() && r.Content == what }); at >= 0 {
			r = list[at]
			return list, nil
		}
		if len(list) >= maxReactions {
			return nil, fault.New(fault.Conflict, "This comment has as many reactions as it can hold.")
		}
		next, err := tx.NextID(ctx)
		r, made = model.Reaction{ID: next, By: p.Viewer.ID(), Content: what, CreatedAt: tx.Now()}, true
		return append(list, r), err
	})
	return r, made, err
}

// Unreact takes the viewer's reaction away: that with this id, or that with
// this content.
func (s *Service) Unreact(ctx context.Context, p Place, id, reaction int64, what string) error {
	return s.reactions(ctx, p, id, func(_ context.Context, _ *db.RepoTx, list []model.Reaction) ([]model.Reaction, error) {
		at := slices.IndexFunc(list, func(r model.Reaction) bool {
			return r.By == p.Viewer.ID() && (reaction != 0 && r.ID == reaction || reaction == 0 && r.Content == what)
		})
		if at < 0 {
			return nil, db.ErrNotFound
		}
		return slices.Delete(slices.Clone(list), at, at+1), nil
	})
}

func (s *Service) reactions(ctx context.Context, p Place, id int64, f func(ctx context.Context, tx *db.RepoTx, list []model.Reaction) ([]model.Reaction, error)) error {
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		c, pull, err := s.findComment(ctx, tx.Repo, p, id)
		if err != nil {
			return err
		}
		if !p.MayComment(pull.Issue) {
			return denied("You may not react here.")
		}
		list, err := f(ctx, tx, c.Reactions)
		if err != nil || len(list) == len(c.Reactions) {
			return err
		}
		c.Reactions = list
		return reviewdb.UpdateComment(ctx, tx, c, "reactions")
	})
}
