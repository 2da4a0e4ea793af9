package threads

import (
	"context"
	"slices"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

// Post names a post: the first of a thread, or a comment.
type Post struct {
	Number  int64
	Comment int64 // 0 for the first
}

// maxReactions bounds how many reactions one post has.
const maxReactions = 2_000

// React adds the viewer's reaction to a post; made is false when it was there
// already.
func (s *Service) React(ctx context.Context, p Place, post Post, what string) (r model.Reaction, made bool, err error) {
	if !slices.Contains(model.Reactions(), what) {
		return r, false, fault.Field("content", "This reaction does not exist.")
	}
	err = s.reactions(ctx, p, post, func(ctx context.Context, tx *db.RepoTx, list []model.Reaction) ([]model.Reaction, error) {
		made = false
		if at := slices.IndexFunc(list, func(r model.Reaction) bool { return r.By == p.Viewer.ID() && r.Content == what }); at >= 0 {
			r = list[at]
			return list, nil
		}
		if len(list) >= maxReactions {
			return nil, fault.New(fault.Conflict, "This post has as many reactions as it can hold.")
		}
		id, err := tx.NextID(ctx)
		r = model.Reaction{ID: id, By: p.Viewer.ID(), Content: what, CreatedAt: tx.Now()}
		made = true
		return append(list, r), err
	})
	return r, made, err
}

// Unreact takes the viewer's reaction away: that with this id, or that with
// this content.
func (s *Service) Unreact(ctx context.Context, p Place, post Post, id int64, what string) error {
	return s.reactions(ctx, p, post, func(_ context.Context, _ *db.RepoTx, list []model.Reaction) ([]model.Reaction, error) {
		at := slices.IndexFunc(list, func(r model.Reaction) bool {
			return r.By == p.Viewer.ID() && (id != 0 && r.ID == id || id == 0 && r.Content == what)
		})
		if at < 0 {
			return nil, db.ErrNotFound
		}
		return slices.Delete(slices.Clone(list), at, at+1), nil
	})
}

func (s *Service) reactions(ctx context.Context, p Place, post Post, f func(ctx context.Context, tx *db.RepoTx, list []model.Reaction) ([]model.Reaction, error)) error {
	return s.db.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		var it *model.TimelineItem
		var i *model.Issue
		var err error
		if post.Comment != 0 {
			it, i, err = item(ctx, tx.Repo, p, post.Comment)
		} else {
			i, err = find(ctx, tx.Repo, p, post.Number)
		}
		if err != nil {
			return err
		}
		if !p.MayComment(i) {
			return denied("You may not react here.")
		}
		list := &i.Reactions
		if it != nil {
			list = &it.Reactions
		}
		before := len(*list)
		if *list, err = f(ctx, tx, *list); err != nil || len(*list) == before {
			return err
		}
		return threaddb.SetReactions(ctx, tx, i.Number, post.Comment, *list)
	})
}
