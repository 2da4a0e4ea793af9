package issues

import (
	"net/http"
	"slices"

	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/issueview"
	"github.com/gitfor/gitfor/views/ui"
)

// newIssue is the form of a new issue as it was sent.
type newIssue struct {
	Title        string   `form:"title"`
	Body         string   `form:"body"`
	Labels       []string `form:"labels"`
	Assignees    []string `form:"assignees"`
	Milestone    int64    `form:"milestone"`
	Confidential bool     `form:"confidential"`
	Parent       int64    `form:"parent"`
	Template     string   `form:"template"`
	Key          string   `form:"idempotency_key"`
}

func (in *newIssue) input() CreateInput {
	return CreateInput{Title: in.Title, Body: in.Body, Labels: filled(in.Labels), Assignees: filled(in.Assignees),
		Milestone: in.Milestone, Confidential: in.Confidential, Parent: in.Parent}
}

func (s *Service) newForm(c *web.Ctx) error {
	q := c.R.URL.Query()
	in := newIssue{Title: q.Get("title"), Body: q.Get("body"), Labels: splitList(q["labels"]), Assignees: splitList(q["assignees"]),
		Parent: number(q.Get("parent")), Template: q.Get("template")}
	form, asks, err := s.template(c, &in)
	if err != nil {
		return err
	}
	if asks {
		return s.choose(c)
	}
	return s.renderNew(c, http.StatusOK, in, form, nil)
}

func (s *Service) renderNew(c *web.Ctx, status int, in newIssue, form *issueForm, fields ui.Errors) error {
	facts, err := threaddb.LoadContext(c.Context(), s.DB.Repo(c.Repo.ID), 0, 0)
	if err != nil {
		return err
	}
	p := issueview.NewProps{Owner: c.Repo.Owner.Name, Name: c.Repo.Name, Title: in.Title, Body: in.Body, Labels: facts.Labels,
		Milestones: openMilestones(facts.Milestones), ChosenLabels: chosen(in.Labels), ChosenPeople: chosen(in.Assignees), Milestone: in.Milestone,
		Confidential: in.Confidential, Parent: in.Parent, CanTriage: place(c).MayTriage(), Template: in.Template, Errors: fields, Key: in.Key}
	if p.CanTriage {
		ids, err := repodb.Members(c.Context(), s.DB.Directory(), c.Repo)
		if err != nil {
			return err
		}
		byID, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if a := byID[id]; a != nil {
				p.People = append(p.People, a)
			}
		}
	}
	if form != nil && form.isForm() {
		p.Form = s.formProps(c, form)
	}
	return s.render(c, web.Page{Status: status, Title: "New issue", Body: issueview.New(p)}, model.KindIssue, facts)
}

func chosen(list []string) map[string]bool {
	out := map[string]bool{}
	for _, v := range list {
		out[v] = true
	}
	return out
}

// open makes the issue that the form asks for.
func (s *Service) open(c *web.Ctx) error {
	var in newIssue
	if err := c.Decode(&in); err != nil {
		return err
	}
	var form *issueForm
	if in.Template != "" {
		named := newIssue{Template: in.Template}
		var err error
		if form, _, err = s.template(c, &named); err != nil {
			return err
		}
	}
	fields := ui.Errors{}
	if form != nil && form.isForm() {
		in.Body = form.fill(c.R.PostForm, fields)
	}
	if len(fields) > 0 {
		return s.renderNew(c, unprocessable, in, form, fields)
	}
	input := in.input()
	if form != nil && !place(c).MayTriage() {
		// A template's labels are given, whoever writes.
		input.TemplateLabels = form.Labels
	}
	i, err := s.Create(c.Context(), place(c), input)
	if bad, ok := invalid(err); ok {
		return s.renderNew(c, unprocessable, in, form, bad)
	}
	if err != nil {
		return err
	}
	return c.Redirect(threads.Href(c.Repo, i))
}

// splitList reads repeated parameters that may hold several values, each.
func splitList(values []string) []string {
	var out []string
	for _, v := range values {
		for _, part := range splitComma(v) {
			if part != "" && !slices.Contains(out, part) {
				out = append(out, part)
			}
		}
	}
	return out
}
