package pulls

import (
	"context"
	"slices"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// finish notes that a pull request was merged by m, whose refs have moved. It
// may be called twice.
func (s *Service) finish(ctx context.Context, p Place, number int64, m *model.Merging) (*model.Pull, error) {
	closes, err := s.closing(ctx, p, number)
	if err != nil {
		return nil, err
	}
	var pull *model.Pull
	err = s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) (err error) {
		if pull, err = pulldb.Find(ctx, tx.Repo, number); err != nil || pull.Merged() {
			return err
		}
		if err := s.merged(ctx, tx, p, pull, m); err != nil {
			return err
		}
		if pull.BaseRef != p.Repo.DefaultBranch {
			return nil
		}
		return s.closeIssues(ctx, tx, p, closes, m.SHA)
	})
	return pull, err
}

// merged writes the end of a pull request.
func (s *Service) merged(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull, m *model.Merging) error {
	now, i := tx.Now(), pull.Issue
	was := i.State
	pull.Merging, pull.AutoMerge, pull.MergedAt, pull.MergedBy, pull.MergeSHA, pull.MergeMethod = nil, nil, &now, m.By, m.SHA, m.Method
	if err := pulldb.Update(ctx, tx, pull, "merging", "auto_merge", "merged_at", "merged_by", "merge_sha", "merge_method"); err != nil {
		return err
	}
	i.State, i.StateReason, i.ClosedBy, i.ClosedAt = model.StateClosed, model.ReasonMerged, m.By, &now
	if err := threaddb.Update(ctx, tx, i, "state", "state_reason", "closed_by", "closed_at"); err != nil {
		return err
	}
	if was == model.StateOpen {
		tx.Count("open_pulls", -1)
		tx.Count("closed_pulls", 1)
	}
	if err := threaddb.CountMilestones(ctx, tx, i.MilestoneID); err != nil {
		return err
	}
	line := &model.TimelineItem{Number: pull.Number, Kind: model.ItemMerged, AuthorID: m.By,
		Data: model.TimelineData{Commit: m.SHA, To: pull.BaseRef, Reason: m.Method}}
	if err := threaddb.Append(ctx, tx, line); err != nil {
		return err
	}
	e := EventOf(pull, "merged")
	e.Method = m.Method
	return emit(ctx, tx, p, e)
}

// closing are the issues that the texts of a pull request and of its commits
// say are closed by it.
func (s *Service) closing(ctx context.Context, p Place, number int64) ([]int64, error) {
	pull, err := s.Find(ctx, p, number)
	if err != nil {
		return nil, err
	}
	if pull.BaseRef != p.Repo.DefaultBranch {
		return nil, nil
	}
	g, err := s.open(ctx, p.Repo)
	if err != nil {
		return nil, err
	}
	log, err := commitsOf(ctx, g, pull, maxMessages)
	if err != nil {
		return nil, err
	}
	return s.closesOf(p, pull, log), nil
}

func (s *Service) closesOf(p Place, pull *model.Pull, log []*git.Commit) []int64 {
	found := s.Threads.Closes(p.Repo, pull.Issue.Body)
	for _, c := range log {
		found = append(found, s.Threads.Closes(p.Repo, c.Text())...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// closeIssues closes those of the numbers that are open issues.
func (s *Service) closeIssues(ctx context.Context, tx *db.RepoTx, p Place, numbers []int64, sha string) error {
	known, err := threaddb.Known(ctx, tx.Repo, numbers)
	if err != nil {
		return err
	}
	closed := model.StateClosed
	for _, n := range numbers {
		i := known[n]
		if i == nil || i.Kind != model.KindIssue || !i.Open() || !i.VisibleTo(p.Viewer.ID(), p.Role) {
			continue
		}
		_, err := s.Threads.UpdateTx(ctx, tx, p, n, threads.Change{State: &closed, Reason: model.ReasonCompleted, Commit: sha})
		if err != nil {
			return err
		}
	}
	return nil
}
