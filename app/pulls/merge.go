package pulls

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
)

// MergeInput says how to merge.
type MergeInput struct {
	// Method is one of model.MergeMethods; "" is the first that is allowed.
	Method string `form:"method" json:"merge_method"`
	// SHA, when set, is what the head must be.
	SHA string `form:"sha" json:"sha"`
	// Title and Message replace those that are suggested.
	Title   string `form:"title" json:"commit_title"`
	Message string `form:"message" json:"commit_message"`
	// MessageSet says that an empty Message is meant.
	MessageSet bool `form:"message_set" json:"-"`
	// Bypass merges in spite of rules that the viewer is exempt from.
	Bypass bool `form:"bypass" json:"bypass_rules"`
	// DeleteBranch deletes the head's branch afterwards, where the viewer may.
	DeleteBranch bool `form:"delete_branch" json:"-"`
}

const (
	// mergeTries bounds how often a merge starts anew because another process
	// moved the base.
	mergeTries = 8
	// headWait is how long a merge waits until a push to the head that is
	// under way is known.
	headWait = 2 * time.Second
	// mergingAge is how old a decided merge is whose process must have died.
	mergingAge = time.Minute
)

// Merge merges a pull request and publishes pull.merged. Another head than
// in.SHA, and a pull request that cannot be merged, are faults of kind
// Conflict; the latter wraps a *NotMergeable.
func (s *Service) Merge(ctx context.Context, p Place, number int64, in MergeInput) (*model.Pull, error) {
	if !p.Role.AtLeast(model.RoleWrite) || p.Repo.Archived() {
		return nil, denied("Only people with write access to " + p.Repo.FullName() + " may merge.")
	}
	pull, err := s.Find(ctx, p, number)
	if err != nil {
		return nil, err
	}
	if in.Method, err = allowed(p.Repo, in.Method); err != nil {
		return nil, err
	}
	leave, err := s.lanes.enter(ctx, lane{p.Repo.ID, pull.BaseRef})
	if err != nil {
		return nil, err
	}
	defer leave()
	for try := 1; ; try++ {
		pull, err = s.mergeOnce(ctx, p, number, in)
		if !retriable(err) || try == mergeTries {
			break
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Duration(rand.IntN(20*try)) * time.Millisecond): //nolint:gosec // no secret
		}
	}
	if retriable(err) {
		return nil, conflict("The base branch moves too fast just now. Try again.")
	}
	if err != nil {
		return nil, err
	}
	if in.DeleteBranch || p.Repo.Settings.DeleteOnMerge {
		if err := s.DeleteBranch(ctx, p, number); err != nil && !fault.Is(err, fault.Forbidden) && !fault.Is(err, fault.Conflict) {
			s.Log.WarnContext(ctx, "merged branch not deleted", "pull", number, "err", err)
		}
	}
	return pull, nil
}

// Methods are the ways to merge that a repository allows, its default first.
func Methods(repo *model.Repo) []string {
	var out []string
	for _, m := range model.MergeMethods() {
		set := repo.Settings
		if m == model.MethodMerge && set.NoMerge || m == model.MethodSquash && set.NoSquash ||
			m == model.MethodRebase && set.NoRebase || m == model.MethodFastForward && !set.FastForward {
			continue
		}
		out = append(out, m)
	}
	return out
}

func allowed(repo *model.Repo, method string) (string, error) {
	methods := Methods(repo)
	if method == "" && len(methods) > 0 {
		return methods[0], nil
	}
	for _, m := range methods {
		if m == method {
			return m, nil
		}
	}
	for _, m := range model.MergeMethods() {
		if m == method {
			return "", &NotMergeable{"The method " + method + " is not allowed in this repository."}
		}
	}
	return "", fault.Field("merge_method", "The method is merge, squash, rebase or fast-forward.")
}

func (s *Service) mergeOnce(ctx context.Context, p Place, number int64, in MergeInput) (*model.Pull, error) {
	g, err := s.open(ctx, p.Repo)
	if err != nil {
		return nil, err
	}
	pull, err := s.settled(ctx, p, number)
	if err != nil {
		return nil, err
	}
	if err := mayStart(pull, in); err != nil {
		return nil, err
	}
	pl, err := s.plan(ctx, p, g, pull, in)
	if err != nil {
		return nil, err
	}
	made, err := pl.build(ctx)
	if err != nil {
		return nil, err
	}
	facts, err := s.gather(ctx, g, pull)
	if err != nil {
		return nil, err
	}
	decided := &model.Merging{SHA: made.String(), Head: pull.HeadSHA, Base: pl.base.String(), Method: in.Method, By: p.Viewer.ID()}
	if err := s.decide(ctx, p, number, in, decided, facts); err != nil {
		return nil, err
	}
	err = s.Repos.MoveRefs(ctx, g, &repos.Push{Repo: p.Repo, Actor: p.Viewer, Via: "merge", Judged: true,
		Updates: []git.RefUpdate{{Name: git.BranchPrefix + pull.BaseRef, Old: pl.base, New: made}}})
	if err != nil {
		if undo := s.undecide(context.WithoutCancel(ctx), p, number, decided); undo != nil {
			s.Log.WarnContext(ctx, "decided merge left behind", "pull", number, "err", undo)
		}
		return nil, err
	}
	return s.finish(context.WithoutCancel(ctx), p, number, decided)
}

