// Package reviews is what people say of a pull request's changes: reviews,
// which vote or only comment, and conversations about lines, files and the
// whole.
//
//	reviews.go   Service, who may review
//	anchor.go    what a comment is about: a line, a range, a file, in a round
//	follow.go    where that is in a later round
//	comment.go   Comment, Reply, Edit, Delete, React
//	submit.go    Submit, drafts, Dismiss
//	resolve.go   Resolve
//	viewed.go    which files somebody has looked at
//	http*.go     pages and parts below /{owner}/{repo}/pull/{number}
//	api*.go      GitHub's REST endpoints
//
// Tables: reviews and review_comments of the domain "pulls" of a repository's
// scope. Events: review.*, and comment.* for comments on changes. Views:
// views/reviewview.
package reviews

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Deps are what reviews are built on.
type Deps struct {
	DB      *db.DB
	Gate    *perms.Gate
	Repos   *repos.Service
	Threads *threads.Service
	Pulls   *pulls.Service
	Log     *slog.Logger
}

// Service is reviews.
type Service struct{ Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps} }

// Place is who acts, where, and with which role.
type Place = threads.Place

func (s *Service) open(ctx context.Context, repo *model.Repo) (*git.Repository, error) {
	return s.Repos.Open(ctx, repo)
}

func denied(sentence string) error { return fault.New(fault.Forbidden, sentence) }

func num(n int64) string { return strconv.FormatInt(n, 10) }

// mayReview says why the viewer may not review: whoever may write in the
// conversation may.
func mayReview(p Place, pull *model.Pull) error {
	switch {
	case p.MayComment(pull.Issue):
		return nil
	case !p.Viewer.SignedIn():
		return fault.New(fault.Unauthorized, "Sign in first.")
	case pull.Issue.Locked != "":
		return denied("This conversation is locked; only people with write access may review.")
	}
	return denied("You may not review here.")
}

// change runs f on a pull request that the viewer may review, under the lock
// of the repository's state.
func (s *Service) change(ctx context.Context, p Place, number int64, f func(ctx context.Context, tx *db.RepoTx, pull *model.Pull) error) error {
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		pull, err := s.Pulls.FindIn(ctx, tx.Repo, p, number)
		if err != nil {
			return err
		}
		if err := mayReview(p, pull); err != nil {
			return err
		}
		return f(ctx, tx, pull)
	})
}
