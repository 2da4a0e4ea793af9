package settings

import (
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/settingview"
)

// deleted lists what the viewer can restore.
func (s *Service) deleted(c *web.Ctx) error {
	repos, err := s.Repos.Restorable(c.Context(), c.Viewer)
	if err != nil {
		return err
	}
	orgs, err := s.Accounts.RestorableOrgs(c.Context(), c.Viewer)
	if err != nil {
		return err
	}
	return s.page(c, "deleted", "Deleted", nil, settingview.Deleted(settingview.DeletedProps{Repos: repos, Orgs: orgs,
		Window: s.Accounts.RestoreWindow(c.Context())}))
}

func (s *Service) repoRestore(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	r, err := s.Repos.RestoreID(c.Context(), c.Viewer, id)
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Repo(r.Owner.Name, r.Name), "The repository is back as it was.")
}

func (s *Service) orgRestore(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	org, err := s.Accounts.RestoreOrg(c.Context(), c.Viewer, id)
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Account(org.Name), "The organisation is back, with its repositories.")
}
