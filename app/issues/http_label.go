package issues

import (
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/issuedb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/issueview"
	"github.com/gitfor/gitfor/views/link"
)

func (s *Service) labelRoutes(r *web.Router, read, post web.Access) {
	r.Get("/{owner}/{repo}/labels", read, s.labelsPage)
	r.Post("/{owner}/{repo}/labels", post, s.labelCreate)
	r.Post("/{owner}/{repo}/labels/{name}", post, s.labelSave)
	r.Delete("/{owner}/{repo}/labels/{name}", post, s.labelDelete)
}

func (s *Service) labelsPage(c *web.Ctx) error {
	return s.renderLabels(c, http.StatusOK, issueview.LabelForm{Color: "0075ca"}, "", nil)
}

// renderLabels shows the labels; editing names the one whose form is open.
func (s *Service) renderLabels(c *web.Ctx, status int, fresh issueview.LabelForm, editing string, edit *issueview.LabelForm) error {
	facts, err := threaddb.LoadContext(c.Context(), s.DB.Repo(c.Repo.ID), 0, 0)
	if err != nil {
		return err
	}
	use, err := issuedb.LabelUse(c.Context(), s.DB.Repo(c.Repo.ID))
	if err != nil {
		return err
	}
	q := strings.ToLower(strings.TrimSpace(c.Query("q")))
	p := issueview.LabelsProps{Owner: c.Repo.Owner.Name, Name: c.Repo.Name, CanEdit: place(c).MayModerate(), Query: c.Query("q"), New: fresh}
	for _, l := range facts.Labels {
		if q != "" && !strings.Contains(strings.ToLower(l.Name+" "+l.Description), q) {
			continue
		}
		row := issueview.LabelRow{Label: l, Open: use[l.ID]}
		if edit != nil && model.Key(l.Name) == model.Key(editing) {
			row.Edit = edit
		}
		p.Labels = append(p.Labels, row)
	}
	return s.render(c, web.Page{Status: status, Title: "Labels", Body: issueview.Labels(p)}, model.KindIssue, facts)
}

type labelForm struct {
	Name        string `form:"name"`
	Color       string `form:"color"`
	Description string `form:"description"`
}

func (f *labelForm) input() LabelInput {
	return LabelInput{Name: &f.Name, Color: &f.Color, Description: &f.Description}
}

func (f *labelForm) again(fields map[string]string) issueview.LabelForm {
	return issueview.LabelForm{Open: true, Name: f.Name, Color: strings.TrimPrefix(f.Color, "#"), Description: f.Description, Errors: fields}
}

func (s *Service) labelCreate(c *web.Ctx) error {
	var f labelForm
	if err := c.Decode(&f); err != nil {
		return err
	}
	l, err := s.CreateLabel(c.Context(), place(c), f.input())
	if fields, ok := invalid(err); ok {
		return s.renderLabels(c, unprocessable, f.again(fields), "", nil)
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Labels(c.Repo.Owner.Name, c.Repo.Name), "The label "+l.Name+" was made.")
}

func (s *Service) labelSave(c *web.Ctx) error {
	var f labelForm
	if err := c.Decode(&f); err != nil {
		return err
	}
	_, err := s.EditLabel(c.Context(), place(c), c.Param("name"), f.input())
	if fields, ok := invalid(err); ok {
		again := f.again(fields)
		return s.renderLabels(c, unprocessable, issueview.LabelForm{Color: "0075ca"}, c.Param("name"), &again)
	}
	if err != nil {
		return err
	}
	return c.Redirect(link.Labels(c.Repo.Owner.Name, c.Repo.Name))
}

func (s *Service) labelDelete(c *web.Ctx) error {
	// A second click finds nothing left to do.
	if err := s.DeleteLabel(c.Context(), place(c), c.Param("name")); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	return c.RedirectFlash(link.Labels(c.Repo.Owner.Name, c.Repo.Name), "The label was deleted.")
}
