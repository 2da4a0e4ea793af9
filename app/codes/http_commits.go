package codes

import (
	"errors"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
)

// commitsPerPage is how many commits a page lists.
const commitsPerPage = 35

func (s *Service) commits(c *web.Ctx) error {
	p, err := s.here(c)
	if errors.Is(err, errEmpty) {
		return c.Redirect(link.Repo(c.Repo.Owner.Name, c.Repo.Name))
	}
	if err != nil {
		return lost(err)
	}
	page := c.QueryInt("page", 1, 1, 100_000)
	stop := c.Time("git")
	list, err := p.git.Log(c.Context(), p.rev.Commit, git.LogOptions{Path: p.path, Author: c.Query("author"),
		Skip: (page - 1) * commitsPerPage, Limit: commitsPerPage + 1, Follow: p.path != ""})
	stop()
	if err != nil {
		return lost(err)
	}
	more := len(list) > commitsPerPage
	if more {
		list = list[:commitsPerPage]
	}
	head, err := s.head(c, p, "commits")
	if err != nil {
		return err
	}
	lines, err := s.signedLines(c.Context(), p.repo, list)
	if err == nil {
		err = s.checked(c.Context(), p.repo, lines)
	}
	if err != nil {
		return err
	}
	props := codeview.CommitsProps{Head: head, Days: codeview.ByDay(lines), Page: page, Author: c.Query("author")}
	if page > 1 {
		props.Newer = link.Page(c.R.URL.RequestURI(), page-1)
	}
	if more {
		props.Older = link.Page(c.R.URL.RequestURI(), page+1)
	}
	for _, l := range lines {
		props.Trees = append(props.Trees, link.Tree(p.repo.Owner.Name, p.repo.Name, l.OID, p.path))
	}
	return s.show(c, web.Page{Title: "Commits at " + git.Display(p.ref()) + " · " + p.repo.FullName(),
		Body: codeview.CommitsPage(props)})
}
