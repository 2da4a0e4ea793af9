package involvement

import (
	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/siteview"
)

// shown is how many rows a section of the dashboard shows.
const shown = 8

// Panel is the viewer's part of the dashboard.
func (s *Service) Panel(c *web.Ctx) (templ.Component, error) {
	lists, err := s.Of(c.Context(), c.Viewer)
	if err != nil {
		return nil, err
	}
	var p siteview.InvolvedProps
	for _, sec := range []struct {
		title string
		rows  []*model.Involvement
	}{{"Review requested", lists.Review}, {"Assigned to you", lists.Assigned}, {"Your pull requests", lists.Pulls}, {"Your issues", lists.Issues}} {
		if len(sec.rows) == 0 {
			continue
		}
		view := siteview.InvolvedSection{Title: sec.title, Total: len(sec.rows), Rows: sec.rows[:min(len(sec.rows), shown)]}
		p.Sections = append(p.Sections, view)
	}
	if len(p.Sections) == 0 {
		return nil, nil //nolint:nilnil // a panel with nothing in it is none
	}
	return siteview.Involved(p), nil
}
