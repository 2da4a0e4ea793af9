package repos

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/repoview"
	"github.com/gitfor/gitfor/views/ui"
)

func (s *Service) deletePage(c *web.Ctx) error { return s.showDelete(c, nil) }

// showDelete says what deleting the repository will do, and asks.
func (s *Service) showDelete(c *web.Ctx, errs fault.Fields) error {
	stake, err := repodb.StakeOf(c.Context(), s.DB.Directory(), c.Repo)
	if err != nil {
		return err
	}
	counts, err := s.DB.Repo(c.Repo.ID).Counts(c.Context())
	if err != nil {
		return err
	}
	shell, err := s.SettingsShell(c, "general")
	if err != nil {
		return err
	}
	p := repoview.DeleteProps{Repo: c.Repo, OpenIssues: counts["open_issues"], OpenPulls: counts["open_pulls"], Stars: stake.Stars,
		Watchers: stake.Watchers, Forks: stake.Forks, People: stake.Collaborators, SizeKB: c.Repo.SizeKB,
		Until: time.Now().Add(s.RestoreWindow(c.Context())), Errors: ui.Errors(errs), Typed: c.R.PostFormValue("confirm")}
	status := http.StatusOK
	if len(errs) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return c.Render(web.Page{Status: status, Title: "Delete · " + c.Repo.FullName(), Shell: shell, Body: repoview.Delete(p)})
}

func (s *Service) destroy(c *web.Ctx) error {
	if f := fault.From(s.confirmed(c)); f != nil {
		return s.showDelete(c, f.Fields)
	}
	if err := s.Delete(c.Context(), c.Viewer, c.Repo); err != nil {
		return err
	}
	days := int(s.RestoreWindow(c.Context()).Hours()) / 24
	return c.RedirectFlash(link.Account(c.Repo.Owner.Name), c.Repo.FullName()+" is deleted. For "+strconv.Itoa(days)+
		" days it can be restored from your settings, under Deleted.")
}
