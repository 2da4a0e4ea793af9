package codes

import (
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
)

// refMenu lists the branches and tags whose names hold what was typed, for the
// menu at the head of pages.
func (s *Service) refMenu(c *web.Ctx) error {
	g, err := s.Repos.Open(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	branches, err := g.Branches(c.Context())
	if err != nil {
		return err
	}
	tags, err := g.Tags(c.Context())
	if err != nil {
		return err
	}
	q := c.Query("q")
	to := s.refTo(c, c.Query("page"), c.Query("path"))
	h := codeview.Head{Repo: c.Repo, BranchCount: len(branches), TagCount: len(tags)}
	h.Branches = refLinks(matching(branches, q), c.Query("now"), to)
	h.Tags = refLinks(matching(tags, q), c.Query("now"), to)
	return c.Render(web.Page{Body: codeview.RefList(h, q)})
}

// refTo makes the address of a page at another revision.
func (s *Service) refTo(c *web.Ctx, page, path string) func(ref string) string {
	o, n := c.Repo.Owner.Name, c.Repo.Name
	return func(ref string) string {
		switch page {
		case "blob":
			return link.Blob(o, n, ref, path)
		case "blame":
			return link.Blame(o, n, ref, path)
		case "commits":
			return link.Commits(o, n, ref, path)
		}
		return link.Tree(o, n, ref, path)
	}
}

// menuSource is where the menu of branches and tags searches.
func menuSource(h *codeview.Head, page string, p *place) {
	q := link.Q("page", page, "path", p.path, "now", p.rev.Ref)
	h.Search = q.On(link.RepoPage(p.repo.Owner.Name, p.repo.Name, "refs"))
}
