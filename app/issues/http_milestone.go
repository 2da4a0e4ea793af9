package issues

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/issueview"
	"github.com/gitfor/gitfor/views/link"
)

func (s *Service) milestoneRoutes(r *web.Router, read, post web.Access) {
	at := "/{owner}/{repo}/milestone/{milestone}"
	r.Get("/{owner}/{repo}/milestones", read, s.milestonesPage)
	r.Post("/{owner}/{repo}/milestones", post, s.milestoneCreate)
	r.Get("/{owner}/{repo}/milestones/new", post, s.milestoneNew)
	r.Get(at, read, s.milestonePage)
	r.Get(at+"/edit", post, s.milestoneForm)
	r.Post(at+"/edit", post, s.milestoneSave)
	r.Post(at+"/state", post, s.milestoneState)
	r.Post(at+"/delete", post, s.milestoneDelete)
}

func (s *Service) milestonesPage(c *web.Ctx) error {
	facts, err := threaddb.LoadContext(c.Context(), s.DB.Repo(c.Repo.ID), 0, 0)
	if err != nil {
		return err
	}
	p := issueview.MilestonesProps{Owner: c.Repo.Owner.Name, Name: c.Repo.Name, State: model.StateOpen, CanEdit: place(c).MayModerate()}
	if c.Query("state") == model.StateClosed {
		p.State = model.StateClosed
	}
	sortMilestones(facts.Milestones, "", false)
	var list []*model.Milestone
	for _, m := range facts.Milestones {
		if m.State == model.StateOpen {
			p.Open++
		} else {
			p.Closed++
		}
		if m.State == p.State {
			list = append(list, m)
		}
	}
	if p.Milestones, err = s.milestoneRows(c, list); err != nil {
		return err
	}
	return s.render(c, web.Page{Title: "Milestones", Body: issueview.Milestones(p)}, model.KindIssue, facts)
}

func (s *Service) milestoneRows(c *web.Ctx, list []*model.Milestone) ([]issueview.MilestoneRow, error) {
	texts := make([]threads.Text, len(list))
	for i, m := range list {
		texts[i] = threads.Text{Body: m.Description, ID: "m" + num(m.Number)}
	}
	html, _, err := s.Threads.Render(c.Context(), place(c), texts, threads.Look{})
	if err != nil {
		return nil, err
	}
	rows := make([]issueview.MilestoneRow, len(list))
	for i, m := range list {
		late := m.DueOn != nil && m.State == model.StateOpen && time.Now().After(m.DueOn.AddDate(0, 0, 1))
		rows[i] = issueview.MilestoneRow{Milestone: m, HTML: html[i], Late: late}
	}
	return rows, nil
}

func (s *Service) milestonePage(c *web.Ctx) error {
	n, err := c.ParamInt("milestone")
	if err != nil {
		return err
	}
	m, err := s.Milestone(c.Context(), c.Repo, n)
	if err != nil {
		return err
	}
	q := With("", "milestone", m.Title)
	if c.Query("state") == model.StateClosed || strings.Contains(c.Query("q"), "is:closed") {
		q = With(q, "state", model.StateClosed)
	} else {
		q = With(q, "state", model.StateOpen)
	}
	page := c.QueryInt("page", 1, 1, 100_000)
	r, err := s.List(c.Context(), place(c), ListInput{Query: q, Limit: perPage, Offset: (page - 1) * perPage})
	if err != nil {
		return err
	}
	rows, err := s.milestoneRows(c, []*model.Milestone{m})
	if err != nil {
		return err
	}
	list := s.listProps(c, model.KindIssue, q, r)
	list.Page, list.CanTriage = page, false
	here := link.Milestone(c.Repo.Owner.Name, c.Repo.Name, n)
	list.OpenHref, list.ClosedHref, list.Menus = here, link.Q("state", "closed").On(here), nil
	for i := range list.Rows {
		list.Rows[i].Select = false
	}
	p := issueview.MilestoneProps{Owner: c.Repo.Owner.Name, Name: c.Repo.Name, Row: rows[0], CanEdit: place(c).MayModerate(), List: list}
	return s.render(c, web.Page{Title: m.Title + " · Milestone", Body: issueview.Milestone(p)}, model.KindIssue, r.Facts)
}

