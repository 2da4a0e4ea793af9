package codes

import (
	"context"
	"net/http"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
)

func (s *Service) starRoutes(r *web.Router) {
	read, viewer := s.Gate.Repo(model.RoleRead), s.Gate.RepoViewer()
	const base = "/{owner}/{repo}"
	r.Post(base+"/star", viewer, func(c *web.Ctx) error { return s.star(c, true) })
	r.Delete(base+"/star", viewer, func(c *web.Ctx) error { return s.star(c, false) })
	r.Post(base+"/subscription", viewer, s.watch)
	r.Get(base+"/stargazers", read, func(c *web.Ctx) error { return s.fans(c, "Stargazers", repodb.Stargazers) })
	r.Get(base+"/watchers", read, func(c *web.Ctx) error { return s.fans(c, "Watchers", repodb.Watchers) })
}

func (s *Service) star(c *web.Ctx, on bool) error {
	if err := s.Star(c.Context(), c.Viewer, c.Repo, on); err != nil {
		return err
	}
	return s.stood(c)
}

type watchInput struct {
	Level string   `form:"level"`
	Kinds []string `form:"kinds"`
}

func (s *Service) watch(c *web.Ctx) error {
	var in watchInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if in.Level == "none" {
		in.Level = ""
	}
	if err := s.Watch(c.Context(), c.Viewer, c.Repo, in.Level, in.Kinds...); err != nil {
		return err
	}
	return s.stood(c)
}

// stood sends back to the repository's home.
func (s *Service) stood(c *web.Ctx) error {
	if !c.HTMX() {
		return c.Redirect(link.Repo(c.Repo.Owner.Name, c.Repo.Name))
	}
	repo, _, err := repodb.FindID(c.Context(), s.DB.Directory(), c.Repo.ID, c.Viewer.ID())
	if err != nil {
		return err
	}
	c.Repo = repo
	st, err := s.standing(c)
	if err != nil {
		return err
	}
	return c.Render(web.Page{Status: http.StatusOK, Body: codeview.Standing(codeview.StandingProps{Repo: repo, Standing: st, SignedIn: true})})
}

// fansFrom lists who starred or watches a repository.
type fansFrom func(ctx context.Context, dir db.Directory, repoID, limit, offset int64) ([]model.Stargazer, error)

// fansPerPage is how many people a page lists.
const fansPerPage = 50

func (s *Service) fans(c *web.Ctx, title string, from fansFrom) error {
	page := int64(c.QueryInt("page", 1, 1, 100_000))
	list, err := from(c.Context(), s.DB.Directory(), c.Repo.ID, fansPerPage, (page-1)*fansPerPage)
	if err != nil {
		return err
	}
	props := codeview.FansProps{Repo: c.Repo, Title: title}
	if len(list) > fansPerPage {
		list, props.Older = list[:fansPerPage], link.Page(c.R.URL.RequestURI(), int(page)+1)
	}
	if page > 1 {
		props.Newer = link.Page(c.R.URL.RequestURI(), int(page)-1)
	}
	for i := range list {
		props.People = append(props.People, &list[i].Account)
	}
	return s.show(c, web.Page{Title: title + " · " + c.Repo.FullName(), Body: codeview.FansPage(props)})
}
