package codes

import (
	"context"
	"sort"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
)

// refsPerPage is how many branches or tags a page lists.
const refsPerPage = 50

func (s *Service) branches(c *web.Ctx) error {
	return s.refs(c, "Branches", func(ctx context.Context, g *git.Repository) ([]git.Ref, error) { return g.Branches(ctx) })
}

func (s *Service) tags(c *web.Ctx) error {
	return s.refs(c, "Tags", func(ctx context.Context, g *git.Repository) ([]git.Ref, error) { return g.Tags(ctx) })
}

// refs lists branches or tags, the newest first, a page at a time.
func (s *Service) refs(c *web.Ctx, title string, all func(context.Context, *git.Repository) ([]git.Ref, error)) error {
	g, err := s.Repos.Open(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	stop := c.Time("git")
	refs, err := all(c.Context(), g)
	if err != nil {
		return err
	}
	refs = matching(refs, c.Query("q"))
	dated, err := s.dated(c.Context(), g, refs)
	stop()
	if err != nil {
		return err
	}
	page := c.QueryInt("page", 1, 1, 100_000)
	from := min((page-1)*refsPerPage, len(dated))
	to := min(from+refsPerPage, len(dated))
	props := codeview.RefsProps{Repo: c.Repo, Title: title, Query: c.Query("q"), Total: len(dated), Page: page,
		Pages: (len(dated) + refsPerPage - 1) / refsPerPage}
	if page > 1 {
		props.Newer = link.Page(c.R.URL.RequestURI(), page-1)
	}
	if to < len(dated) {
		props.Older = link.Page(c.R.URL.RequestURI(), page+1)
	}
	commits := make([]*git.Commit, 0, to-from)
	for _, d := range dated[from:to] {
		commits = append(commits, d.commit)
	}
	lines, err := s.lines(c.Context(), c.Repo, commits)
	if err != nil {
		return err
	}
	o, n := c.Repo.Owner.Name, c.Repo.Name
	for i, d := range dated[from:to] {
		name := d.ref.Short()
		row := codeview.RefRow{Name: git.Display(name), Href: link.Tree(o, n, name, ""), Commit: lines[i],
			Zip: link.Archive(o, n, name, "zip"), Tar: link.Archive(o, n, name, "tar.gz"), Branch: title == "Branches"}
		row.Default = row.Branch && name == c.Repo.DefaultBranch
		if row.Branch && !row.Default {
			row.Compare = link.Compare(o, n, c.Repo.DefaultBranch, name)
		}
		props.Rows = append(props.Rows, row)
	}
	props.CanPush = c.Role.AtLeast(model.RoleWrite)
	return s.show(c, web.Page{Title: title + " · " + c.Repo.FullName(), Body: codeview.RefsPage(props)})
}

func matching(refs []git.Ref, q string) []git.Ref {
	q = strings.ToLower(strings.TrimSpace(q))
	if q == "" {
		return refs
	}
	var out []git.Ref
	for _, r := range refs {
		if strings.Contains(strings.ToLower(r.Short()), q) {
			out = append(out, r)
		}
	}
	return out
}

type datedRef struct {
	ref    git.Ref
	commit *git.Commit
}

// dated reads the commit of each ref, the newest first; a ref that leads to no
// commit is left out.
func (s *Service) dated(ctx context.Context, g *git.Repository, refs []git.Ref) ([]datedRef, error) {
	out := make([]datedRef, 0, len(refs))
	for _, r := range refs {
		commit, err := g.Commit(ctx, r.Commit())
		if err != nil {
			if lost(err) != err { //nolint:errorlint // compared with itself
				continue
			}
			return nil, err
		}
		out = append(out, datedRef{r, commit})
	}
	sort.SliceStable(out, func(i, j int) bool {
		return out[i].commit.Committer.When.After(out[j].commit.Committer.When)
	})
	return out, nil
}
