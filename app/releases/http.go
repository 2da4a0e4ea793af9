package releases

import (
	"errors"
	"net/http"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/releasedb"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/releaseview"
	"github.com/gitfor/gitfor/views/ui"
)

// Routes mounts the pages and the API.
func (s *Service) Routes(r *web.Router) {
	read, write := s.Gate.Repo(model.RoleRead), s.Gate.RepoChange(model.RoleWrite)
	const at = "/{owner}/{repo}/releases"
	r.Get(at, read, s.listPage)
	r.Get(at+"/latest", read, s.latestPage)
	r.Get(at+"/tag/*", read, s.tagPage)
	r.Get(at+"/new", write, s.newPage)
	r.Post(at, write, s.savePage)
	r.Get(at+"/{id}/edit", write, s.editPage)
	r.Post(at+"/{id}", write, s.savePage)
	r.Post(at+"/{id}/delete", write, s.deletePage)
	r.Get("/{owner}/{repo}/releases.atom", read, s.feed)
	s.assetRoutes(r)
	s.apiRoutes(r)
}

const perPage = 10

func (s *Service) show(c *web.Ctx, page web.Page) error {
	shell, err := s.Repos.Shell(c, "releases")
	if err != nil {
		return err
	}
	page.Shell = shell
	page.Title += " · " + c.Repo.FullName()
	return c.Render(page)
}

func place(c *web.Ctx) threads.Place {
	return threads.Place{Viewer: c.Viewer, Repo: c.Repo, Role: c.Role}
}

// entries are releases as pages show them.
func (s *Service) entries(c *web.Ctx, list []*model.Release) ([]releaseview.Entry, error) {
	if err := releasedb.LoadAssets(c.Context(), s.DB.Repo(c.Repo.ID), list...); err != nil {
		return nil, err
	}
	texts, ids := make([]threads.Text, len(list)), make([]int64, len(list))
	for i, r := range list {
		texts[i], ids[i] = threads.Text{Body: r.Body, ID: "r" + num(r.ID)}, r.AuthorID
	}
	html, people, err := s.Threads.Render(c.Context(), place(c), texts, threads.Look{IDs: ids})
	if err != nil {
		return nil, err
	}
	latest, err := releasedb.Latest(c.Context(), s.DB.Repo(c.Repo.ID))
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return nil, err
	}
	out := make([]releaseview.Entry, len(list))
	for i, r := range list {
		out[i] = releaseview.Entry{Owner: c.Repo.Owner.Name, Repo: c.Repo.Name, Release: r, HTML: string(html[i]),
			Author: people.Get(r.AuthorID), CanEdit: mayWrite(c.Repo, c.Role), Latest: err == nil && latest.ID == r.ID}
	}
	return out, nil
}

func (s *Service) listPage(c *web.Ctx) error {
	page := c.QueryInt("page", 1, 1, 100_000)
	list, total, err := releasedb.List(c.Context(), s.DB.Repo(c.Repo.ID), releasedb.Filter{Drafts: c.Role.AtLeast(model.RoleWrite),
		Query: c.Query("q"), Limit: perPage, Offset: (page - 1) * perPage})
	if err != nil {
		return err
	}
	p := releaseview.ListProps{Owner: c.Repo.Owner.Name, Repo: c.Repo.Name, Query: c.Query("q"), CanCreate: mayWrite(c.Repo, c.Role),
		Path: c.R.URL.RequestURI(), Page: page, PerPage: perPage, Total: total}
	if p.Entries, err = s.entries(c, list); err != nil {
		return err
	}
	return s.show(c, web.Page{Title: "Releases", Body: releaseview.List(p)})
}

func (s *Service) latestPage(c *web.Ctx) error {
	r, err := releasedb.Latest(c.Context(), s.DB.Repo(c.Repo.ID))
	if err != nil {
		return err
	}
	http.Redirect(c.W, c.R, link.Release(c.Repo.Owner.Name, c.Repo.Name, r.Tag), http.StatusFound)
	return nil
}

// tagPage shows the release of a tag, or a tag that has none.
func (s *Service) tagPage(c *web.Ctx) error {
	tag := c.Param("*")
	r, err := releasedb.ByTag(c.Context(), s.DB.Repo(c.Repo.ID), tag)
	if err == nil {
		return s.releasePage(c, r)
	}
	if !errors.Is(err, db.ErrNotFound) {
		return err
	}
	g, err := s.Repos.Open(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	if !git.ValidTagName(tag) {
		return db.ErrNotFound
	}
	rev, err := g.ResolveRef(c.Context(), git.TagPrefix+tag)
	if errors.Is(err, git.ErrNotFound) || err == nil && rev.Commit == "" {
		return db.ErrNotFound
	}
	if err != nil {
		return err
	}
	p := releaseview.TagProps{Owner: c.Repo.Owner.Name, Repo: c.Repo.Name, Tag: tag, Commit: rev.Commit.String(), CanCreate: mayWrite(c.Repo, c.Role)}
	if t, err := g.Tag(c.Context(), rev.OID); err == nil {
		p.Message, p.Tagger, p.At = t.Text(), git.DecodeText(t.Tagger.Name), t.Tagger.When
	} else if commit, err := g.Commit(c.Context(), rev.Commit); err == nil {
		p.Message, p.Tagger, p.At = commit.Text(), commit.AuthorName(), commit.Committer.When
	}
	return s.show(c, web.Page{Title: git.Display(tag), Body: releaseview.Tag(p)})
}

func (s *Service) releasePage(c *web.Ctx, r *model.Release) error {
	list, err := s.entries(c, []*model.Release{r})
	if err != nil {
		return err
	}
	return s.show(c, web.Page{Title: r.Title(), Body: releaseview.Release(list[0])})
}

func (s *Service) found(c *web.Ctx) (*model.Release, error) {
	id, err := c.ParamInt("id")
	if err != nil {
		return nil, err
	}
	return s.Find(c.Context(), c.Repo, c.Role, id)
}

func (s *Service) deletePage(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	r, err := s.Delete(c.Context(), c.Viewer, c.Repo, id)
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Releases(c.Repo.Owner.Name, c.Repo.Name), "The release "+r.Title()+" is gone. Its tag stays.")
}

// invalid says whether err is about the input, and which fields.
func invalid(err error) (ui.Errors, bool) {
	f := fault.From(err)
	if err == nil || f.Kind != fault.Invalid {
		return nil, false
	}
	return ui.Errors(f.Fields), true
}
