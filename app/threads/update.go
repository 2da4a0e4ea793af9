package threads

import (
	"context"
	"fmt"
	"slices"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

// Change is one change of a thread, of any of its facts at once. Fields that
// are nil stay as they are.
type Change struct {
	Title, Body *string
	// Version is that of the texts which the editor started from; a text
	// that has changed since in another way is not overwritten. Nil writes
	// whatever is there.
	Version *int

	// State is open or closed. Reason says why it is closed (one of the
	// model.Reason constants), Commit which commit did, DuplicateOf of which
	// other thread it is a duplicate.
	State       *string
	Reason      string
	Commit      string
	DuplicateOf int64

	// Labels replaces all labels; AddLabels and RemoveLabels change some.
	// They hold names.
	Labels                  *[]string
	AddLabels, RemoveLabels []string
	// MakeLabels makes labels that are missing, where the viewer may.
	MakeLabels bool
	// Assignees replaces all; AddAssignees and RemoveAssignees change some.
	// They hold names.
	Assignees                     *[]string
	AddAssignees, RemoveAssignees []string
	// Milestone is a milestone's number; 0 takes it off.
	Milestone *int64
	Type      *string

	// Lock is true to lock, with LockReason or none.
	Lock         *bool
	LockReason   string
	Pin          *bool
	Confidential *bool

	// Comment, when not empty, is written before the rest happens.
	Comment string

	// AssignIDs and UnassignIDs are accounts to add and to take away, for
	// UpdateTx, which looks no names up.
	AssignIDs, UnassignIDs []int64
}

// Result is what came of a change.
type Result struct {
	Issue   *model.Issue
	Comment *model.TimelineItem
	// Items are the lines that were added, the comment among them.
	Items []*model.TimelineItem
}

// Conflict says that a text has been changed meanwhile; it holds what it is
// now.
type Conflict struct {
	Title, Body string
	Version     int
}

func (c *Conflict) Error() string { return fmt.Sprintf("changed meanwhile, to version %d", c.Version) }

// Update changes a thread. A fault of kind Conflict wraps a *Conflict.
func (s *Service) Update(ctx context.Context, p Place, number int64, c Change) (*Result, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if err := s.lookUp(ctx, p, number, &c); err != nil {
		return nil, err
	}
	var r *Result
	err := s.db.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) (err error) {
		r, err = s.UpdateTx(ctx, tx, p, number, c)
		return err
	})
	return r, err
}

func (c *Change) validate() error {
	fields := fault.Fields{}
	clean := func(name string, text *string, read func(string) (string, string)) *string {
		if text == nil {
			return nil
		}
		v, problem := read(*text)
		fields.Add(name, problem)
		return &v
	}
	c.Title = clean("title", c.Title, TitleOf)
	c.Body = clean("body", c.Body, BodyOf)
	c.Comment = *clean("comment", &c.Comment, BodyOf)
	if c.State != nil && *c.State != model.StateOpen && *c.State != model.StateClosed {
		fields.Add("state", "The state is open or closed.")
	}
	reasons := []string{"", model.ReasonCompleted, model.ReasonNotPlanned, model.ReasonDuplicate, model.ReasonReopened}
	if !slices.Contains(reasons, c.Reason) {
		fields.Add("state_reason", "The reason is completed, not_planned, duplicate or reopened.")
	}
	if c.Lock != nil && *c.Lock && !slices.Contains([]string{"", "off-topic", "too heated", "resolved", "spam"}, c.LockReason) {
		fields.Add("lock_reason", "The reason is off-topic, too heated, resolved or spam.")
	}
	return fields.Err()
}

// lookUp finds the accounts of a change, before its transaction.
func (s *Service) lookUp(ctx context.Context, p Place, number int64, c *Change) (err error) {
	names := c.AddAssignees
	if c.Assignees != nil {
		names = *c.Assignees
	}
	if len(names) > 0 {
		i, err := s.Find(ctx, p, number)
		if err != nil {
			return err
		}
		if c.AssignIDs, err = s.assignable(ctx, p, names, i.AuthorID); err != nil {
			return err
		}
	}
	if len(c.RemoveAssignees) > 0 {
		c.UnassignIDs, err = s.accountIDs(ctx, c.RemoveAssignees)
	}
	return err
}

// work is a change on its way.
type work struct {
	s       *Service
	tx      *db.RepoTx
	p       Place
	i       *model.Issue
	was     model.Issue
	c       Change
	facts   *threaddb.Context
	columns []string
	items   []*model.TimelineItem
	events  []Event
}

// UpdateTx is Update within a transaction, for features that build on
// threads. Assignees by name are not looked up here.
func (s *Service) UpdateTx(ctx context.Context, tx *db.RepoTx, p Place, number int64, c Change) (*Result, error) {
	i, err := find(ctx, tx.Repo, p, number)
	if err != nil {
		return nil, err
	}
	w := &work{s: s, tx: tx, p: p, i: i, was: *i, c: c}
	for _, step := range []func(context.Context) error{w.comment, w.texts, w.labels, w.assignees, w.milestone,
		w.typed, w.confidential, w.lock, w.pin, w.state} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if len(w.columns) == 0 && len(w.items) == 0 {
		return &Result{Issue: i}, nil
	}
	return w.write(ctx)
}

func (w *work) write(ctx context.Context) (*Result, error) {
	// A comment's id is in its event, so it is given before.
	for _, e := range w.events {
		if err := emit(ctx, w.tx, w.p, e); err != nil {
			return nil, err
		}
	}
	if err := threaddb.Append(ctx, w.tx, w.items...); err != nil {
		return nil, err
	}
	if err := threaddb.Update(ctx, w.tx, w.i, w.columns...); err != nil {
		return nil, err
	}
	if w.was.MilestoneID != w.i.MilestoneID || w.was.State != w.i.State {
		if err := threaddb.CountMilestones(ctx, w.tx, w.was.MilestoneID, w.i.MilestoneID); err != nil {
			return nil, err
		}
	}
	if w.was.State != w.i.State {
		w.tx.Count(counter(&w.was), -1)
		w.tx.Count(counter(w.i), 1)
	}
	r := &Result{Issue: w.i, Items: w.items}
	if len(w.items) > 0 && w.items[0].IsComment() {
		r.Comment = w.items[0]
	}
	return r, nil
}

// line adds a line to the timeline.
func (w *work) line(kind string, d model.TimelineData) {
	w.items = append(w.items, &model.TimelineItem{Number: w.i.Number, Kind: kind, AuthorID: w.p.Viewer.ID(), Data: d})
}

// happened adds an event.
func (w *work) happened(what string, more func(e *Event)) {
	e := EventOf(w.i, what)
	if more != nil {
		more(&e)
	}
	w.events = append(w.events, e)
}

// load reads the labels and milestones once.
func (w *work) load(ctx context.Context) (err error) {
	if w.facts == nil {
		w.facts, err = threaddb.LoadContext(ctx, w.tx.Repo, 0, 0)
	}
	return err
}

func (w *work) change(columns ...string) { w.columns = append(w.columns, columns...) }
