package issues

import (
	"context"
	"slices"
	"time"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/issuedb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

// MilestoneInput is a milestone as it shall be; what is nil stays.
type MilestoneInput struct {
	Title       *string
	Description *string
	State       *string
	DueOn       *time.Time
	// NoDue takes the date away.
	NoDue bool
}

// MilestoneEvent is the data of events about milestones.
type MilestoneEvent struct {
	Type   string     `json:"-"`
	ID     int64      `json:"id"`
	Number int64      `json:"milestoneNumber"`
	Title  string     `json:"title"`
	State  string     `json:"state"`
	DueOn  *time.Time `json:"dueOn"`
}

// EventType is the event's type.
func (e MilestoneEvent) EventType() string { return e.Type }

func (in MilestoneInput) apply(m *model.Milestone, now time.Time) error {
	fields := fault.Fields{}
	var problem string
	if in.Title != nil {
		m.Title, problem = threads.TitleOf(*in.Title)
		fields.Add("title", problem)
	}
	if in.Description != nil {
		m.Description, problem = threads.BodyOf(*in.Description)
		fields.Add("description", problem)
	}
	if in.State != nil && *in.State != m.State {
		switch *in.State {
		case model.StateOpen:
			m.ClosedAt = nil
		case model.StateClosed:
			m.ClosedAt = &now
		default:
			fields.Add("state", "The state is open or closed.")
		}
		m.State = *in.State
	}
	if in.NoDue {
		m.DueOn = nil
	}
	if in.DueOn != nil {
		if m.DueOn = in.DueOn; m.DueOn.Year() < 1970 || m.DueOn.Year() > 9999 {
			fields.Add("due_on", "The date is out of range.")
		}
	}
	return resource("Milestone", fields.Err())
}

// Milestones returns the repository's milestones by number.
func (s *Service) Milestones(ctx context.Context, repo *model.Repo) ([]*model.Milestone, error) {
	return issuedb.Milestones(ctx, s.DB.Repo(repo.ID))
}

// Milestone returns a milestone by its number.
func (s *Service) Milestone(ctx context.Context, repo *model.Repo, number int64) (*model.Milestone, error) {
	list, err := s.Milestones(ctx, repo)
	if err != nil {
		return nil, err
	}
	return findMilestone(list, number)
}

func findMilestone(list []*model.Milestone, number int64) (*model.Milestone, error) {
	at := slices.IndexFunc(list, func(m *model.Milestone) bool { return m.Number == number })
	if at < 0 {
		return nil, db.ErrNotFound
	}
	return list[at], nil
}

// CreateMilestone adds a milestone.
func (s *Service) CreateMilestone(ctx context.Context, p threads.Place, in MilestoneInput) (*model.Milestone, error) {
	if in.Title == nil {
		in.Title = new(string)
	}
	var m *model.Milestone
	err := s.changeMilestones(ctx, p, func(ctx context.Context, tx *db.RepoTx, list []*model.Milestone) (*model.Milestone, string, error) {
		m = &model.Milestone{State: model.StateOpen, CreatorID: p.Viewer.ID()}
		if err := in.apply(m, tx.Now()); err != nil {
			return nil, "", err
		}
		if slices.ContainsFunc(list, func(o *model.Milestone) bool { return o.Title == m.Title }) {
			return nil, "", resource("Milestone", fault.Field("title", "There is a milestone of this title already."))
		}
		tx.Count("milestones", 1)
		counts, err := tx.Counts(ctx)
		if err != nil {
			return nil, "", err
		}
		m.Number = counts["milestones"]
		return m, "created", issuedb.SaveMilestone(ctx, tx, m)
	})
	return m, err
}

// EditMilestone changes a milestone.
func (s *Service) EditMilestone(ctx context.Context, p threads.Place, number int64, in MilestoneInput) (*model.Milestone, error) {
	var m *model.Milestone
	err := s.changeMilestones(ctx, p, func(ctx context.Context, tx *db.RepoTx, list []*model.Milestone) (*model.Milestone, string, error) {
		found, err := findMilestone(list, number)
		if err != nil {
			return nil, "", err
		}
		m = found
		was := m.State
		if err := in.apply(m, tx.Now()); err != nil {
			return nil, "", err
		}
		if slices.ContainsFunc(list, func(o *model.Milestone) bool { return o.Title == m.Title && o.ID != m.ID }) {
			return nil, "", resource("Milestone", fault.Field("title", "There is a milestone of this title already."))
		}
		what := "edited"
		if m.State != was {
			what = map[string]string{model.StateOpen: "opened", model.StateClosed: "closed"}[m.State]
		}
		return m, what, issuedb.SaveMilestone(ctx, tx, m)
	})
	return m, err
}

// DeleteMilestone removes a milestone; what was in it stays.
func (s *Service) DeleteMilestone(ctx context.Context, p threads.Place, number int64) error {
	return s.changeMilestones(ctx, p, func(ctx context.Context, tx *db.RepoTx, list []*model.Milestone) (*model.Milestone, string, error) {
		m, err := findMilestone(list, number)
		if err != nil {
			return nil, "", err
		}
		return m, "deleted", issuedb.DeleteMilestone(ctx, tx, m)
	})
}

func (s *Service) changeMilestones(ctx context.Context, p threads.Place, f func(ctx context.Context, tx *db.RepoTx, list []*model.Milestone) (*model.Milestone, string, error)) error {
	if !p.MayModerate() {
		return denied("Milestones are changed by people with write access.")
	}
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := tx.Write(ctx, threaddb.Domain); err != nil {
			return err
		}
		list, err := issuedb.Milestones(ctx, tx.Repo)
		if err != nil {
			return err
		}
		m, what, err := f(ctx, tx, list)
		if err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: p.Repo, Actor: p.Viewer},
			MilestoneEvent{Type: "milestone." + what, ID: m.ID, Number: m.Number, Title: m.Title, State: m.State, DueOn: m.DueOn})
	})
}
