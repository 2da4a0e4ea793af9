package codes

import (
	"context"
	"sort"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/releasedb"
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
	if title == "Branches" {
		defaultFirst(dated, c.Repo.DefaultBranch)
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
	props.CanPush = c.Role.AtLeast(model.RoleWrite) && !c.Repo.Archived()
	if err := s.refRows(c, g, &props, dated[from:to], lines); err != nil {
		return err
	}
	return s.show(c, web.Page{Title: title + " · " + c.Repo.FullName(), Body: codeview.RefsPage(props)})
}

// refRows fills in the rows of one page: how far branches are from the default
// branch, and the messages of annotated tags.
func (s *Service) refRows(c *web.Ctx, g *git.Repository, props *codeview.RefsProps, refs []datedRef, lines []codeview.CommitLine) error {
	defer c.Time("git")()
	o, n, branches := c.Repo.Owner.Name, c.Repo.Name, props.Title == "Branches"
	counts := map[git.OID]git.Divergence{}
	if base, err := g.Ref(c.Context(), git.BranchPrefix+c.Repo.DefaultBranch); branches && err == nil {
		heads := make([]git.OID, len(refs))
		for i, d := range refs {
			heads[i] = d.commit.OID
		}
		if counts, err = g.AheadBehind(c.Context(), base.OID, heads...); err != nil {
			return err
		}
	}
	released := map[string]*model.Release{}
	if !branches {
		names := make([]string, len(refs))
		for i, d := range refs {
			names[i] = d.ref.Short()
		}
		var err error
		if released, err = releasedb.ByTags(c.Context(), s.DB.Repo(c.Repo.ID), names); err != nil {
			return err
		}
	}
	for i, d := range refs {
		name := d.ref.Short()
		row := codeview.RefRow{Name: git.Display(name), Href: link.Tree(o, n, name, ""), Commit: lines[i], Branch: branches,
			Zip: link.Archive(o, n, name, "zip"), Tar: link.Archive(o, n, name, "tar.gz"), Ref: link.Segment(d.ref.Name)}
		if !branches {
			row.Href = link.Release(o, n, name)
			if r := released[name]; r != nil {
				row.Release = r.Title()
			}
		}
		row.Default = branches && name == c.Repo.DefaultBranch
		if row.Default || !branches && d.ref.Peeled == "" {
			props.Rows = append(props.Rows, row)
			continue
		}
		if branches {
			row.Compare = link.Compare(o, n, c.Repo.DefaultBranch, name)
			row.Protected = s.protected(c, name)
			count := counts[d.commit.OID]
			row.Ahead, row.Behind = count.Ahead, count.Behind
		} else if tag, err := g.Tag(c.Context(), d.ref.OID); err == nil {
			row.Message, row.Tagger, row.Tagged = tag.Text(), git.DecodeText(tag.Tagger.Name), tag.Tagger.When
		}
		props.Rows = append(props.Rows, row)
	}
	return nil
}

// defaultFirst moves the default branch to the head of the list.
func defaultFirst(list []datedRef, branch string) {
	for i, d := range list {
		if d.ref.Short() == branch {
			copy(list[1:i+1], list[:i])
			list[0] = d
			return
		}
	}
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
