package reviews

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/reviewdb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// MayResolve says whether the viewer may take a conversation for finished: who
// began it, the pull request's author, and people who triage.
func MayResolve(p Place, pull *model.Pull, first *model.ReviewComment) bool {
	if !p.Viewer.SignedIn() || p.Repo.Archived() {
		return false
	}
	me := p.Viewer.ID()
	return p.MayTriage() || me == pull.Issue.AuthorID || me == first.AuthorID
}

// Resolve takes the conversation of a comment for finished, or opens it again.
func (s *Service) Resolve(ctx context.Context, p Place, number, id int64, on bool) (*model.ReviewComment, error) {
	var first *model.ReviewComment
	err := s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		c, err := s.seen(ctx, tx.Repo, p, number, id)
		if err != nil {
			return err
		}
		if first, err = s.seen(ctx, tx.Repo, p, number, c.Thread); err != nil {
			return err
		}
		pull, err := s.Pulls.FindIn(ctx, tx.Repo, p, first.Number)
		if err != nil {
			return err
		}
		if !MayResolve(p, pull, first) {
			return denied("Only the author of the pull request, who began the conversation, and people with triage access may resolve it.")
		}
		if first.Resolved() == on {
			return nil
		}
		by, what := int64(0), "thread_unresolved"
		first.ResolvedBy, first.ResolvedAt = 0, nil
		if on {
			now := tx.Now()
			by, what = p.Viewer.ID(), "thread_resolved"
			first.ResolvedBy, first.ResolvedAt = by, &now
		}
		if err := reviewdb.Resolve(ctx, tx, first.Thread, by); err != nil {
			return err
		}
		if err := threaddb.Update(ctx, tx, pull.Issue); err != nil {
			return err
		}
		e := eventOf(pull, nil, what)
		e.ThreadID, e.ReviewID = first.Thread, first.ReviewID
		return emit(ctx, tx, p, e)
	})
	return first, err
}