type milestoneForm struct {
	Title       string `form:"title"`
	Due         string `form:"due_on"`
	Description string `form:"description"`
}

func (f *milestoneForm) input(fields map[string]string) MilestoneInput {
	in := MilestoneInput{Title: &f.Title, Description: &f.Description, NoDue: f.Due == ""}
	if f.Due != "" {
		if t, err := time.Parse(time.DateOnly, f.Due); err == nil {
			in.DueOn = &t
		} else {
			fields["due_on"] = "The date is in the form 2006-01-31."
		}
	}
	return in
}

func (s *Service) renderMilestone(c *web.Ctx, status int, n int64, f milestoneForm, fields map[string]string) error {
	if !place(c).MayModerate() {
		return c.Forbid("Milestones are changed by people with write access.")
	}
	title := "New milestone"
	if n != 0 {
		title = "Edit milestone"
	}
	return s.render(c, web.Page{Status: status, Title: title, Body: issueview.MilestoneEdit(issueview.MilestoneForm{Owner: c.Repo.Owner.Name,
		Name: c.Repo.Name, Number: n, Title: f.Title, Due: f.Due, Description: f.Description, Errors: fields})}, model.KindIssue, nil)
}

func (s *Service) milestoneNew(c *web.Ctx) error {
	return s.renderMilestone(c, http.StatusOK, 0, milestoneForm{}, nil)
}

func (s *Service) milestoneCreate(c *web.Ctx) error {
	return s.milestoneWrite(c, 0, func(in MilestoneInput) (*model.Milestone, error) {
		return s.CreateMilestone(c.Context(), place(c), in)
	})
}

func (s *Service) milestoneForm(c *web.Ctx) error {
	n, err := c.ParamInt("milestone")
	if err != nil {
		return err
	}
	m, err := s.Milestone(c.Context(), c.Repo, n)
	if err != nil {
		return err
	}
	f := milestoneForm{Title: m.Title, Description: m.Description}
	if m.DueOn != nil {
		f.Due = m.DueOn.UTC().Format(time.DateOnly)
	}
	return s.renderMilestone(c, http.StatusOK, n, f, nil)
}

func (s *Service) milestoneSave(c *web.Ctx) error {
	n, err := c.ParamInt("milestone")
	if err != nil {
		return err
	}
	return s.milestoneWrite(c, n, func(in MilestoneInput) (*model.Milestone, error) {
		return s.EditMilestone(c.Context(), place(c), n, in)
	})
}

func (s *Service) milestoneWrite(c *web.Ctx, n int64, write func(in MilestoneInput) (*model.Milestone, error)) error {
	var f milestoneForm
	if err := c.Decode(&f); err != nil {
		return err
	}
	fields := map[string]string{}
	in := f.input(fields)
	if len(fields) > 0 {
		return s.renderMilestone(c, unprocessable, n, f, fields)
	}
	m, err := write(in)
	if bad, ok := invalid(err); ok {
		return s.renderMilestone(c, unprocessable, n, f, bad)
	}
	if err != nil {
		return err
	}
	return c.Redirect(link.Milestone(c.Repo.Owner.Name, c.Repo.Name, m.Number))
}

func (s *Service) milestoneState(c *web.Ctx) error {
	n, err := c.ParamInt("milestone")
	if err != nil {
		return err
	}
	var in struct {
		State string `form:"state"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if _, err := s.EditMilestone(c.Context(), place(c), n, MilestoneInput{State: &in.State}); err != nil {
		return err
	}
	return c.Redirect(link.Milestones(c.Repo.Owner.Name, c.Repo.Name))
}

func (s *Service) milestoneDelete(c *web.Ctx) error {
	n, err := c.ParamInt("milestone")
	if err != nil {
		return err
	}
	if err := s.DeleteMilestone(c.Context(), place(c), n); err != nil && !isMissing(err) {
		return err
	}
	return c.RedirectFlash(link.Milestones(c.Repo.Owner.Name, c.Repo.Name), "The milestone was deleted.")
}

func isMissing(err error) bool { return errors.Is(err, db.ErrNotFound) }
