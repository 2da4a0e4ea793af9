package issues

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// recordMoved is the kind of the records that say where an issue was moved.
const recordMoved = "moved"

// moved is where an issue went.
type moved struct {
	RepoID int64 `json:"repo"`
	Number int64 `json:"number"`
}

// Transfer moves an issue with its comments to the repository "owner/name";
// its old address redirects. Two repositories are two stores, so this is two
// transactions: the copy is made first and is found again by a second try,
// then the original makes room for the redirect.
func (s *Service) Transfer(ctx context.Context, p threads.Place, number int64, to string) (*model.Repo, *model.Issue, error) {
	if !p.MayModerate() {
		return nil, nil, denied("Issues are moved by people with write access.")
	}
	owner, name, ok := strings.Cut(strings.TrimSpace(to), "/")
	if !ok {
		return nil, nil, fault.Field("to", "Name the repository as owner/name.")
	}
	repo, role, err := repodb.Find(ctx, s.DB.Directory(), owner, name, p.Viewer.ID())
	target := threads.Place{Viewer: p.Viewer, Repo: repo, Role: role}
	switch {
	case errors.Is(err, db.ErrNotFound) || err == nil && !p.Viewer.Reaches(repo.ID, repo.IsPrivate(), true):
		return nil, nil, fault.Field("to", "There is no such repository, or you may not see it.")
	case err != nil:
		return nil, nil, err
	case repo.ID == p.Repo.ID:
		return nil, nil, fault.Field("to", "The issue is in this repository already.")
	case !target.MayModerate():
		return nil, nil, fault.Field("to", "You need write access there.")
	case repo.Settings.NoIssues:
		return nil, nil, fault.Field("to", "That repository has no issues.")
	case p.Repo.IsPrivate() && !repo.IsPrivate():
		return nil, nil, fault.Field("to", "An issue of a private repository cannot be moved to a public one.")
	}
	i, err := s.Threads.Find(ctx, p, number)
	if err != nil {
		return nil, nil, err
	}
	if i.Kind != model.KindIssue {
		return nil, nil, fault.New(fault.Conflict, "Only issues can be moved.")
	}
	items, _, err := threaddb.Timeline(ctx, s.DB.Repo(p.Repo.ID), number, threaddb.Window{})
	if err != nil {
		return nil, nil, err
	}
	facts, err := threaddb.LoadContext(ctx, s.DB.Repo(p.Repo.ID), 0, 0)
	if err != nil {
		return nil, nil, err
	}
	copied, err := s.copyTo(ctx, p, target, i, items, facts)
	if err != nil {
		return nil, nil, err
	}
	return repo, copied, s.leave(ctx, p, target, i, copied)
}

// copyTo makes the issue in the other repository.
func (s *Service) copyTo(ctx context.Context, from, to threads.Place, i *model.Issue, items []*model.TimelineItem, facts *threaddb.Context) (*model.Issue, error) {
	key := num(from.Repo.ID) + "/" + num(i.Number)
	var out *model.Issue
	err := s.DB.InRepo(ctx, to.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := tx.Write(ctx, threaddb.Domain); err != nil {
			return err
		}
		there, err := threaddb.LoadContext(ctx, tx.Repo, 0, 0)
		if err != nil {
			return err
		}
		n := *i
		if n.ID, err = tx.NextID(ctx); err != nil {
			return err
		}
		n.Number = tx.NextNumber()
		n.LabelIDs, n.MilestoneID = match(facts, there, i)
		n.Parent, n.Children, n.BlockedBy, n.Blocking, n.DuplicateOf, n.PinnedAt = 0, nil, nil, nil, 0, nil
		n.Refs, n.UpdatedAt = nil, tx.Now()
		out = &n
		if err := threaddb.Insert(ctx, tx, &n); err != nil {
			return err
		}
		tx.Count(n.State+"_issues", 1)
		if n.Confidential {
			tx.Count("confidential", 1)
		}
		if err := copyItems(ctx, tx, from, to, &n, items); err != nil {
			return err
		}
		if err := threaddb.CountMilestones(ctx, tx, n.MilestoneID); err != nil {
			return err
		}
		return threaddb.Put(ctx, tx, "came", key, n.Number, moved{from.Repo.ID, i.Number})
	})
	return out, err
}

func copyItems(ctx context.Context, tx *db.RepoTx, from, to threads.Place, n *model.Issue, items []*model.TimelineItem) error {
	var all []*model.TimelineItem
	for _, t := range items {
		c := *t
		c.Number, c.Refs = n.Number, nil
		if c.Data.Repo == 0 && c.Data.Number != 0 {
			c.Data.Repo, c.Data.RepoName = from.Repo.ID, from.Repo.FullName()
		}
		id, err := tx.NextID(ctx)
		if err != nil {
			return err
		}
		c.ID = id
		all = append(all, &c)
	}
	all = append(all, &model.TimelineItem{Number: n.Number, Kind: model.ItemTransferred, AuthorID: to.Viewer.ID(),
		Data: model.TimelineData{From: from.Repo.FullName()}})
	return threaddb.Append(ctx, tx, all...)
}

// match finds labels and the milestone of the same names elsewhere.
func match(here, there *threaddb.Context, i *model.Issue) (labels []int64, milestone int64) {
	for _, l := range here.Labels {
		if !slices.Contains(i.LabelIDs, l.ID) {
			continue
		}
		if o, err := findLabel(there.Labels, l.Name); err == nil {
			labels = append(labels, o.ID)
		}
	}
	for _, m := range here.Milestones {
		for _, o := range there.Milestones {
			if m.ID == i.MilestoneID && m.Title == o.Title {
				milestone = o.ID
			}
		}
	}
	return labels, milestone
}

// leave removes the original and keeps where it went.
func (s *Service) leave(ctx context.Context, from, to threads.Place, i, copied *model.Issue) error {
	return s.DB.InRepo(ctx, from.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if err := s.Threads.RemoveTx(ctx, tx, i); err != nil {
			return err
		}
		if err := threaddb.Put(ctx, tx, recordMoved, num(i.Number), copied.Number, moved{to.Repo.ID, copied.Number}); err != nil {
			return err
		}
		e := threads.EventOf(i, "transferred")
		e.ToRepoID, e.ToRepo, e.ToNumber = to.Repo.ID, to.Repo.FullName(), copied.Number
		return events.Emit(ctx, tx, events.About{Repo: from.Repo, Actor: from.Viewer}, e)
	})
}

// Moved returns where the issue that had this number went, if the viewer may
// see it there; db.ErrNotFound otherwise.
func (s *Service) Moved(ctx context.Context, p threads.Place, number int64) (*model.Repo, int64, error) {
	row, err := threaddb.Record(ctx, s.DB.Repo(p.Repo.ID), recordMoved, num(number))
	if err != nil {
		return nil, 0, err
	}
	var to moved
	if err := json.Unmarshal(row.Data, &to); err != nil {
		return nil, 0, err
	}
	repo, role, err := repodb.FindID(ctx, s.DB.Directory(), to.RepoID, p.Viewer.ID())
	if err != nil {
		return nil, 0, err
	}
	if !p.Viewer.Reaches(repo.ID, repo.IsPrivate(), false) {
		return nil, 0, db.ErrNotFound
	}
	_, err = s.Threads.Find(ctx, threads.Place{Viewer: p.Viewer, Repo: repo, Role: role}, to.Number)
	if errors.Is(err, db.ErrNotFound) {
		// It may have gone on from there.
		return s.Moved(ctx, threads.Place{Viewer: p.Viewer, Repo: repo, Role: role}, to.Number)
	}
	return repo, to.Number, err
}
