package issues

import (
	"time"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

// Told is what webhooks tell of an issue: the records as the API shows them to
// nobody in particular.
type Told struct {
	s *Service
	w *show
	i *model.Issue
}

// Tell prepares to tell of the issue or pull request of this number in c.Repo.
// ErrNotFound when it is gone.
func (s *Service) Tell(c *web.Ctx, number int64) (*Told, error) {
	repo := s.DB.Repo(c.Repo.ID)
	i, err := threaddb.Find(c.Context(), repo, number)
	if err != nil {
		return nil, err
	}
	facts, err := threaddb.LoadContext(c.Context(), repo, number, 0)
	if err != nil {
		return nil, err
	}
	w, err := s.showing(c, facts, append([]int64{i.AuthorID, i.ClosedBy}, i.AssigneeIDs...)...)
	return &Told{s, w, i}, err
}

// Issue is the issue; webhooks say of each whether it is a draft.
func (t *Told) Issue() Issue {
	out := t.w.issue(t.i)
	out.Draft = &t.i.Draft
	return out
}

// IsPull says that it is a pull request's thread.
func (t *Told) IsPull() bool { return t.i.IsPull() }

// Comment is one of the thread's comments. ErrNotFound when it is gone.
func (t *Told) Comment(c *web.Ctx, id int64) (Comment, error) {
	item, err := threaddb.Item(c.Context(), t.s.DB.Repo(c.Repo.ID), id)
	if err != nil {
		return Comment{}, err
	}
	w, err := t.s.showingItems(c, []*model.TimelineItem{item})
	if err != nil {
		return Comment{}, err
	}
	return w.comment(item, t.i.Kind), nil
}

// Gone is a comment that was deleted, of what its event says: when it was
// written is not known any more.
func (t *Told) Gone(c *web.Ctx, id, author int64, body string, at time.Time) (Comment, error) {
	item := &model.TimelineItem{ID: id, Number: t.i.Number, Kind: model.ItemComment, AuthorID: author, Body: body, CreatedAt: at, UpdatedAt: at}
	w, err := t.s.showingItems(c, []*model.TimelineItem{item})
	if err != nil {
		return Comment{}, err
	}
	return w.comment(item, t.i.Kind), nil
}

// Label is the repository's label of this id; false when it is gone.
func (t *Told) Label(id int64) (Label, bool) {
	l := t.w.labelByID(id)
	if l == nil {
		return Label{}, false
	}
	return t.w.label(l), true
}

// Milestone is the repository's milestone of this id; false when it is gone.
func (t *Told) Milestone(id int64) (Milestone, bool) {
	for _, m := range t.w.facts.Milestones {
		if m.ID == id {
			return t.w.milestone(m), true
		}
	}
	return Milestone{}, false
}
