package issues

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/attachments"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/riverqueue/river"
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
// transactions: the copy, and then the original makes room for the redirect.
// A process that dies between them leaves a job that ends the move.
func (s *Service) Transfer(ctx context.Context, p threads.Place, number int64, to string) (*model.Repo, *model.Issue, error) {
	target, err := s.mayMove(ctx, p, to)
	if err != nil {
		return nil, nil, err
	}
	i, err := s.Threads.Find(ctx, p, number)
	if err != nil {
		return nil, nil, err
	}
	if i.Kind != model.KindIssue {
		return nil, nil, fault.New(fault.Conflict, "Only issues can be moved.")
	}
	copied, err := s.move(ctx, p, target, number)
	if err != nil {
		return nil, nil, err
	}
	return target.Repo, copied, nil
}

// mayMove finds where an issue is to go, and says why it may not.
func (s *Service) mayMove(ctx context.Context, p threads.Place, to string) (threads.Place, error) {
	if !p.MayModerate() {
		return p, denied("Issues are moved by people with write access.")
	}
	owner, name, ok := strings.Cut(strings.TrimSpace(to), "/")
	if !ok {
		return p, fault.Field("to", "Name the repository as owner/name.")
	}
	repo, role, err := repodb.Find(ctx, s.DB.Directory(), owner, name, p.Viewer.ID())
	target := threads.Place{Viewer: p.Viewer, Repo: repo, Role: role}
	switch {
	case errors.Is(err, db.ErrNotFound) || err == nil && !p.Viewer.Reaches(repo.ID, repo.IsPrivate(), true):
		return p, fault.Field("to", "There is no such repository, or you may not see it.")
	case err != nil:
		return p, err
	case repo.ID == p.Repo.ID:
		return p, fault.Field("to", "The issue is in this repository already.")
	case !target.MayModerate():
		return p, fault.Field("to", "You need write access there.")
	case repo.Settings.NoIssues:
		return p, fault.Field("to", "That repository has no issues.")
	case p.Repo.IsPrivate() && !repo.IsPrivate():
		return p, fault.Field("to", "An issue of a private repository cannot be moved to a public one.")
	}
	return target, nil
}

// TransferArgs are the arguments of the job that ends a move that its process
// did not.
type TransferArgs struct {
	FromID  int64 `json:"from_id"`
	Number  int64 `json:"number"`
	ToID    int64 `json:"to_id"`
	ActorID int64 `json:"actor_id"`
}

// Kind names the job.
func (TransferArgs) Kind() string { return "issues.transfer" }

// transferGrace is how long the process that began a move has to end it.
const transferGrace = time.Minute

// FinishTransfer does the job of TransferArgs: nothing where the move ended,
// which is nearly always.
func (s *Service) FinishTransfer(ctx context.Context, a TransferArgs) error {
	actor, err := accountdb.ByID(ctx, s.DB.Directory(), a.ActorID)
	if err != nil {
		return absentRow(err)
	}
	viewer := &model.Viewer{Account: actor}
	var places [2]threads.Place
	for n, id := range []int64{a.FromID, a.ToID} {
		repo, role, err := repodb.FindID(ctx, s.DB.Directory(), id, a.ActorID)
		if err != nil {
			return absentRow(err)
		}
		places[n] = threads.Place{Viewer: viewer, Repo: repo, Role: role}
	}
	_, err = s.move(ctx, places[0], places[1], a.Number)
	return absentRow(err)
}

// absentRow is err, unless it says that something is gone.
func absentRow(err error) error {
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}

// snapshot is an issue as it is copied.
type snapshot struct {
	issue *model.Issue
	items []*model.TimelineItem
}

func (s *Service) snapshot(ctx context.Context, repo db.Repo, number int64) (*snapshot, error) {
	i, err := threaddb.Find(ctx, repo, number)
	if err != nil {
		return nil, err
	}
	items, _, err := threaddb.Timeline(ctx, repo, number, threaddb.Window{})
	return &snapshot{i, items}, err
}

// same says that nothing was written since the other was read.
func (a *snapshot) same(b *snapshot) bool {
	return a.issue.UpdatedAt.Equal(b.issue.UpdatedAt) && a.issue.Version == b.issue.Version &&
		slices.EqualFunc(a.items, b.items, func(x, y *model.TimelineItem) bool { return x.ID == y.ID && x.UpdatedAt.Equal(y.UpdatedAt) })
}

// moveTries bounds how often what is written meanwhile is copied again.
const moveTries = 10

