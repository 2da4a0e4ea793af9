package codes

import (
	"errors"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/highlight"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/releasedb"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// Routes mounts the pages and the API.
func (s *Service) Routes(r *web.Router) {
	read := s.Gate.Repo(model.RoleRead)
	const base = "/{owner}/{repo}"
	r.Get(base, read, s.home)
	r.Get(base+"/tree/*", read, s.tree)
	r.Get(base+"/blob/*", read, s.blob)
	r.Get(base+"/raw/*", read, s.raw)
	r.Get(base+"/commits", read, s.commits)
	r.Get(base+"/commits/*", read, s.commits)
	r.Get(base+"/commit/{sha}", read, s.commit)
	r.Get(base+"/compare", read, s.compare)
	r.Get(base+"/compare/*", read, s.compare)
	r.Get(base+"/branches", read, s.branches)
	r.Get(base+"/tags", read, s.tags)
	r.Get(base+"/archive/*", read, s.archive)
	r.Get(base+"/blame/*", read, s.blame)
	r.Get(base+"/find/*", read, s.find)
	r.Get(base+"/refs", read, s.refMenu)
	r.Get(base+"/contributors", read, s.contributorsPage)
	s.branchRoutes(r)
	s.starRoutes(r)
	s.editRoutes(r)
	s.forkRoutes(r)
	s.apiRoutes(r)
}

// here resolves the rest of the address.
func (s *Service) here(c *web.Ctx) (*place, error) {
	defer c.Time("git")()
	return s.at(c.Context(), c.Repo, c.Param("*"))
}

// show renders a page of code in the repository's frame.
func (s *Service) show(c *web.Ctx, page web.Page) error {
	shell, err := s.Repos.Shell(c, "code")
	if err != nil {
		return err
	}
	page.Shell = shell
	return c.Render(page)
}

// showHome is show with the buttons that star, watch and fork, on a
// repository's home.
func (s *Service) showHome(c *web.Ctx, home bool, counts map[string]int64, page web.Page) error {
	if !home {
		return s.show(c, page)
	}
	stand := codeview.StandingProps{Repo: c.Repo, SignedIn: c.Viewer.SignedIn()}
	if stand.SignedIn {
		var err error
		if stand.Standing, err = s.standing(c); err != nil {
			return err
		}
	}
	page.Shell = s.Repos.ShellActionsWith(c, "code", counts, codeview.Standing(stand))
	return c.Render(page)
}

func (s *Service) home(c *web.Ctx) error {
	if strings.HasSuffix(c.R.URL.Path, ".git") {
		return c.Moved(link.Repo(c.Repo.Owner.Name, c.Repo.Name))
	}
	p, err := s.here(c)
	if errors.Is(err, errEmpty) {
		return s.empty(c)
	}
	if err != nil {
		return err
	}
	return s.renderFolder(c, p, true)
}

func (s *Service) tree(c *web.Ctx) error {
	p, err := s.here(c)
	if errors.Is(err, errEmpty) {
		return c.Redirect(link.Repo(c.Repo.Owner.Name, c.Repo.Name))
	}
	if err != nil {
		return err
	}
	if p.path != "" {
		e, err := p.git.EntryAt(c.Context(), p.rev.Commit, p.path)
		if err == nil && !e.IsTree() {
			return c.Redirect(link.Blob(c.Repo.Owner.Name, c.Repo.Name, p.ref(), p.path))
		}
	}
	return s.renderFolder(c, p, false)
}

func (s *Service) renderFolder(c *web.Ctx, p *place, home bool) error {
	stop := c.Time("git")
	if c.HTMX() && c.Target() == "entries" {
		return s.lastColumn(c, p)
	}
	folder, err := s.folder(c.Context(), p)
	stop()
	if err != nil {
		return err
	}
	head, err := s.head(c, p, "tree")
	if err != nil {
		return err
	}
	latest, err := s.latest(c, p)
	if err != nil {
		return err
	}
	lines, err := s.lines(c.Context(), p.repo, []*git.Commit{latest})
	if err != nil {
		return err
	}
	props := codeview.FolderProps{Head: head, Folder: folder, Latest: lines[0],
		History: link.Commits(p.repo.Owner.Name, p.repo.Name, p.ref(), p.path)}
	s.lasts(c, p, &props)
	o, n := p.repo.Owner.Name, p.repo.Name
	props.Find = link.Find(o, n, p.ref())
	if head.CanPush && p.rev.IsBranch() {
		props.NewFile, props.Upload = link.NewFile(o, n, p.ref(), p.path), link.Upload(o, n, p.ref(), p.path)
	}
	props.Up = upOf(p)
	title := p.repo.FullName()
	if !home {
		title = git.Display(join(p.path, "")) + " at " + git.Display(p.ref()) + " · " + title
	}
	var counts map[string]int64
	if home {
		if counts, err = s.DB.Repo(c.Repo.ID).Counts(c.Context()); err != nil {
			return err
		}
		about, err := s.about(c, p, counts)
		if err != nil {
			return err
		}
		props.About = about
		props.Pushed = s.pushed(c, p)
		if props.Upstream, err = s.upstream(c, p); err != nil {
			return err
		}
	}
	return s.showHome(c, home, counts, web.Page{Title: strings.TrimPrefix(title, " at "), Body: codeview.FolderPage(props)})
}

func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

// head is what the pages of a revision have at their top: the menu of
// branches and tags, and the path.
func (s *Service) head(c *web.Ctx, p *place, page string) (codeview.Head, error) {
	o, n := p.repo.Owner.Name, p.repo.Name
	h := codeview.Head{Repo: p.repo, Ref: git.Display(p.ref()), Path: git.Display(p.path)}
	switch {
	case p.rev.IsTag():
		h.RefIcon = "tag"
	case p.rev.IsBranch():
		h.RefIcon = "git-branch"
	default:
		h.RefIcon, h.Ref = "git-commit-horizontal", p.rev.Commit.Short()
	}
	branches, err := p.git.Branches(c.Context())
	if err != nil {
		return h, err
	}
	tags, err := p.git.Tags(c.Context())
	if err != nil {
		return h, err
	}
	h.BranchCount, h.TagCount = len(branches), len(tags)
	to := s.refTo(c, page, p.path)
	menuSource(&h, page, p)
	h.CanPush = c.Role.AtLeast(model.RoleWrite) && !p.repo.Archived()
	h.NewBranch = link.Q("from", link.Segment(p.ref())).On(link.RepoPage(o, n, "branches", "new"))
	h.Branches = refLinks(branches, p.rev.Ref, to)
	h.Tags = refLinks(tags, p.rev.Ref, to)
	h.Crumbs = []ui.Tab{{Label: n, Href: link.Tree(o, n, p.ref(), "")}}
	done := ""
	for _, part := range strings.Split(p.path, "/") {
		if part == "" {
			continue
		}
		done = join(done, part)
		h.Crumbs = append(h.Crumbs, ui.Tab{Label: git.Display(part), Href: link.Tree(o, n, p.ref(), done)})
	}
	return h, nil
}

// maxMenu is how many refs the menu of branches and tags lists.
const maxMenu = 100

func refLinks(refs []git.Ref, current string, to func(string) string) []codeview.RefLink {
	out := make([]codeview.RefLink, 0, min(len(refs), maxMenu))
	for _, r := range refs {
		if len(out) == maxMenu {
			break
		}
		out = append(out, codeview.RefLink{Name: git.Display(r.Short()), Href: to(r.Short()), Current: r.Name == current})
	}
	return out
}

// about is the side of a repository's home.
func (s *Service) about(c *web.Ctx, p *place, counts map[string]int64) (*codeview.About, error) {
	a := &codeview.About{Repo: p.repo, Clone: codeview.Clone(s.Repos.CloneURLs(c.Kit().Config().URL, p.repo)),
		Zip: link.Archive(p.repo.Owner.Name, p.repo.Name, p.ref(), "zip"), CanEdit: c.Role.AtLeast(model.RoleAdmin)}
	total := int64(0)
	for _, n := range p.repo.Languages {
		total += n
	}
	for name, n := range p.repo.Languages {
		a.Languages = append(a.Languages, codeview.Language{Name: name, Bytes: n, Part: float64(n) / float64(max(total, 1)),
			Color: strings.TrimPrefix(highlight.LanguageNamed(name).Color, "#")})
	}
	codeview.SortLanguages(a.Languages)
	if counts["open_releases"] == 0 {
		return a, nil
	}
	return a, s.latestRelease(c, a)
}

// latestRelease adds the latest release.
func (s *Service) latestRelease(c *web.Ctx, a *codeview.About) error {
	latest, err := releasedb.Latest(c.Context(), s.DB.Repo(c.Repo.ID))
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	a.Latest = latest
	return err
}

// empty is the home of a repository without commits: how to fill it.
func (s *Service) empty(c *web.Ctx) error {
	urls := codeview.Clone(s.Repos.CloneURLs(c.Kit().Config().URL, c.Repo))
	return s.show(c, web.Page{Title: c.Repo.FullName(), Body: codeview.Empty(codeview.EmptyProps{Repo: c.Repo, Clone: urls,
		CanPush: c.Role.AtLeast(model.RoleWrite) && !c.Repo.Archived(), SignedIn: c.Viewer.SignedIn()})})
}
