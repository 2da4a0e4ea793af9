package explore

import (
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/siteview"
	"github.com/gitfor/gitfor/views/ui"
)

// Service shows what there is.
type Service struct {
	db   *db.DB
	gate *perms.Gate
	// panels are what features add to the dashboard.
	panels []Panel

	// Files finds files of a repository's default branch by parts of their
	// names, and Settings lists the pages of a person's settings, for the
	// palette; set before the first request.
	Files    func(c *web.Ctx, repo *model.Repo, query string, limit int) (paths []string, ref string, err error)
	Settings func() []ui.NavSection
}

// Panel is a part of the dashboard, such as what waits for the viewer; nil
// where there is nothing.
type Panel func(c *web.Ctx) (templ.Component, error)

// New makes the service.
func New(d *db.DB, gate *perms.Gate) *Service { return &Service{db: d, gate: gate} }

// AddPanel adds a part to the dashboard.
func (s *Service) AddPanel(p Panel) { s.panels = append(s.panels, p) }

// Routes mounts the pages.
func (s *Service) Routes(r *web.Router) {
	r.Get("/", s.gate.Anyone(), s.home)
	r.Get("/explore", s.gate.Anyone(), s.explore)
	r.Get(link.Palette(), s.gate.Anyone(), s.palette)
	r.Raw().Get("/robots.txt", s.gate.Anyone(), s.robots)
}

// perPage is how many repositories a list shows.
const perPage = 30

func (s *Service) home(c *web.Ctx) error {
	if !c.Viewer.SignedIn() {
		return c.Render(web.Page{Shell: layout.Bleed, Body: siteview.Landing(siteview.LandingProps{URL: c.Kit().Config().URL})})
	}
	mine, more, err := repodb.List(c.Context(), s.db.Directory(), c.Viewer.ID(),
		repodb.ListOpts{MemberID: c.Viewer.ID(), Sort: "pushed", Limit: 12})
	if err != nil {
		return err
	}
	props := siteview.DashboardProps{Name: c.Viewer.Account.Shown(), Mine: mine, More: more,
		All: link.AccountTab(c.Viewer.Name(), "repositories")}
	for _, panel := range s.panels {
		p, err := panel(c)
		if err != nil {
			return err
		}
		if p != nil {
			props.Panels = append(props.Panels, p)
		}
	}
	if props.Feed, err = s.feed(c); err != nil {
		return err
	}
	return c.Render(web.Page{Title: "Dashboard", Shell: layout.Site, Body: siteview.Dashboard(props)})
}

func (s *Service) explore(c *web.Ctx) error {
	page := c.QueryInt("page", 1, 1, 10_000)
	typed, sort := strings.TrimSpace(c.Query("q")), c.Query("sort")
	people := c.Query("type") == "people"
	props := siteview.ExploreProps{Query: typed, Sort: sort, Page: page, People: people}
	uri := c.R.URL.RequestURI()
	var more bool
	var err error
	if people {
		props.Accounts, more, err = accountdb.SearchPage(c.Context(), s.db.Directory(), typed, perPage, int64(page-1)*perPage)
	} else {
		o := parse(typed)
		o.Sort, o.Limit, o.Offset = sort, perPage, int64(page-1)*perPage
		props.Repos, more, err = repodb.List(c.Context(), s.db.Directory(), c.Viewer.ID(), o)
		if err == nil && len(props.Repos) == 0 && page == 1 && o.Query != "" {
			o.Loose = true
			props.Repos, more, err = repodb.List(c.Context(), s.db.Directory(), c.Viewer.ID(), o)
		}
		if err == nil && page == 1 && o.Query != "" {
			props.Accounts, err = accountdb.Search(c.Context(), s.db.Directory(), o.Query, 6)
		}
		for _, o := range [][2]string{{"", "Updated"}, {"stars", "Stars"}, {"name", "Name"}, {"created", "New"}} {
			props.Sorts = append(props.Sorts, ui.Tab{Key: o[0], Label: o[1], Href: link.Set(link.Set(uri, "sort", o[0]), "page", "")})
		}
	}
	if err != nil {
		return err
	}
	for _, k := range [][2]string{{"", "Repositories"}, {"people", "People"}} {
		props.Kinds = append(props.Kinds, ui.Tab{Key: k[0], Label: k[1], Href: link.Set(link.Set(link.Set(uri, "type", k[0]), "page", ""), "sort", "")})
	}
	if page > 1 {
		props.Newer = link.Page(uri, page-1)
	}
	if more {
		props.Older = link.Page(uri, page+1)
	}
	return c.Render(web.Page{Title: "Explore", Shell: layout.Site, Body: siteview.Explore(props)})
}

// parse takes the words language:, topic: and owner: out of what was typed.
func parse(typed string) repodb.ListOpts {
	var o repodb.ListOpts
	var words []string
	for _, w := range strings.Fields(typed) {
		name, value, ok := strings.Cut(w, ":")
		switch {
		case ok && value != "" && (name == "language" || name == "lang"):
			o.Language = value
		case ok && value != "" && name == "topic":
			o.Topic = value
		case ok && value != "" && (name == "owner" || name == "user" || name == "org"):
			o.Owner = value
		default:
			words = append(words, w)
		}
	}
	o.Query = strings.Join(words, " ")
	return o
}
