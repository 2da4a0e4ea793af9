package issues

import (
	"context"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// CreateInput is a new issue.
type CreateInput struct {
	Title        string   `form:"title"`
	Body         string   `form:"body"`
	Labels       []string `form:"labels"`
	Assignees    []string `form:"assignees"`
	Milestone    int64    `form:"milestone"`
	Type         string   `form:"type"`
	Confidential bool     `form:"confidential"`
	// TemplateLabels come from the repository's template and are given
	// whoever the author is; those that do not exist are left out.
	TemplateLabels []string `form:"-"`
	// Parent is the issue that this is a part of, 0 for none.
	Parent int64 `form:"parent"`
	// MakeLabels makes labels that are missing, where the author may.
	MakeLabels bool `form:"-"`
}

// Create opens an issue and publishes issue.opened.
func (s *Service) Create(ctx context.Context, p threads.Place, in CreateInput) (*model.Issue, error) {
	o, err := s.create(ctx, p, in)
	if err != nil {
		return nil, err
	}
	return o.Issue, nil
}

func (s *Service) create(ctx context.Context, p threads.Place, in CreateInput) (*threads.Opened, error) {
	if p.Repo.Settings.NoIssues {
		return nil, errOff()
	}
	o := threads.Opening{Title: in.Title, Body: in.Body, Labels: in.Labels, Assignees: in.Assignees,
		Milestone: in.Milestone, Type: in.Type, Confidential: in.Confidential, MakeLabels: in.MakeLabels, TemplateLabels: in.TemplateLabels}
	if err := s.Threads.Prepare(ctx, p, &o); err != nil {
		return nil, resource("Issue", err)
	}
	var out *threads.Opened
	err := s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) (err error) {
		if out, err = s.Threads.OpenTx(ctx, tx, p, model.KindIssue, o); err != nil {
			return err
		}
		if in.Parent != 0 {
			if err := s.adopt(ctx, tx, p, in.Parent, out.Issue); err != nil {
				return err
			}
		}
		return events.Emit(ctx, tx, events.About{Repo: p.Repo, Actor: p.Viewer}, out.Event)
	})
	return out, resource("Issue", err)
}

// resource names in GitHub's error answers what a fault is about.
func resource(name string, err error) error {
	if err == nil {
		return nil
	}
	f := *fault.From(err)
	if f.Kind == fault.Invalid && f.Resource == "" {
		f.Resource = name
		return &f
	}
	return err
}
