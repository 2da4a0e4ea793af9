package repos

import (
	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/layout"
)

// Shell is the frame of the pages of the repository in c, with the tab of
// this key as the current one. It costs one query, for the counts of the tabs.
func (s *Service) Shell(c *web.Ctx, active string) (layout.Shell, error) {
	return s.ShellActions(c, active, nil)
}

// ShellActions is Shell with what can be done at the right of the tabs.
func (s *Service) ShellActions(c *web.Ctx, active string, actions templ.Component) (layout.Shell, error) {
	counts, err := s.DB.Repo(c.Repo.ID).Counts(c.Context())
	if err != nil {
		return nil, err
	}
	return s.ShellActionsWith(c, active, counts, actions), nil
}

// ShellActionsWith is ShellActions for pages that have read the counters
// already.
func (s *Service) ShellActionsWith(c *web.Ctx, active string, counts map[string]int64, actions templ.Component) layout.Shell {
	props := s.frame(c, active, counts)
	props.Actions = actions
	return layout.RepoShell(props)
}

// ShellWith is Shell for pages that have read the counters already.
func (s *Service) ShellWith(c *web.Ctx, active string, counts map[string]int64) layout.Shell {
	return layout.RepoShell(s.frame(c, active, counts))
}

// frame is what the shell shows of the repository in c.
func (s *Service) frame(c *web.Ctx, active string, counts map[string]int64) layout.RepoProps {
	r := c.Repo
	tabs := map[string]int{"code": 0}
	for _, key := range s.Tabs {
		switch {
		case key == "issues" && r.Settings.NoIssues, key == "pulls" && r.Settings.NoPulls:
		default:
			tabs[key] = int(counts["open_"+key])
		}
	}
	if c.Role.AtLeast(model.RoleAdmin) {
		tabs["settings"] = 0
	}
	return layout.RepoProps{Owner: r.Owner.Name, Name: r.Name, Private: r.IsPrivate(), Archived: r.Archived(),
		Mirror: r.Mirror, Template: r.Template, Tabs: layout.RepoTabs(r.Owner.Name, r.Name, tabs), Active: active, ID: r.ID}
}
