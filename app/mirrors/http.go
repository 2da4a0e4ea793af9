package mirrors

import (
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/mirrorview"
	"github.com/gitfor/gitfor/views/ui"
)

// Section is the page of a repository's settings.
func Section() repos.SettingsSection {
	return repos.SettingsSection{Key: "mirrors", Label: "Mirrors", Icon: "refresh-cw"}
}

// Routes mounts the pages and the API.
func (s *Service) Routes(r *web.Router) {
	r.Get("/new/import", s.Gate.SignedIn(), s.importPage)
	r.Post("/new/import", s.Gate.SignedIn(), s.importStart)
	admin := s.Gate.Repo(model.RoleAdmin)
	r.Get("/{owner}/{repo}/import", admin, s.progressPage)
	const at = "/{owner}/{repo}/settings/mirrors"
	r.Get(at, admin, s.settingsPage)
	r.Post(at, admin, s.pushAdd)
	r.Post(at+"/{id}/run", admin, s.runPage)
	r.Post(at+"/{id}/delete", admin, s.removePage)
	s.apiRoutes(r)
}

func (s *Service) importPage(c *web.Ctx) error {
	return s.renderImport(c, ImportInput{Input: Input{URL: c.Query("url")}, Owner: c.Viewer.Name(), Visibility: model.Private}, nil)
}

func (s *Service) renderImport(c *web.Ctx, in ImportInput, errs fault.Fields) error {
	orgs, err := accountdb.OrgsOf(c.Context(), s.DB.Directory(), c.Viewer.ID())
	if err != nil {
		return err
	}
	p := mirrorview.ImportProps{URL: in.URL, Username: in.Username, Owner: in.Owner, Name: in.Name, Visibility: in.Visibility, Every: in.Every,
		Owners: []ui.Option{{Value: c.Viewer.Name(), Label: c.Viewer.Name()}}, Errors: ui.Errors(errs)}
	for _, o := range orgs {
		p.Owners = append(p.Owners, ui.Option{Value: o.Name, Label: o.Name})
	}
	status := http.StatusOK
	if len(errs) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return c.Render(web.Page{Status: status, Title: "Import a repository", Shell: layout.Site, Body: mirrorview.Import(p)})
}

func (s *Service) importStart(c *web.Ctx) error {
	var in struct {
		URL        string `form:"url"`
		Username   string `form:"username"`
		Password   string `form:"password"`
		Owner      string `form:"owner"`
		Name       string `form:"name"`
		Visibility string `form:"visibility"`
		Every      int    `form:"every"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	full := ImportInput{Input: Input{in.URL, in.Username, in.Password}, Owner: in.Owner, Name: strings.TrimSpace(in.Name),
		Visibility: in.Visibility, Every: in.Every}
	if full.Name == "" {
		full.Name = nameOf(in.URL)
	}
	repo, err := s.Import(c.Context(), c.Viewer, full)
	if fault.Is(err, fault.Invalid) {
		return s.renderImport(c, full, fault.From(err).Fields)
	}
	if err != nil {
		return err
	}
	return c.Redirect(link.RepoPage(repo.Owner.Name, repo.Name, "import"))
}

// nameOf is what a repository at an address is called.
func nameOf(address string) string {
	address = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(address), "/"), ".git")
	return address[strings.LastIndexByte(address, '/')+1:]
}

// progressPage shows how far an import is; it asks again by itself until it
// ends.
func (s *Service) progressPage(c *web.Ctx) error {
	rows, err := s.List(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	for _, m := range rows {
		if m.Kind == model.MirrorPush {
			continue
		}
		if m.State == model.MirrorOK {
			return c.RedirectFlash(link.Repo(c.Repo.Owner.Name, c.Repo.Name), "The import is complete.")
		}
		if m.Busy() {
			c.W.Header().Set("Refresh", "3")
		}
		shell, err := s.Repos.Shell(c, "code")
		if err != nil {
			return err
		}
		return c.Render(web.Page{Title: "Import · " + c.Repo.FullName(), Shell: shell, Body: mirrorview.Progress(mirrorview.ProgressProps{
			Mirror: m, Settings: home(c), Base: home(c)})})
	}
	return db.ErrNotFound
}

func home(c *web.Ctx) string { return link.RepoSettings(c.Repo.Owner.Name, c.Repo.Name, "mirrors") }

func (s *Service) settingsPage(c *web.Ctx) error { return s.renderSettings(c, Input{}, nil) }

func (s *Service) renderSettings(c *web.Ctx, in Input, errs fault.Fields) error {
	rows, err := s.List(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	p := mirrorview.SettingsProps{Base: home(c), URL: in.URL, Username: in.Username, Errors: ui.Errors(errs)}
	for _, m := range rows {
		if m.Busy() && len(errs) == 0 {
			c.W.Header().Set("Refresh", "5")
		}
		if m.Kind == model.MirrorPush {
			p.Pushes = append(p.Pushes, m)
		} else {
			p.From = append(p.From, m)
		}
	}
	status := http.StatusOK
	if len(errs) > 0 {
		status = http.StatusUnprocessableEntity
	}
	shell, err := s.Repos.SettingsShell(c, "mirrors")
	if err != nil {
		return err
	}
	return c.Render(web.Page{Status: status, Title: "Mirrors · " + c.Repo.FullName(), Shell: shell, Body: mirrorview.Settings(p)})
}

func (s *Service) pushAdd(c *web.Ctx) error {
	var in Input
	if err := c.Decode(&in); err != nil {
		return err
	}
	_, err := s.AddPush(c.Context(), c.Viewer, c.Repo, in)
	if fault.Is(err, fault.Invalid) {
		return s.renderSettings(c, in, fault.From(err).Fields)
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(home(c), "The first copy begins.")
}

func (s *Service) runPage(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.RunNow(c.Context(), c.Repo.ID, id); err != nil {
		return err
	}
	return c.RedirectFlash(home(c), "It runs as soon as there is room.")
}

func (s *Service) removePage(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.Remove(c.Context(), c.Viewer, c.Repo, id); err != nil {
		return err
	}
	return c.RedirectFlash(home(c), "The mirror is ended. What was copied stays.")
}
