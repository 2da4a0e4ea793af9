package reviews

import (
	"context"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
	"github.com/gitfor/gitfor/db/reviewdb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// What a review can say.
const (
	EventComment = "comment"
	EventApprove = "approve"
	EventChanges = "request_changes"
)

// SubmitInput is a review as it is given.
type SubmitInput struct {
	// Event is one of the Event constants; "" keeps the review pending.
	Event string `form:"event"`
	Body  string `form:"body"`
	// SHA is the head that was looked at; "" is the newest.
	SHA string `form:"sha"`
	// Comments are further comments on the changes.
	Comments []CommentInput `form:"-"`
	// Alone refuses when the viewer has a pending review already, as GitHub's
	// API does.
	Alone bool `form:"-"`
	// ID is the pending review that is meant, 0 for whichever there is.
	ID int64 `form:"-"`
}

func stateOf(event string) (string, error) {
	switch strings.ToLower(event) {
	case "":
		return model.ReviewPending, nil
	case EventComment:
		return model.ReviewCommented, nil
	case EventApprove:
		return model.ReviewApproved, nil
	case EventChanges:
		return model.ReviewChanges, nil
	}
	return "", fault.Field("event", "The event is APPROVE, REQUEST_CHANGES or COMMENT.")
}

// Submit gives a review with the comments that the viewer has collected.
func (s *Service) Submit(ctx context.Context, p Place, number int64, in SubmitInput) (*model.Review, error) {
	state, err := stateOf(in.Event)
	if err != nil {
		return nil, err
	}
	body, problem := threads.BodyOf(in.Body)
	if problem != "" {
		return nil, fault.Field("body", problem)
	}
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
	at, err := spotOf(ctx, g, pull, in.SHA)
	if err != nil {
		return nil, err
	}
	var comments []*model.ReviewComment
	for _, c := range in.Comments {
		if c.SHA == "" {
			c.SHA = in.SHA
		}
		made, err := s.anchored(ctx, g, pull, c)
		if err != nil {
			return nil, err
		}
		comments = append(comments, made)
	}
	teams, err := s.Pulls.TeamsOf(ctx, pull, p.Viewer.ID())
	if err != nil {
		return nil, err
	}
	var r *model.Review
	err = s.change(ctx, p, number, func(ctx context.Context, tx *db.RepoTx, pull *model.Pull) error {
		r, err = s.submitTx(ctx, tx, p, pull, submission{in, state, body, at, comments, teams})
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, s.Follow(ctx, p, g, pull)
}

type submission struct {
	in       SubmitInput
	state    string
	body     string
	at       spot
	comments []*model.ReviewComment
	teams    []int64
}

func (s *Service) submitTx(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull, sub submission) (*model.Review, error) {
	if pull.Issue.AuthorID == p.Viewer.ID() && (sub.state == model.ReviewApproved || sub.state == model.ReviewChanges) {
		word := "approve"
		if sub.state == model.ReviewChanges {
			word = "request changes on"
		}
		return nil, fault.Field("event", "Can not "+word+" your own pull request.")
	}
	r, err := reviewdb.Pending(ctx, tx.Repo, pull.Number, p.Viewer.ID())
	switch {
	case fault.Is(err, fault.NotFound):
		if sub.in.ID != 0 {
			return nil, db.ErrNotFound
		}
		r = &model.Review{Number: pull.Number, AuthorID: p.Viewer.ID(), State: model.ReviewPending, SHA: sub.at.head.String(), Round: sub.at.round, Body: sub.body}
		if err := reviewdb.Insert(ctx, tx, r); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case sub.in.Alone:
		return nil, fault.Field("user", "User can only have one pending review per pull request.")
	case sub.in.ID != 0 && sub.in.ID != r.ID:
		return nil, db.ErrNotFound
	}
	for _, c := range sub.comments {
		c.ID, c.Thread = 0, 0
		if err := s.write(ctx, tx, p, pull, r, c); err != nil {
			return nil, err
		}
	}
	if sub.state == model.ReviewPending {
		return r, nil
	}
	mine, err := pendingOf(ctx, tx.Repo, pull.Number, r)
	if err != nil {
		return nil, err
	}
	if len(mine) == 0 && strings.TrimSpace(sub.body) == "" && sub.state != model.ReviewApproved {
		return nil, fault.Field("body", "Write what you think, or comment on a line first.")
	}
	return r, s.submitted(ctx, tx, p, pull, r, sub, mine)
}

// pendingOf are the comments that were collected for a review.
func pendingOf(ctx context.Context, repo db.Repo, number int64, r *model.Review) ([]*model.ReviewComment, error) {
	all, err := reviewdb.Comments(ctx, repo, number, r.AuthorID)
	return slices.DeleteFunc(all, func(c *model.ReviewComment) bool { return !c.Pending || c.ReviewID != r.ID }), err
}

// submitted makes a pending review public.
func (s *Service) submitted(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull, r *model.Review, sub submission, mine []*model.ReviewComment) error {
	now := tx.Now()
	r.State, r.Body, r.SubmittedAt, r.Counts = sub.state, sub.body, &now, p.Role.AtLeast(model.RoleWrite)
	r.SHA, r.Round = sub.at.head.String(), sub.at.round
	if err := reviewdb.Update(ctx, tx, r, "state", "body", "submitted_at", "counts", "sha", "round"); err != nil {
		return err
	}
	if _, err := reviewdb.Publish(ctx, tx, r.ID); err != nil {
		return err
	}
	if err := s.answered(ctx, tx, p, pull, sub.teams); err != nil {
		return err
	}
	if err := s.line(ctx, tx, p, pull, r); err != nil {
		return err
	}
	if err := s.Threads.ReferTx(ctx, tx, p, pull.Issue, r.Body); err != nil {
		return err
	}
	e := eventOf(pull, r, "submitted")
	e.Body, e.Mentions, e.Comments = &r.Body, s.Threads.Mentions(p.Repo, r.Body), len(mine)
	if err := emit(ctx, tx, p, e); err != nil {
		return err
	}
	for _, c := range mine {
		c.Pending = false
		if err := s.Threads.ReferTx(ctx, tx, p, pull.Issue, c.Body); err != nil {
			return err
		}
		if err := s.told(ctx, tx, p, pull, c, "created"); err != nil {
			return err
		}
	}
	return nil
}

// answered takes the viewer, and the teams that they are in, off those who
// were asked for a review.
func (s *Service) answered(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull, teams []int64) error {
	people, asked := len(pull.ReviewerIDs), len(pull.TeamIDs)
	pull.ReviewerIDs = slices.DeleteFunc(pull.ReviewerIDs, func(id int64) bool { return id == p.Viewer.ID() })
	pull.TeamIDs = slices.DeleteFunc(pull.TeamIDs, func(id int64) bool { return slices.Contains(teams, id) })
	if len(pull.ReviewerIDs) == people && len(pull.TeamIDs) == asked {
		return nil
	}
	return pulldb.Update(ctx, tx, pull, "reviewer_ids", "team_ids")
}

// Draft keeps the text of a review that is being written.
func (s *Service) Draft(ctx context.Context, p Place, number int64, text string) error {
	body, problem := threads.BodyOf(text)
	if problem != "" {
		return fault.Field("body", problem)
	}
	return s.change(ctx, p, number, func(ctx context.Context, tx *db.RepoTx, pull *model.Pull) error {
		if body == "" {
			old, err := reviewdb.Pending(ctx, tx.Repo, number, p.Viewer.ID())
			if fault.Is(err, fault.NotFound) || err == nil && old.Body == "" {
				return nil
			}
			if err != nil {
				return err
			}
		}
		r, err := s.reviewFor(ctx, tx, p, pull, pull.HeadSHA, pull.Round(), true)
		if err != nil || r.Body == body {
			return err
		}
		r.Body = body
		return reviewdb.Update(ctx, tx, r, "body")
	})
}

// Discard throws the viewer's pending review away, with its comments; id 0 is
// whichever there is.
func (s *Service) Discard(ctx context.Context, p Place, number, id int64) (*model.Review, error) {
	var r *model.Review
	err := s.change(ctx, p, number, func(ctx context.Context, tx *db.RepoTx, _ *model.Pull) (err error) {
		if r, err = reviewdb.Pending(ctx, tx.Repo, number, p.Viewer.ID()); err != nil {
			return err
		}
		if id != 0 && r.ID != id {
			return db.ErrNotFound
		}
		return reviewdb.Delete(ctx, tx, r)
	})
	return r, err
}

// FindReview is a review of a pull request that the viewer may see.
func (s *Service) FindReview(ctx context.Context, p Place, number, id int64) (*model.Review, error) {
	r, err := reviewdb.Find(ctx, s.DB.Repo(p.Repo.ID), number, id)
	if err == nil && r.State == model.ReviewPending && r.AuthorID != p.Viewer.ID() {
		return nil, db.ErrNotFound
	}
	return r, err
}

// EditReview changes a review's text.
func (s *Service) EditReview(ctx context.Context, p Place, number, id int64, text string) (*model.Review, error) {
	body, problem := threads.BodyOf(text)
	if problem != "" {
		return nil, fault.Field("body", problem)
	}
	var r *model.Review
	err := s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		pull, err := s.Pulls.FindIn(ctx, tx.Repo, p, number)
		if err != nil {
			return err
		}
		if r, err = reviewdb.Find(ctx, tx.Repo, number, id); err != nil {
			return err
		}
		if r.State == model.ReviewPending && r.AuthorID != p.Viewer.ID() {
			return db.ErrNotFound
		}
		if !p.MayEdit(r.AuthorID) {
			return denied("Only the author and people with write access may edit this.")
		}
		if r.Body == body {
			return nil
		}
		r.Body = body
		if err := reviewdb.Update(ctx, tx, r, "body"); err != nil || r.State == model.ReviewPending {
			return err
		}
		if err := s.Threads.ReferTx(ctx, tx, p, pull.Issue, body); err != nil {
			return err
		}
		if err := threaddb.SetReviewBody(ctx, tx, number, r.ID, body); err != nil {
			return err
		}
		e := eventOf(pull, r, "edited")
		e.Body, e.Mentions = &r.Body, s.Threads.Mentions(p.Repo, body)
		return emit(ctx, tx, p, e)
	})
	return r, err
}

// Dismiss takes away the weight of somebody's vote, for a reason.
func (s *Service) Dismiss(ctx context.Context, p Place, number, id int64, reason string) (*model.Review, error) {
	reason, problem := threads.BodyOf(strings.TrimSpace(reason))
	if problem == "" && reason == "" {
		problem = "Say why it is dismissed."
	}
	if problem != "" {
		return nil, fault.Field("message", problem)
	}
	var r *model.Review
	err := s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		pull, err := s.Pulls.FindIn(ctx, tx.Repo, p, number)
		if err != nil {
			return err
		}
		if r, err = reviewdb.Find(ctx, tx.Repo, number, id); err != nil {
			return err
		}
		switch {
		case r.State == model.ReviewPending:
			return db.ErrNotFound
		case !p.Role.AtLeast(model.RoleWrite) || p.Repo.Archived():
			return denied("Only people with write access may dismiss reviews.")
		case !r.Decides():
			return fault.Field("review", "Can not dismiss a review that neither approves nor asks for changes.")
		}
		return s.dismissTx(ctx, tx, p, pull, r, reason)
	})
	return r, err
}

func (s *Service) dismissTx(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull, r *model.Review, reason string) error {
	r.State, r.Dismissal = model.ReviewDismissed, reason
	if err := reviewdb.Update(ctx, tx, r, "state", "dismissal"); err != nil {
		return err
	}
	item := &model.TimelineItem{Number: pull.Number, Kind: model.ItemDismissed, AuthorID: p.Viewer.ID(),
		Data: model.TimelineData{Review: r.ID, Assignee: r.AuthorID, Reason: reason}}
	if err := threaddb.Append(ctx, tx, item); err != nil {
		return err
	}
	if err := threaddb.Update(ctx, tx, pull.Issue); err != nil {
		return err
	}
	e := eventOf(pull, r, "dismissed")
	e.Reason = reason
	return emit(ctx, tx, p, e)
}
