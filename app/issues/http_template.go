package issues

import (
	"net/url"
	"slices"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/issueview"
)

// template finds the template that the address names and puts what it presets
// into in. asks is true when there are templates and none was chosen.
func (s *Service) template(c *web.Ctx, in *newIssue) (form *issueForm, asks bool, err error) {
	if in.Template == "blank" {
		return nil, false, nil
	}
	set, err := s.templates(c.Context(), c.Repo)
	if err != nil {
		return nil, false, err
	}
	if in.Template == "" {
		return nil, len(set.forms) > 0 && in.Title == "" && in.Body == "" && in.Parent == 0, nil
	}
	form = set.form(in.Template)
	if form == nil {
		return nil, false, db.ErrNotFound
	}
	if in.Title == "" {
		in.Title = form.Title
	}
	if in.Body == "" {
		in.Body = form.Text
	}
	for _, l := range form.Labels {
		if !slices.Contains(in.Labels, l) {
			in.Labels = append(in.Labels, l)
		}
	}
	if len(in.Assignees) == 0 {
		in.Assignees = form.Assignees
	}
	return form, false, nil
}

// choose shows the templates that there are.
func (s *Service) choose(c *web.Ctx) error {
	set, err := s.templates(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	p := issueview.ChooseProps{Owner: c.Repo.Owner.Name, Name: c.Repo.Name,
		Blank: set.config.Blank == nil || *set.config.Blank || place(c).MayTriage()}
	for _, f := range set.forms {
		p.Templates = append(p.Templates, issueview.Template{File: f.File, Name: f.Name, About: f.about()})
	}
	for _, k := range set.config.Contacts {
		// Only addresses of the web are links.
		if u, err := url.Parse(k.URL); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
			p.Contacts = append(p.Contacts, issueview.Contact{Name: k.Name, URL: k.URL, About: k.About})
		}
	}
	return s.render(c, web.Page{Title: "New issue", Body: issueview.Choose(p)}, model.KindIssue, nil)
}

// formProps are the fields of a form, with what was filled in.
func (s *Service) formProps(c *web.Ctx, f *issueForm) *issueview.FormProps {
	p := &issueview.FormProps{}
	for _, field := range f.Body {
		a := field.Attributes
		out := issueview.FormField{Type: field.Type, ID: field.ID, Label: a.Label, Description: a.Description, Placeholder: a.Placeholder,
			Value: a.Value, Multiple: a.Multiple, Required: field.Validations.Required, Render: a.Render}
		given, sent := c.R.PostForm["field-"+field.ID]
		if sent && len(given) > 0 {
			out.Value = given[0]
		}
		if field.Type == "markdown" {
			out.HTML = s.Threads.PreviewBare(c.Context(), a.Value)
		}
		for n, o := range a.Options {
			chosen := sent && slices.Contains(given, o.Label)
			if !sent && a.Default != nil && *a.Default == n {
				chosen, out.Value = true, o.Label
			}
			out.Options = append(out.Options, issueview.FormOption{Label: o.Label, Required: o.Required, Selected: chosen})
		}
		p.Fields = append(p.Fields, out)
	}
	return p
}
