package threads

import (
	"context"
	"slices"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

func (w *work) comment(ctx context.Context) error {
	if w.c.Comment == "" {
		return nil
	}
	item, text, err := w.s.newComment(ctx, w.tx, w.p, w.i, w.c.Comment)
	if err != nil {
		return err
	}
	w.items = append(w.items, item)
	w.i.Comments++
	w.change("comments")
	w.events = append(w.events, commentEvent(w.i, item, "created", text.mentions))
	return w.s.refer(ctx, w.tx, w.p, w.i, item.ID, text)
}

// texts changes title and body. Each is compared with what it was in the
// version that the editor saw: where only one side changed it, that side wins.
func (w *work) texts(ctx context.Context) error {
	c, i := w.c, w.i
	if c.Title == nil && c.Body == nil {
		return nil
	}
	title, body, err := w.merged(ctx)
	if err != nil {
		return err
	}
	if title == i.Title && body == i.Body {
		return nil
	}
	if !w.p.MayEdit(i.AuthorID) {
		return denied("Only the author and people with write access may edit this.")
	}
	old := model.Edit{By: w.p.Viewer.ID(), Version: i.Version, Title: i.Title, Body: i.Body}
	if err := threaddb.KeepEdit(ctx, w.tx, i.Number, 0, old); err != nil {
		return err
	}
	var text content
	i.Version++
	w.change("version")
	if title != i.Title {
		i.Title = title
		w.change("title")
		w.line(model.ItemRenamed, model.TimelineData{From: old.Title, To: title})
	}
	if body != i.Body {
		now := w.tx.Now()
		text = w.s.read(w.p.Repo, body)
		i.Body, i.EditedAt, i.Refs, i.Tasks, i.TasksDone = body, &now, text.refs, text.tasks, text.done
		w.change("body", "edited_at", "refs", "tasks", "tasks_done")
		if err := w.s.refer(ctx, w.tx, w.p, i, 0, text); err != nil {
			return err
		}
	}
	w.happened("edited", func(e *Event) {
		if title != old.Title {
			e.OldTitle = &old.Title
		}
		if body != old.Body {
			e.Body, e.OldBody, e.Mentions = &i.Body, &old.Body, text.mentions
		}
	})
	return nil
}

func (w *work) merged(ctx context.Context) (title, body string, err error) {
	c, i := w.c, w.i
	base := model.Edit{Title: i.Title, Body: i.Body}
	if c.Version != nil && *c.Version != i.Version {
		edits, err := threaddb.Edits(ctx, w.tx.Repo, i.Number, 0)
		if err != nil {
			return "", "", err
		}
		at := slices.IndexFunc(edits, func(e model.Edit) bool { return e.Version == *c.Version })
		if at < 0 {
			return "", "", w.conflict()
		}
		base = edits[at]
	}
	title, ok := merge(base.Title, i.Title, c.Title)
	body, ok2 := merge(base.Body, i.Body, c.Body)
	if !ok || !ok2 {
		return "", "", w.conflict()
	}
	return title, body, nil
}

func (w *work) conflict() error {
	return fault.Wrap(fault.Conflict, "Somebody else has changed this text since you began to edit it. Nothing of yours was saved yet.",
		&Conflict{w.i.Title, w.i.Body, w.i.Version})
}

// merge decides between what is there and what an editor who started from
// base wants; false when both changed it.
func merge(base, now string, want *string) (string, bool) {
	switch {
	case want == nil || *want == base:
		return now, true
	case *want == now || now == base:
		return *want, true
	}
	return "", false
}

func (w *work) labels(ctx context.Context) error {
	c := w.c
	if c.Labels == nil && len(c.AddLabels)+len(c.RemoveLabels) == 0 {
		return nil
	}
	if !w.p.MayTriage() {
		return denied("Labels are set by people with the triage role or more.")
	}
	if err := w.load(ctx); err != nil {
		return err
	}
	if c.MakeLabels && w.p.MayModerate() {
		wanted := c.AddLabels
		if c.Labels != nil {
			wanted = append(slices.Clone(*c.Labels), wanted...)
		}
		if err := makeLabels(ctx, w.tx, w.facts, wanted); err != nil {
			return err
		}
	}
	byID := map[int64]*model.Label{}
	var names []string
	for _, l := range w.facts.Labels {
		byID[l.ID] = l
	}
	for _, id := range w.i.LabelIDs {
		if l := byID[id]; l != nil {
			names = append(names, l.Name)
		}
	}
	if c.Labels != nil {
		names = slices.Clone(*c.Labels)
	}
	for _, name := range c.RemoveLabels {
		at := slices.IndexFunc(names, func(n string) bool { return model.Key(n) == model.Key(name) })
		if at < 0 {
			return fault.New(fault.NotFound, "Label does not exist")
		}
		names = slices.Delete(names, at, at+1)
	}
	ids, _, err := pickLabels(w.facts.Labels, append(names, c.AddLabels...))
	if err != nil {
		return err
	}
	w.swapped(w.i.LabelIDs, ids, func(id int64, added bool) {
		if l := byID[id]; l != nil {
			ref := &model.LabelRef{ID: l.ID, Name: l.Name, Color: l.Color}
			w.either(added, model.ItemLabeled, model.ItemUnlabeled, model.TimelineData{Label: ref}, func(e *Event) { e.Label = ref })
		}
	})
	if !slices.Equal(w.i.LabelIDs, ids) {
		w.i.LabelIDs = ids
		w.change("label_ids")
	}
	return nil
}

// swapped calls f for each id that is taken away and then for each that is
// new.
func (w *work) swapped(old, now []int64, f func(id int64, added bool)) {
	for _, id := range old {
		if !slices.Contains(now, id) {
			f(id, false)
		}
	}
	for _, id := range now {
		if !slices.Contains(old, id) {
			f(id, true)
		}
	}
}

// either adds the line and the event of the same name, one of two.
func (w *work) either(first bool, yes, no string, d model.TimelineData, more func(e *Event)) {
	if !first {
		yes = no
	}
	w.line(yes, d)
	w.happened(yes, more)
}

func (w *work) assignees(context.Context) error {
	c := w.c
	if c.Assignees == nil && len(c.AddAssignees)+len(c.RemoveAssignees)+len(c.AssignIDs)+len(c.UnassignIDs) == 0 {
		return nil
	}
	if !w.p.MayTriage() {
		return denied("People are assigned by those with the triage role or more.")
	}
	ids := slices.Clone(c.AssignIDs)
	if c.Assignees == nil {
		ids = slices.Clone(w.i.AssigneeIDs)
		for _, id := range c.AssignIDs {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		ids = slices.DeleteFunc(ids, func(id int64) bool { return slices.Contains(c.UnassignIDs, id) })
	}
	if len(ids) > 10 {
		return fault.Field("assignees", "At most 10 people can be assigned.")
	}
	old := w.i.AssigneeIDs
	if slices.Equal(old, ids) {
		return nil
	}
	w.i.AssigneeIDs = ids
	w.change("assignee_ids")
	w.swapped(old, ids, func(id int64, added bool) {
		w.either(added, model.ItemAssigned, model.ItemUnassigned, model.TimelineData{Assignee: id}, func(e *Event) { e.AssigneeID = id })
	})
	return nil
}

func (s *Service) accountIDs(ctx context.Context, names []string) ([]int64, error) {
	accounts, err := accountdb.ByNames(ctx, s.db.Directory(), names)
	var ids []int64
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	return ids, err
}

func (w *work) milestone(ctx context.Context) error {
	if w.c.Milestone == nil {
		return nil
	}
	if !w.p.MayTriage() {
		return denied("Milestones are set by people with the triage role or more.")
	}
	if err := w.load(ctx); err != nil {
		return err
	}
	old := &MilestoneRef{}
	for _, m := range w.facts.Milestones {
		if m.ID == w.i.MilestoneID {
			old = &MilestoneRef{m.ID, m.Number, m.Title}
		}
	}
	now := &MilestoneRef{}
	if n := *w.c.Milestone; n != 0 {
		var err error
		if now, err = pickMilestone(w.facts.Milestones, n); err != nil {
			return err
		}
	}
	if now.ID == w.i.MilestoneID {
		return nil
	}
	w.i.MilestoneID = now.ID
	w.change("milestone_id")
	for _, m := range []*MilestoneRef{old, now} {
		if m.ID != 0 {
			w.either(m == now, model.ItemMilestoned, model.ItemDemilestoned, model.TimelineData{Milestone: m.Title},
				func(e *Event) { e.Milestone = m })
		}
	}
	return nil
}

func (w *work) typed(context.Context) error {
	if w.c.Type == nil || *w.c.Type == w.i.Type {
		return nil
	}
	if !w.p.MayTriage() {
		return denied("The type is set by people with the triage role or more.")
	}
	w.line(model.ItemTyped, model.TimelineData{From: w.i.Type, To: *w.c.Type})
	w.i.Type = *w.c.Type
	w.change("issue_type")
	return nil
}

func (w *work) confidential(context.Context) error {
	if w.c.Confidential == nil || *w.c.Confidential == w.i.Confidential {
		return nil
	}
	if !w.p.MayTriage() {
		return denied("Only people with the triage role or more may change who sees this.")
	}
	w.i.Confidential = *w.c.Confidential
	w.tx.Count("confidential", sign(w.i.Confidential))
	w.change("confidential")
	w.either(w.i.Confidential, model.ItemConfidential, model.ItemPublic, model.TimelineData{}, nil)
	return nil
}

func (w *work) lock(context.Context) error {
	if w.c.Lock == nil || *w.c.Lock == (w.i.Locked != "") {
		return nil
	}
	if !w.p.MayModerate() {
		return denied("Conversations are locked by people with write access.")
	}
	w.i.Locked = ""
	if *w.c.Lock {
		if w.i.Locked = w.c.LockReason; w.i.Locked == "" {
			w.i.Locked = model.LockedNoReason
		}
	}
	w.change("locked")
	w.either(*w.c.Lock, model.ItemLocked, model.ItemUnlocked, model.TimelineData{Reason: w.c.LockReason},
		func(e *Event) { e.Reason = w.c.LockReason })
	return nil
}

func sign(up bool) int64 {
	if up {
		return 1
	}
	return -1
}

// maxPins is how many threads of a kind may be pinned, as on GitHub.
const maxPins = 3

func (w *work) pin(ctx context.Context) error {
	if w.c.Pin == nil || *w.c.Pin == (w.i.PinnedAt != nil) {
		return nil
	}
	if !w.p.MayModerate() {
		return denied("Pinning is for people with write access.")
	}
	w.i.PinnedAt = nil
	if *w.c.Pin {
		n, err := threaddb.CountPins(ctx, w.tx.Repo, w.i.Kind)
		if err != nil {
			return err
		}
		if n >= maxPins {
			return fault.New(fault.Conflict, "Three are pinned already. Unpin one of them first.")
		}
		now := w.tx.Now()
		w.i.PinnedAt = &now
	}
	w.tx.Count("pinned", sign(*w.c.Pin))
	w.change("pinned_at")
	w.either(*w.c.Pin, model.ItemPinned, model.ItemUnpinned, model.TimelineData{}, nil)
	return nil
}

func (w *work) state(ctx context.Context) error {
	c, i := w.c, w.i
	if c.State == nil || *c.State == i.State && (i.Open() || c.Reason == "" || c.Reason == i.StateReason) {
		return nil
	}
	if *c.State == model.StateOpen {
		return w.reopen()
	}
	if !w.p.MayClose(i) {
		return denied("Only the author and people with the triage role or more may close this.")
	}
	if err := w.duplicate(ctx); err != nil {
		return err
	}
	if i.PinnedAt != nil {
		w.tx.Count("pinned", -1)
	}
	now := w.tx.Now()
	reason := w.c.Reason
	if reason == "" && i.Kind == model.KindIssue {
		reason = model.ReasonCompleted
	}
	i.State, i.StateReason, i.ClosedBy, i.ClosedAt, i.PinnedAt = model.StateClosed, reason, w.p.Viewer.ID(), &now, nil
	w.change("state", "state_reason", "closed_by", "closed_at", "pinned_at")
	w.line(model.ItemClosed, model.TimelineData{Reason: reason, Commit: c.Commit, Number: i.DuplicateOf})
	w.happened("closed", func(e *Event) { e.Reason, e.Commit = reason, c.Commit })
	return nil
}

func (w *work) reopen() error {
	i := w.i
	if i.StateReason == model.ReasonMerged {
		return fault.New(fault.Conflict, "This pull request is merged, so it cannot be opened again. Revert it instead.")
	}
	if !w.p.MayReopen(i) {
		return denied("This was closed by somebody else; people with the triage role or more can open it again.")
	}
	i.State, i.StateReason, i.ClosedBy, i.ClosedAt, i.DuplicateOf = model.StateOpen, model.ReasonReopened, 0, nil, 0
	w.change("state", "state_reason", "closed_by", "closed_at", "duplicate_of")
	w.line(model.ItemReopened, model.TimelineData{})
	w.happened("reopened", nil)
	return nil
}

func (w *work) duplicate(ctx context.Context) error {
	of := w.c.DuplicateOf
	if of == 0 {
		return nil
	}
	known, err := threaddb.Known(ctx, w.tx.Repo, []int64{of})
	if err != nil {
		return err
	}
	if other := known[of]; other == nil || !w.p.sees(other) || of == w.i.Number {
		return fault.Field("duplicate_of", "There is no such other issue.")
	}
	w.c.Reason = model.ReasonDuplicate
	w.i.DuplicateOf = of
	w.change("duplicate_of")
	return nil
}
