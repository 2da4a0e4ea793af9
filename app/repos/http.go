package repos

import (
	"net/http"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/repoview"
	"github.com/gitfor/gitfor/views/ui"
)

// Routes mounts the pages and the API.
func (s *Service) Routes(r *web.Router) {
	g := s.Gate
	r.Get("/new", g.SignedIn(), s.newForm)
	r.Post("/new", g.SignedIn(), s.create)
	r.Get("/{owner}/{repo}/settings", g.Repo(model.RoleAdmin), s.settings)
	r.Post("/{owner}/{repo}/settings", g.Repo(model.RoleAdmin), s.settingsSave)
	r.Post("/{owner}/{repo}/settings/rename", g.Repo(model.RoleAdmin), s.rename)
	r.Post("/{owner}/{repo}/settings/visibility", g.Repo(model.RoleAdmin), s.visibility)
	r.Post("/{owner}/{repo}/settings/archive", g.Repo(model.RoleAdmin), s.archive)
	r.Post("/{owner}/{repo}/settings/transfer", g.Repo(model.RoleAdmin), s.transfer)
	r.Get("/{owner}/{repo}/settings/delete", g.Repo(model.RoleAdmin), s.deletePage)
	r.Post("/{owner}/{repo}/settings/delete", g.Repo(model.RoleAdmin), s.destroy)
	s.apiRoutes(r)
}

func (s *Service) newForm(c *web.Ctx) error {
	in := CreateInput{Owner: c.Query("owner"), Name: c.Query("name"), Visibility: model.Public, Readme: true}
	if in.Owner == "" {
		in.Owner = c.Viewer.Name()
	}
	return s.renderNew(c, in, nil)
}

func (s *Service) renderNew(c *web.Ctx, in CreateInput, fields fault.Fields) error {
	orgs, err := accountdb.OrgsOf(c.Context(), s.DB.Directory(), c.Viewer.ID())
	if err != nil {
		return err
	}
	props := repoview.NewProps{Owner: in.Owner, Name: in.Name, Description: in.Description, Visibility: in.Visibility,
		Readme: in.Readme, Licence: in.Licence, Gitignore: in.Gitignore, Errors: ui.Errors(fields),
		Owners:   []ui.Option{{Value: c.Viewer.Name(), Label: c.Viewer.Name()}},
		Licences: []ui.Option{{Label: "No licence"}}, Gitignores: []ui.Option{{Label: "No .gitignore"}}}
	for _, o := range orgs {
		props.Owners = append(props.Owners, ui.Option{Value: o.Name, Label: o.Name})
	}
	for _, l := range Licences {
		props.Licences = append(props.Licences, ui.Option{Value: l.Key, Label: l.Name})
	}
	for _, name := range Gitignores() {
		props.Gitignores = append(props.Gitignores, ui.Option{Value: name, Label: name})
	}
	status := http.StatusOK
	if len(fields) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return c.Render(web.Page{Status: status, Title: "New repository", Shell: layout.Site, Body: repoview.New(props)})
}

func (s *Service) create(c *web.Ctx) error {
	var in CreateInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if in.Owner == "" {
		in.Owner = c.Viewer.Name()
	}
	repo, err := s.Create(c.Context(), c.Viewer, in)
	if f := fault.From(err); err != nil && f.Kind == fault.Invalid {
		return s.renderNew(c, in, f.Fields)
	}
	if err != nil {
		return err
	}
	return c.Redirect(link.Repo(repo.Owner.Name, repo.Name))
}