// mayStart says what forbids a merge before any work is done.
func mayStart(pull *model.Pull, in MergeInput) error {
	switch {
	case pull.Merged():
		return &NotMergeable{"This pull request is merged already."}
	case !pull.Issue.Open():
		return &NotMergeable{"This pull request is closed. Reopen it first."}
	case pull.Issue.Draft:
		return &NotMergeable{"This pull request is still a draft. Its author or someone with write access can mark it as ready."}
	case in.SHA != "" && in.SHA != pull.HeadSHA:
		return conflict("Head branch was modified. Review and try the merge again.")
	}
	return nil
}

func (s *Service) plan(ctx context.Context, p Place, g *git.Repository, pull *model.Pull, in MergeInput) (*plan, error) {
	base, err := tip(ctx, g, pull.BaseRef)
	if errors.Is(err, git.ErrNotFound) {
		return nil, &NotMergeable{"The branch " + git.Display(pull.BaseRef) + " no longer exists. Choose another base."}
	}
	if err != nil {
		return nil, err
	}
	pl := &plan{git: g, pull: pull, base: base, method: in.Method, unrelated: p.Repo.Settings.AllowUnrelated}
	pl.committer, pl.sign = s.Repos.Person(p.Viewer), s.Repos.Sign
	if in.Method == model.MethodSquash {
		if pl.author, err = s.authorOf(ctx, pull, pl.committer); err != nil {
			return nil, err
		}
	} else {
		pl.author = pl.committer
	}
	if pl.message, err = s.Suggested(ctx, g, pull, in.Method); err != nil {
		return nil, err
	}
	if in.Title != "" {
		pl.message.Title = in.Title
	}
	if in.Message != "" || in.MessageSet {
		pl.message.Body = in.Message
	}
	return pl, nil
}

// settled is a pull request whose record has caught up with its head's
// branch: a push that is under way is waited for.
func (s *Service) settled(ctx context.Context, p Place, number int64) (*model.Pull, error) {
	ctx, cancel := context.WithTimeout(ctx, headWait)
	defer cancel()
	for {
		pull, err := s.Find(ctx, p, number)
		if err != nil || pull.Merged() || !pull.Issue.Open() {
			return pull, err
		}
		now, err := s.headTip(ctx, pull)
		if err != nil || now == "" || now == git.OID(pull.HeadSHA) {
			return pull, err
		}
		select {
		case <-ctx.Done():
			return nil, conflict("Head branch was modified. Review and try the merge again.")
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// decide writes down, under the lock of the repository's state, that the
// merge happens: the head is the one that was built on, and all that is asked
// of it is met.
func (s *Service) decide(ctx context.Context, p Place, number int64, in MergeInput, m *model.Merging, facts *gitFacts) error {
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		pull, err := find(ctx, tx.Repo, p, number)
		if err != nil {
			return err
		}
		if err := mayStart(pull, in); err != nil {
			return err
		}
		if pull.HeadSHA != m.Head {
			return conflict("Head branch was modified. Review and try the merge again.")
		}
		if pull.Merging != nil && tx.Now().Sub(pull.Merging.At) < mergingAge {
			return conflict("This pull request is being merged just now.")
		}
		needs, err := s.needsOf(ctx, tx.Repo, p, pull, m.Method, facts)
		if err != nil {
			return err
		}
		if err := needs.refusal(in.Bypass); err != nil {
			return err
		}
		m.At = tx.Now()
		pull.Merging = m
		return pulldb.Update(ctx, tx, pull, "merging")
	})
}

// undecide takes a decision back whose refs did not move.
func (s *Service) undecide(ctx context.Context, p Place, number int64, m *model.Merging) error {
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		pull, err := find(ctx, tx.Repo, p, number)
		if err != nil || pull.Merging == nil || pull.Merging.SHA != m.SHA {
			return err
		}
		pull.Merging = nil
		return pulldb.Update(ctx, tx, pull, "merging")
	})
}
