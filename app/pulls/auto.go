package pulls

import (
	"context"
	"errors"
	"fmt"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// AutoMerge has a pull request merged by itself, by the viewer, once nothing
// is missing for it.
func (s *Service) AutoMerge(ctx context.Context, p Place, number int64, in MergeInput) (*model.Pull, error) {
	if !p.Role.AtLeast(model.RoleWrite) || p.Repo.Archived() {
		return nil, denied("Only people with write access to " + p.Repo.FullName() + " may merge.")
	}
	method, err := allowed(p.Repo, in.Method)
	if err != nil {
		return nil, err
	}
	var pull *model.Pull
	err = s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) (err error) {
		if pull, err = find(ctx, tx.Repo, p, number); err != nil {
			return err
		}
		switch {
		case pull.Merged() || !pull.Issue.Open():
			return conflict("This pull request is not open.")
		case in.SHA != "" && in.SHA != pull.HeadSHA:
			return conflict("Head branch was modified. Review and try the merge again.")
		}
		pull.AutoMerge = &model.AutoMerge{Method: method, Title: in.Title, Message: in.Message, By: p.Viewer.ID(), At: tx.Now()}
		return s.noteAuto(ctx, tx, p, pull, model.ItemAutoMergeOn, "auto_merge_enabled", "")
	})
	if err != nil {
		return nil, err
	}
	// It may be that nothing is missing any more.
	err = s.tryAuto(ctx, p.Repo, pull)
	if err != nil {
		return nil, err
	}
	return s.Find(ctx, p, number)
}

// CancelAutoMerge takes back that a pull request is merged by itself.
func (s *Service) CancelAutoMerge(ctx context.Context, p Place, number int64) error {
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		pull, err := find(ctx, tx.Repo, p, number)
		if err != nil || pull.AutoMerge == nil {
			return err
		}
		if !p.Role.AtLeast(model.RoleWrite) && pull.Issue.AuthorID != p.Viewer.ID() {
			return denied("Only the author and people with write access may do this.")
		}
		return s.dropAuto(ctx, tx, p, pull, "")
	})
}

// dropAuto takes an automatic merge back, for a reason that people are shown.
func (s *Service) dropAuto(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull, reason string) error {
	if pull.AutoMerge == nil {
		return nil
	}
	pull.AutoMerge = nil
	return s.noteAuto(ctx, tx, p, pull, model.ItemAutoMergeOff, "auto_merge_disabled", reason)
}

func (s *Service) noteAuto(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull, kind, what, reason string) error {
	if err := pulldb.Update(ctx, tx, pull, "auto_merge"); err != nil {
		return err
	}
	item := &model.TimelineItem{Number: pull.Number, Kind: kind, AuthorID: p.Viewer.ID(), Data: model.TimelineData{Reason: reason}}
	if err := threaddb.Append(ctx, tx, item); err != nil {
		return err
	}
	if err := threaddb.Update(ctx, tx, pull.Issue); err != nil {
		return err
	}
	e := EventOf(pull, what)
	e.Reason = reason
	return emit(ctx, tx, p, e)
}

// WaitsFor are the types of events after which a pull request that waits to be
// merged may be ready.
func WaitsFor() []string {
	return []string{"status.*", "check.*", "review.*", "pull.ready_for_review", "pull.base_changed", "pull.synchronized",
		"comment.created", "git.push", "protection.*"}
}

// OnReady merges the pull requests of an event's repository that wait and for
// which nothing is missing any more.
func (s *Service) OnReady(ctx context.Context, e *model.Event) error {
	if e.RepoID == 0 {
		return nil
	}
	list, err := pulldb.Waiting(ctx, s.DB.Repo(e.RepoID))
	if err != nil || len(list) == 0 {
		return err
	}
	repo, err := repodb.ByIDAny(ctx, s.DB.Directory(), e.RepoID)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var failed []error
	for _, pull := range list {
		if err := s.tryAuto(ctx, repo, pull); err != nil {
			failed = append(failed, fmt.Errorf("pull request %d: %w", pull.Number, err))
		}
	}
	return errors.Join(failed...)
}

// tryAuto merges a pull request that waits, if nothing is missing for it.
func (s *Service) tryAuto(ctx context.Context, repo *model.Repo, pull *model.Pull) error {
	a := pull.AutoMerge
	if a == nil {
		return nil
	}
	account, err := accountdb.ByID(ctx, s.DB.Directory(), a.By)
	if err != nil {
		return ignoreGone(err)
	}
	user, err := accountdb.User(ctx, s.DB.Directory(), a.By)
	if err != nil {
		return ignoreGone(err)
	}
	_, role, err := repodb.FindID(ctx, s.DB.Directory(), repo.ID, a.By)
	if err != nil {
		return ignoreGone(err)
	}
	p := Place{Viewer: &model.Viewer{Account: account, User: user}, Repo: repo, Role: role}
	_, err = s.Merge(ctx, p, pull.Number, MergeInput{Method: a.Method, Title: a.Title, Message: a.Message})
	switch f := fault.From(err); {
	case err == nil:
		return nil
	case f.Kind == fault.Conflict, f.Kind == fault.Forbidden, f.Kind == fault.NotFound, f.Kind == fault.Invalid:
		return nil // something is missing still
	}
	return err
}

func ignoreGone(err error) error {
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}
