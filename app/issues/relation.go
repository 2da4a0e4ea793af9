package issues

import (
	"context"
	"slices"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

// Limits of GitHub (https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/adding-sub-issues).
const (
	maxChildren = 100
	maxDepth    = 8
	maxBlockers = 50
)

// AddSubIssue makes child a part of parent; replace takes it from another.
func (s *Service) AddSubIssue(ctx context.Context, p threads.Place, parent, child int64, replace bool) (*model.Issue, error) {
	var out *model.Issue
	err := s.relate(ctx, p, child, func(ctx context.Context, tx *db.RepoTx, c *model.Issue) error {
		if c.Parent == parent {
			return fault.Field("sub_issue_id", "It is a part of this issue already.")
		}
		if c.Parent != 0 {
			if !replace {
				return fault.Field("sub_issue_id", "It is a part of another issue.")
			}
			if err := s.abandon(ctx, tx, p, c); err != nil {
				return err
			}
		}
		out = c
		return s.adopt(ctx, tx, p, parent, c)
	})
	return out, err
}

// RemoveSubIssue makes child stand on its own again.
func (s *Service) RemoveSubIssue(ctx context.Context, p threads.Place, parent, child int64) (*model.Issue, error) {
	var out *model.Issue
	err := s.relate(ctx, p, child, func(ctx context.Context, tx *db.RepoTx, c *model.Issue) error {
		if c.Parent != parent {
			return db.ErrNotFound
		}
		out = c
		return s.abandon(ctx, tx, p, c)
	})
	return out, err
}

// MoveSubIssue puts a sub-issue after or before another of the same parent.
func (s *Service) MoveSubIssue(ctx context.Context, p threads.Place, parent, child, after, before int64) error {
	return s.relate(ctx, p, parent, func(ctx context.Context, tx *db.RepoTx, i *model.Issue) error {
		at := slices.Index(i.Children, child)
		if at < 0 {
			return db.ErrNotFound
		}
		i.Children = slices.Delete(i.Children, at, at+1)
		to := slices.Index(i.Children, before)
		if after != 0 {
			to = slices.Index(i.Children, after) + 1
		}
		if to < 0 || after != 0 && to == 0 {
			return fault.Field("after_id", "There is no such sub-issue.")
		}
		i.Children = slices.Insert(i.Children, to, child)
		return threaddb.Update(ctx, tx, i, "children")
	})
}

// relate finds a thread that the viewer may arrange and runs f.
func (s *Service) relate(ctx context.Context, p threads.Place, number int64, f func(ctx context.Context, tx *db.RepoTx, i *model.Issue) error) error {
	if !p.MayTriage() {
		return denied("Issues are arranged by people with the triage role or more.")
	}
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		i, err := threaddb.Find(ctx, tx.Repo, number)
		if err != nil {
			return err
		}
		return f(ctx, tx, i)
	})
}

// adopt makes c a part of parent.
func (s *Service) adopt(ctx context.Context, tx *db.RepoTx, p threads.Place, parent int64, c *model.Issue) error {
	up, err := threaddb.Find(ctx, tx.Repo, parent)
	if err != nil {
		return err
	}
	if !up.VisibleTo(p.Viewer.ID(), p.Role) || up.Kind != model.KindIssue || c.Kind != model.KindIssue {
		return db.ErrNotFound
	}
	if len(up.Children) >= maxChildren {
		return fault.Field("sub_issue_id", "An issue has at most 100 sub-issues.")
	}
	for above, depth := up, 1; above != nil; depth++ {
		if above.Number == c.Number {
			return fault.Field("sub_issue_id", "An issue cannot be a part of itself.")
		}
		if depth >= maxDepth {
			return fault.Field("sub_issue_id", "Sub-issues are at most 8 levels deep.")
		}
		if above.Parent == 0 {
			break
		}
		if above, err = threaddb.Find(ctx, tx.Repo, above.Parent); err != nil {
			return err
		}
	}
	up.Children, c.Parent = append(up.Children, c.Number), up.Number
	return s.linked(ctx, tx, p, up, c, model.ItemSubAdded, model.ItemParentAdded, "children", "parent")
}

func (s *Service) abandon(ctx context.Context, tx *db.RepoTx, p threads.Place, c *model.Issue) error {
	up, err := threaddb.Find(ctx, tx.Repo, c.Parent)
	if err != nil {
		return err
	}
	up.Children = slices.DeleteFunc(up.Children, func(n int64) bool { return n == c.Number })
	c.Parent = 0
	return s.linked(ctx, tx, p, up, c, model.ItemSubRemoved, model.ItemParentRemoved, "children", "parent")
}

// linked writes two threads and a line in the timeline of each.
func (s *Service) linked(ctx context.Context, tx *db.RepoTx, p threads.Place, a, b *model.Issue, lineA, lineB, columnA, columnB string) error {
	if err := threaddb.Update(ctx, tx, a, columnA); err != nil {
		return err
	}
	if err := threaddb.Update(ctx, tx, b, columnB); err != nil {
		return err
	}
	line := func(at, other *model.Issue, kind string) *model.TimelineItem {
		return &model.TimelineItem{Number: at.Number, Kind: kind, AuthorID: p.Viewer.ID(),
			Data: model.TimelineData{Number: other.Number, ThreadKind: other.Kind, Confidential: other.Confidential}}
	}
	items := []*model.TimelineItem{line(a, b, lineA)}
	if lineB != "" {
		items = append(items, line(b, a, lineB))
	}
	return threaddb.Append(ctx, tx, items...)
}

// Block notes that an issue waits for another, or with remove that it does
// not any more.
func (s *Service) Block(ctx context.Context, p threads.Place, number, by int64, remove bool) (*model.Issue, error) {
	var out *model.Issue
	err := s.relate(ctx, p, number, func(ctx context.Context, tx *db.RepoTx, i *model.Issue) error {
		other, err := threaddb.Find(ctx, tx.Repo, by)
		if err != nil {
			return err
		}
		out = other
		has := slices.Contains(i.BlockedBy, by)
		switch {
		case number == by:
			return fault.Field("issue_id", "An issue cannot wait for itself.")
		case remove && !has:
			return db.ErrNotFound
		case !remove && has:
			return fault.Field("issue_id", "It waits for this one already.")
		case !remove && slices.Contains(i.Blocking, by):
			return fault.Field("issue_id", "The other issue waits for this one: they would wait for each other.")
		case !remove && len(i.BlockedBy) >= maxBlockers:
			return fault.Field("issue_id", "An issue waits for at most 50 others.")
		}
		kind := model.ItemBlockedBy
		if remove {
			kind = model.ItemUnblocked
			i.BlockedBy = slices.DeleteFunc(i.BlockedBy, func(n int64) bool { return n == by })
			other.Blocking = slices.DeleteFunc(other.Blocking, func(n int64) bool { return n == number })
		} else {
			i.BlockedBy, other.Blocking = append(i.BlockedBy, by), append(other.Blocking, number)
		}
		return s.linked(ctx, tx, p, i, other, kind, "", "blocked_by", "blocking")
	})
	return out, err
}
