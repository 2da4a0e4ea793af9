package explore

import (
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
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
	return c.Render(web.Page{Title: "Dashboard", Shell: layout.Site, Body: siteview.Dashboard(props)})
}

func (s *Service) explore(c *web.Ctx) error {
	page := c.QueryInt("page", 1, 1, 10_000)
	query, sort := strings.TrimSpace(c.Query("q")), c.Query("sort")
	list, more, err := repodb.List(c.Context(), s.db.Directory(), c.Viewer.ID(), repodb.ListOpts{Query: query, Sort: sort,
		Limit: perPage, Offset: int64(page-1) * perPage})
	if err != nil {
		return err
	}
	props := siteview.ExploreProps{Query: query, Sort: sort, Repos: list, Page: page}
	if page == 1 && query != "" {
		if props.Accounts, err = accountdb.Search(c.Context(), s.db.Directory(), query, 6); err != nil {
			return err
		}
	}
	uri := c.R.URL.RequestURI()
	for _, o := range [][2]string{{"", "Updated"}, {"stars", "Stars"}, {"name", "Name"}, {"created", "New"}} {
		props.Sorts = append(props.Sorts, ui.Tab{Key: o[0], Label: o[1], Href: link.Set(link.Set(uri, "sort", o[0]), "page", "")})
	}
	if page > 1 {
		props.Newer = link.Page(uri, page-1)
	}
	if more {
		props.Older = link.Page(uri, page+1)
	}
	return c.Render(web.Page{Title: "Explore", Shell: layout.Site, Body: siteview.Explore(props)})
}

// palette lists where the typed text may lead.
func (s *Service) palette(c *web.Ctx) error {
	query := strings.TrimSpace(c.Query("q"))
	var options []siteview.Option
	if query == "" {
		options = pages(c)
	}
	opts := repodb.ListOpts{Query: query, Limit: 8, Sort: "pushed"}
	if query == "" {
		opts.MemberID = c.Viewer.ID()
	}
	if query != "" || c.Viewer.SignedIn() {
		repos, _, err := repodb.List(c.Context(), s.db.Directory(), c.Viewer.ID(), opts)
		if err != nil {
			return err
		}
		for _, r := range repos {
			options = append(options, siteview.Option{Icon: "book-marked", Label: r.FullName(), Hint: r.Description,
				Href: link.Repo(r.Owner.Name, r.Name)})
		}
	}
	if query != "" {
		accounts, err := accountdb.Search(c.Context(), s.db.Directory(), query, 5)
		if err != nil {
			return err
		}
		for _, a := range accounts {
			options = append(options, siteview.Option{Icon: "user", Label: a.Name, Hint: a.DisplayName, Href: link.Account(a.Name)})
		}
		options = append(options, siteview.Option{Icon: "search", Label: "Search everywhere for “" + query + "”", Href: link.Explore(query)})
	}
	return c.Render(web.Page{Shell: layout.Site, Body: siteview.Options(options)})
}

// pages are the places that the palette offers before anything is typed.
func pages(c *web.Ctx) []siteview.Option {
	if !c.Viewer.SignedIn() {
		return []siteview.Option{{Icon: "compass", Label: "Explore", Href: link.Explore("")},
			{Icon: "log-in", Label: "Sign in", Href: link.Login("")}}
	}
	return []siteview.Option{{Icon: "house", Label: "Dashboard", Href: link.Home()},
		{Icon: "plus", Label: "New repository", Href: link.New()},
		{Icon: "compass", Label: "Explore", Href: link.Explore("")},
		{Icon: "settings", Label: "Settings", Href: link.Settings("")}}
}
