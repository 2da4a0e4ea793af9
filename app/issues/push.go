package issues

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// maxPushed bounds how many commits of one push are read for what they say.
const maxPushed = 250

// OnPush does what the messages of pushed commits say: those that name an
// issue leave a line in it, and those on the default branch that say that they
// close it do
// (https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue).
// It may be called twice for an event.
func (s *Service) OnPush(ctx context.Context, e *model.Event) error {
	var push repos.Pushed
	if err := json.Unmarshal(e.Data, &push); err != nil {
		return fmt.Errorf("event %s: %w", e.EventID, err)
	}
	repo, role, err := repodb.FindID(ctx, s.DB.Directory(), e.RepoID, e.ActorID)
	if errors.Is(err, db.ErrNotFound) || err == nil && repo.Settings.NoIssues {
		return nil
	}
	if err != nil {
		return err
	}
	counts, err := s.DB.Repo(repo.ID).Counts(ctx)
	if err != nil {
		return err
	}
	if counts["open_issues"]+counts["closed_issues"]+counts["open_pulls"]+counts["closed_pulls"] == 0 {
		return nil
	}
	actor, err := accountdb.ByID(ctx, s.DB.Directory(), e.ActorID)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p := threads.Place{Viewer: &model.Viewer{Account: actor}, Repo: repo, Role: role}
	for _, ref := range push.Refs {
		branch, ok := strings.CutPrefix(ref.Ref, git.BranchPrefix)
		if !ok || ref.Deleted {
			continue
		}
		if err := s.pushed(ctx, p, ref, branch == repo.DefaultBranch); err != nil {
			return err
		}
	}
	return nil
}

// said is what one commit says about threads.
type said struct {
	commit       string
	refs, closes []int64
}

// pushed reads the commits that a branch got.
func (s *Service) pushed(ctx context.Context, p threads.Place, ref repos.PushedRef, closes bool) error {
	g, err := s.Repos.Open(ctx, p.Repo)
	if err != nil {
		return err
	}
	old, okOld := git.ParseOID(ref.Before)
	now, okNow := git.ParseOID(ref.After)
	if !okOld || !okNow {
		return nil
	}
	opts := git.LogOptions{Limit: maxPushed}
	if !old.IsZero() {
		opts.Exclude = []git.OID{old}
	} else if !closes {
		if base, err := g.ResolveRef(ctx, p.Repo.DefaultBranch); err == nil {
			opts.Exclude = []git.OID{base.Commit}
		}
	}
	log, err := g.Log(ctx, now, opts)
	if err != nil {
		// A later push may have removed them.
		return absent(err)
	}
	var list []said
	for _, c := range slices.Backward(log) {
		refs, done := s.Threads.Named(p.Repo, c.Text())
		if len(refs) == 0 {
			continue
		}
		if !closes {
			done = nil
		}
		list = append(list, said{c.OID.String(), refs, done})
	}
	if len(list) == 0 {
		return nil
	}
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		for _, c := range list {
			if err := s.obey(ctx, tx, p, c); err != nil {
				return fmt.Errorf("commit %s: %w", c.commit, err)
			}
		}
		return nil
	})
}

// obey does what one commit says, once.
func (s *Service) obey(ctx context.Context, tx *db.RepoTx, p threads.Place, c said) error {
	known, err := threaddb.Known(ctx, tx.Repo, c.refs)
	if err != nil {
		return err
	}
	before, err := threaddb.CommitRefs(ctx, tx.Repo, c.commit, c.refs)
	if err != nil {
		return err
	}
	var lines []*model.TimelineItem
	for _, n := range c.refs {
		i := known[n]
		if i == nil || slices.Contains(before, n) {
			continue
		}
		if slices.Contains(c.closes, n) && i.Kind == model.KindIssue && i.Open() {
			closed := model.StateClosed
			if _, err := s.Threads.UpdateTx(ctx, tx, p, n, threads.Change{State: &closed, Commit: c.commit}); err != nil {
				return err
			}
			continue
		}
		lines = append(lines, &model.TimelineItem{Number: n, Kind: model.ItemReferenced, AuthorID: p.Viewer.ID(), Data: model.TimelineData{Commit: c.commit}})
	}
	return threaddb.Append(ctx, tx, lines...)
}
