package lfs

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/lfsdb"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/lfsview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// Section is the page of a repository's settings.
func Section() repos.SettingsSection {
	return repos.SettingsSection{Key: "lfs", Label: "Large files", Icon: "hard-drive"}
}

// shownLocks is how many locks the page lists.
const shownLocks = 500

func (s *Service) settingsPage(c *web.Ctx) error {
	used, err := lfsdb.OfRepo(c.Context(), s.DB.Repo(c.Repo.ID))
	if err != nil {
		return err
	}
	locks, err := s.Locks(c.Context(), c.Repo, lfsdb.LockFilter{Limit: shownLocks})
	if err != nil {
		return err
	}
	room, err := s.room(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	p := lfsview.SettingsProps{Base: link.RepoSettings(c.Repo.Owner.Name, c.Repo.Name, "lfs"), Objects: used.Objects, Bytes: used.Bytes,
		Owner: c.Repo.Owner.Name, OwnerBytes: room.used, Quota: room.limits.Quota, Largest: room.limits.Largest}
	for _, l := range locks {
		p.Locks = append(p.Locks, lfsview.Lock{ID: l.ID, Path: l.Path, Owner: l.Owner, At: l.CreatedAt})
	}
	shell, err := s.Repos.SettingsShell(c, "lfs")
	if err != nil {
		return err
	}
	return c.Render(web.Page{Title: "Large files · " + c.Repo.FullName(), Shell: shell, Body: lfsview.Settings(p)})
}

func (s *Service) unlockPage(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	lock, err := s.Unlock(c.Context(), c.Viewer, c.Repo, c.Role, id, true)
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.RepoSettings(c.Repo.Owner.Name, c.Repo.Name, "lfs"), lock.Path+" is not locked any more.")
}

// shownOwners is how many accounts the operator's page lists.
const shownOwners = 50

func (s *Service) adminPage(c *web.Ctx) error {
	limits, err := s.Limits(c.Context())
	if err != nil {
		return err
	}
	return s.renderAdmin(c, lfsview.AdminProps{Quota: strconv.FormatInt(limits.Quota/megabyte, 10),
		Largest: strconv.FormatInt(limits.Largest/megabyte, 10)}, http.StatusOK)
}

func (s *Service) renderAdmin(c *web.Ctx, p lfsview.AdminProps, status int) error {
	all, err := lfsdb.Stored(c.Context(), s.DB.Directory())
	if err != nil {
		return err
	}
	owners, err := lfsdb.Largest(c.Context(), s.DB.Directory(), shownOwners)
	if err != nil {
		return err
	}
	p.Place, p.Objects, p.Bytes = s.Blobs.String(), all.Objects, all.Bytes
	for _, o := range owners {
		p.Owners = append(p.Owners, lfsview.Owner{Name: o.Owner, Objects: o.Objects, Bytes: o.Bytes})
	}
	return c.Render(web.Page{Status: status, Title: "Large files · Administration", Shell: layout.AdminShell("lfs"), Body: lfsview.Admin(p)})
}

func (s *Service) adminSave(c *web.Ctx) error {
	var in struct {
		Quota   string `form:"quota"`
		Largest string `form:"largest"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	fields, limits := fault.Fields{}, Limits{}
	for name, f := range map[string]struct {
		typed string
		dst   *int64
	}{"quota": {in.Quota, &limits.Quota}, "largest": {in.Largest, &limits.Largest}} {
		text := strings.TrimSpace(f.typed)
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > 1<<40 {
			fields.Add(name, "Give a number of megabytes, or 0 for no limit.")
			continue
		}
		*f.dst = n * megabyte
	}
	if len(fields) > 0 {
		return s.renderAdmin(c, lfsview.AdminProps{Quota: in.Quota, Largest: in.Largest, Errors: ui.Errors(fields)}, http.StatusUnprocessableEntity)
	}
	if err := s.SetLimits(c.Context(), limits); err != nil {
		return err
	}
	return c.RedirectFlash(link.Admin("lfs"), "The limits are saved.")
}