// move copies the issue and removes the original once the copy has all of it.
func (s *Service) move(ctx context.Context, from, to threads.Place, number int64) (*model.Issue, error) {
	here := s.DB.Repo(from.Repo.ID)
	facts, err := threaddb.LoadContext(ctx, here, 0, 0)
	if err != nil {
		return nil, err
	}
	for range moveTries {
		snap, err := s.snapshot(ctx, here, number)
		if err != nil {
			return nil, err
		}
		copied, err := s.copyTo(ctx, from, to, snap, facts)
		if err != nil {
			return nil, err
		}
		if s.AfterCopy != nil {
			if err := s.AfterCopy(ctx); err != nil {
				return nil, err
			}
		}
		left, err := s.leave(ctx, from, to, snap, copied)
		if err != nil || left {
			return copied, err
		}
	}
	return nil, fault.New(fault.Conflict, "So much is written in this issue just now that it could not be moved. Try again.")
}

// copyTo makes the issue in the other repository, or makes the copy that an
// earlier try left anew.
func (s *Service) copyTo(ctx context.Context, from, to threads.Place, snap *snapshot, facts *threaddb.Context) (*model.Issue, error) {
	i, key := snap.issue, num(from.Repo.ID)+"/"+num(snap.issue.Number)
	files, err := s.files(ctx, from, to, snap)
	if err != nil {
		return nil, err
	}
	var out *model.Issue
	err = s.DB.InRepo(ctx, to.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := tx.Write(ctx, threaddb.Domain); err != nil {
			return err
		}
		there, err := threaddb.LoadContext(ctx, tx.Repo, 0, 0)
		if err != nil {
			return err
		}
		n := *i
		if err := s.numbered(ctx, tx, from, to, &n, key); err != nil {
			return err
		}
		n.Body = attachments.Replace(n.Body, files)
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
		if err := copyItems(ctx, tx, from, to, &n, snap.items, files); err != nil {
			return err
		}
		if err := attachments.Insert(ctx, tx, n.Number, files); err != nil {
			return err
		}
		return threaddb.CountMilestones(ctx, tx, n.MilestoneID)
	})
	return out, err
}

// recordCame is the kind of the records that say which issue is a copy of
// which.
const recordCame = "came"

// numbered gives the copy its number: that of an earlier try, which it
// replaces, or a new one, and with it the job that ends the move.
func (s *Service) numbered(ctx context.Context, tx *db.RepoTx, from, to threads.Place, n *model.Issue, key string) (err error) {
	row, err := threaddb.Record(ctx, tx.Repo, recordCame, key)
	if err == nil {
		before, err := threaddb.Find(ctx, tx.Repo, row.ID)
		if err == nil {
			n.ID, n.Number = before.ID, before.Number
			return s.Threads.RemoveTx(ctx, tx, before)
		}
		if !errors.Is(err, db.ErrNotFound) {
			return err
		}
	} else if !errors.Is(err, db.ErrNotFound) {
		return err
	}
	job := TransferArgs{FromID: from.Repo.ID, Number: n.Number, ToID: to.Repo.ID, ActorID: from.Viewer.ID()}
	if err := tx.Enqueue(ctx, job, &river.InsertOpts{ScheduledAt: tx.Now().Add(transferGrace)}); err != nil {
		return err
	}
	old := n.Number
	if n.ID, err = tx.NextID(ctx); err != nil {
		return err
	}
	n.Number = tx.NextNumber()
	return threaddb.Put(ctx, tx, recordCame, key, n.Number, moved{from.Repo.ID, old})
}

// files copies the contents of the attachments of an issue.
func (s *Service) files(ctx context.Context, from, to threads.Place, snap *snapshot) ([]attachments.Copied, error) {
	if s.Attachments == nil {
		return nil, nil
	}
	texts := []string{snap.issue.Body}
	for _, t := range snap.items {
		texts = append(texts, t.Body)
	}
	return s.Attachments.Copy(ctx, from.Repo, to.Repo, texts...)
}

func copyItems(ctx context.Context, tx *db.RepoTx, from, to threads.Place, n *model.Issue, items []*model.TimelineItem, files []attachments.Copied) error {
	var all []*model.TimelineItem
	for _, t := range items {
		c := *t
		c.Number, c.Refs, c.Body = n.Number, nil, attachments.Replace(t.Body, files)
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

// leave removes the original and keeps where it went, unless something was
// written in it since it was copied.
func (s *Service) leave(ctx context.Context, from, to threads.Place, snap *snapshot, copied *model.Issue) (left bool, err error) {
	err = s.DB.InRepo(ctx, from.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		now, err := s.snapshot(ctx, tx.Repo, snap.issue.Number)
		if err != nil {
			return err
		}
		if left = now.same(snap); !left {
			return nil
		}
		i := now.issue
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
	return left, err
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
