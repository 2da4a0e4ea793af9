package threads

import (
	"context"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

// CommentInput is a comment as it is written.
type CommentInput struct {
	Body string `json:"body" form:"body"`
}

// Comment adds a comment to a thread.
func (s *Service) Comment(ctx context.Context, p Place, number int64, in CommentInput) (*Result, error) {
	body, err := commentBody(in.Body)
	if err != nil {
		return nil, err
	}
	return s.Update(ctx, p, number, Change{Comment: body})
}

// CommentBody is a comment's text as it is kept, or a fault that says what is
// wrong with it.
func CommentBody(s string) (string, error) { return commentBody(s) }

func commentBody(s string) (string, error) {
	body, problem := BodyOf(s)
	if problem == "" && blank(body) {
		problem = "Write something first."
	}
	if problem != "" {
		return "", fault.Field("body", problem)
	}
	return body, nil
}

// newComment makes a comment that is not written yet.
func (s *Service) newComment(ctx context.Context, tx *db.RepoTx, p Place, i *model.Issue, body string) (*model.TimelineItem, content, error) {
	if !p.MayComment(i) {
		if i.Locked != "" {
			return nil, content{}, denied("This conversation is locked; only people with write access may comment.")
		}
		return nil, content{}, denied("You may not comment here.")
	}
	id, err := tx.NextID(ctx)
	if err != nil {
		return nil, content{}, err
	}
	text := s.read(p.Repo, body)
	return &model.TimelineItem{ID: id, Number: i.Number, Kind: model.ItemComment, AuthorID: p.Viewer.ID(), Body: body, Refs: text.refs}, text, nil
}

func commentEvent(i *model.Issue, item *model.TimelineItem, what string, mentions []string) Event {
	e := EventOf(i, what)
	e.Type = "comment." + what
	e.CommentID, e.CommentAuthorID, e.Body, e.Mentions = item.ID, item.AuthorID, &item.Body, mentions
	return e
}

// EditInput is a comment as it shall be. Version is that which the editor
// started from, nil to write whatever is there.
type EditInput struct {
	Body    string `json:"body" form:"body"`
	Version *int   `json:"-" form:"version"`
}

// EditComment changes a comment's text. A fault of kind Conflict wraps a
// *Conflict.
func (s *Service) EditComment(ctx context.Context, p Place, id int64, in EditInput) (*Result, error) {
	body, err := commentBody(in.Body)
	if err != nil {
		return nil, err
	}
	return s.rewrite(ctx, p, id, func(it *model.TimelineItem) (string, error) {
		if in.Version != nil && *in.Version != it.Version && it.Body != body {
			return "", fault.Wrap(fault.Conflict, "Somebody else has changed this comment since you began to edit it. Nothing of yours was saved yet.",
				&Conflict{Body: it.Body, Version: it.Version})
		}
		return body, nil
	})
}

// rewrite replaces a comment's text by what f makes of it.
func (s *Service) rewrite(ctx context.Context, p Place, id int64, f func(it *model.TimelineItem) (string, error)) (*Result, error) {
	var r *Result
	err := s.db.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		it, i, err := item(ctx, tx.Repo, p, id)
		if err != nil {
			return err
		}
		r = &Result{Issue: i, Comment: it}
		switch {
		case !it.IsComment():
			return db.ErrNotFound
		case !p.MayEdit(it.AuthorID):
			return denied("Only the author and people with write access may edit this.")
		}
		body, err := f(it)
		if err != nil || body == it.Body {
			return err
		}
		old := it.Body
		if err := threaddb.KeepEdit(ctx, tx, i.Number, it.ID, model.Edit{By: p.Viewer.ID(), Version: it.Version, Body: old}); err != nil {
			return err
		}
		now, text := tx.Now(), s.read(p.Repo, body)
		it.Body, it.Version, it.EditedAt, it.Refs = body, it.Version+1, &now, text.refs
		if err := threaddb.UpdateItem(ctx, tx, it, "body", "version", "edited_at", "refs"); err != nil {
			return err
		}
		if err := s.refer(ctx, tx, p, i, it.ID, text); err != nil {
			return err
		}
		e := commentEvent(i, it, "edited", text.mentions)
		e.OldBody = &old
		return emit(ctx, tx, p, e)
	})
	return r, err
}

// DeleteComment removes a comment.
func (s *Service) DeleteComment(ctx context.Context, p Place, id int64) (*model.Issue, error) {
	var i *model.Issue
	err := s.db.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		it, issue, err := item(ctx, tx.Repo, p, id)
		if err != nil {
			return err
		}
		i = issue
		switch {
		case !it.IsComment():
			return db.ErrNotFound
		case !p.MayEdit(it.AuthorID):
			return denied("Only the author and people with write access may delete this.")
		}
		if err := threaddb.DeleteItem(ctx, tx, id); err != nil {
			return err
		}
		i.Comments = max(0, i.Comments-1)
		if err := threaddb.Update(ctx, tx, i, "comments"); err != nil {
			return err
		}
		return emit(ctx, tx, p, commentEvent(i, it, "deleted", nil))
	})
	return i, err
}

// Hide folds a comment away, for a reason such as "spam" or "outdated"; ""
// shows it again.
func (s *Service) Hide(ctx context.Context, p Place, id int64, reason string) (*Result, error) {
	var r *Result
	err := s.db.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		it, i, err := item(ctx, tx.Repo, p, id)
		if err != nil {
			return err
		}
		r = &Result{Issue: i, Comment: it}
		switch {
		case !it.IsComment():
			return db.ErrNotFound
		case !p.MayTriage():
			return denied("Comments are hidden by people with the triage role or more.")
		}
		it.Data.Hidden = reason
		return threaddb.UpdateItem(ctx, tx, it, "data")
	})
	return r, err
}
