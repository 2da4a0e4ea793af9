package issues

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/issuedb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

// LabelInput is a label as it shall be. Nil stays as it is, and takes a usual
// value in a new label.
type LabelInput struct {
	Name        *string `json:"name" form:"name"`
	NewName     *string `json:"new_name" form:"-"`
	Color       *string `json:"color" form:"color"`
	Description *string `json:"description" form:"description"`
}

// LabelEvent is the data of events about labels.
type LabelEvent struct {
	Type        string `json:"-"`
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Color       string `json:"color"`
	Description string `json:"description"`
	OldName     string `json:"oldName,omitempty"`
}

// EventType is the event's type.
func (e LabelEvent) EventType() string { return e.Type }

var hexColor = regexp.MustCompile(`^[0-9a-f]{6}$`)

// apply puts in into l and says what is wrong.
func (in LabelInput) apply(l *model.Label) error {
	fields := fault.Fields{}
	if name := cmpOr(in.NewName, in.Name); name != nil {
		l.Name = strings.TrimSpace(*name)
		fields.Add("name", labelName(l.Name))
	}
	if in.Color != nil {
		l.Color = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(*in.Color), "#"))
		if !hexColor.MatchString(l.Color) {
			fields.Add("color", "The colour is six hexadecimal digits, such as d73a4a.")
		}
	}
	if in.Description != nil {
		description, problem := threads.BodyOf(strings.TrimSpace(*in.Description))
		l.Description = description
		fields.Add("description", problem)
		if utf8.RuneCountInString(description) > 100 {
			fields.Add("description", "The description is too long: at most 100 characters.")
		}
	}
	return resource("Label", fields.Err())
}

func labelName(name string) string {
	_, problem := threads.TitleOf(name)
	switch {
	case name == "" || problem != "":
		return "A name is needed, in one line of text."
	case utf8.RuneCountInString(name) > 50:
		return "The name is too long: at most 50 characters."
	case strings.ContainsAny(name, "\n\r\t,"):
		return "A label's name is one line and holds no comma."
	}
	return ""
}

func cmpOr(a, b *string) *string {
	if a != nil {
		return a
	}
	return b
}

// Labels returns the repository's labels by name.
func (s *Service) Labels(ctx context.Context, repo *model.Repo) ([]*model.Label, error) {
	return issuedb.Labels(ctx, s.DB.Repo(repo.ID))
}

// Label returns a label by its name.
func (s *Service) Label(ctx context.Context, repo *model.Repo, name string) (*model.Label, error) {
	labels, err := s.Labels(ctx, repo)
	if err != nil {
		return nil, err
	}
	return findLabel(labels, name)
}

func findLabel(labels []*model.Label, name string) (*model.Label, error) {
	at := slices.IndexFunc(labels, func(l *model.Label) bool { return model.Key(l.Name) == model.Key(name) })
	if at < 0 {
		return nil, db.ErrNotFound
	}
	return labels[at], nil
}

// CreateLabel adds a label.
func (s *Service) CreateLabel(ctx context.Context, p threads.Place, in LabelInput) (*model.Label, error) {
	if in.Name == nil {
		in.Name = new(string)
	}
	l := &model.Label{Color: "ededed"}
	if err := in.apply(l); err != nil {
		return nil, err
	}
	err := s.changeLabels(ctx, p, func(ctx context.Context, tx *db.RepoTx, labels []*model.Label) (LabelEvent, error) {
		if _, err := findLabel(labels, l.Name); err == nil {
			return LabelEvent{}, taken(l.Name)
		}
		l.ID = 0
		return LabelEvent{Type: "label.created"}, threaddb.InsertLabel(ctx, tx, l)
	}, l)
	return l, err
}

func taken(name string) error {
	return resource("Label", fault.Field("name", "There is a label named "+name+" already."))
}

// EditLabel changes the label of this name.
func (s *Service) EditLabel(ctx context.Context, p threads.Place, name string, in LabelInput) (*model.Label, error) {
	l := &model.Label{}
	err := s.changeLabels(ctx, p, func(ctx context.Context, tx *db.RepoTx, labels []*model.Label) (LabelEvent, error) {
		old, err := findLabel(labels, name)
		if err != nil {
			return LabelEvent{}, err
		}
		*l = *old
		if err := in.apply(l); err != nil {
			return LabelEvent{}, err
		}
		if other, err := findLabel(labels, l.Name); err == nil && other.ID != l.ID {
			return LabelEvent{}, taken(l.Name)
		}
		return LabelEvent{Type: "label.edited", OldName: old.Name}, issuedb.UpdateLabel(ctx, tx, old.Name, l)
	}, l)
	return l, err
}

// DeleteLabel removes the label of this name from everywhere.
func (s *Service) DeleteLabel(ctx context.Context, p threads.Place, name string) error {
	l := &model.Label{}
	return s.changeLabels(ctx, p, func(ctx context.Context, tx *db.RepoTx, labels []*model.Label) (LabelEvent, error) {
		old, err := findLabel(labels, name)
		if err != nil {
			return LabelEvent{}, err
		}
		*l = *old
		return LabelEvent{Type: "label.deleted"}, issuedb.DeleteLabel(ctx, tx, l)
	}, l)
}

// changeLabels runs f in a transaction and publishes its event about l.
func (s *Service) changeLabels(ctx context.Context, p threads.Place, f func(ctx context.Context, tx *db.RepoTx, labels []*model.Label) (LabelEvent, error), l *model.Label) error {
	if !p.MayModerate() {
		return denied("Labels are changed by people with write access.")
	}
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		// The first write makes the tables with the usual labels in them.
		if _, err := tx.Write(ctx, threaddb.Domain); err != nil {
			return err
		}
		labels, err := issuedb.Labels(ctx, tx.Repo)
		if err != nil {
			return err
		}
		e, err := f(ctx, tx, labels)
		if err != nil {
			return err
		}
		e.ID, e.Name, e.Color, e.Description = l.ID, l.Name, l.Color, l.Description
		return events.Emit(ctx, tx, events.About{Repo: p.Repo, Actor: p.Viewer}, e)
	})
}
