package codes

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/diffs"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/diffview"
	"github.com/gitfor/gitfor/views/link"
)

// commit is a commit with its changes; .diff and .patch give them as text.
func (s *Service) commit(c *web.Ctx) error {
	name := c.Param("sha")
	if sha, ok := strings.CutSuffix(name, ".diff"); ok {
		return s.patch(c, sha, git.PatchDiff)
	}
	if sha, ok := strings.CutSuffix(name, ".patch"); ok {
		return s.patch(c, sha, git.PatchMail)
	}
	g, commit, err := s.findCommit(c.Context(), c.Repo, name)
	if err != nil {
		return err
	}
	o, n := c.Repo.Owner.Name, c.Repo.Name
	view := diffPage{base: g.DiffBase(commit), head: commit.OID, old: g.DiffBase(commit).String(), new: commit.OID.String()}
	props, err := s.diff(c, g, view)
	if err != nil || props == nil {
		return err
	}
	lines, err := s.signedLines(c.Context(), c.Repo, []*git.Commit{commit})
	if err == nil {
		err = s.checked(c.Context(), c.Repo, lines)
	}
	if err != nil {
		return err
	}
	message, err := s.Markup.Render(c.Context(), markup.Lookup{}, commit.Body(), markup.Options{Mode: markup.Plain, Owner: o, Repo: n})
	if err != nil {
		return err
	}
	page := codeview.CommitProps{Repo: c.Repo, Commit: lines[0], Body: string(message.HTML), Diff: *props,
		Tree: link.Tree(o, n, commit.OID.String(), ""), Raw: link.CommitPatch(o, n, commit.OID.String())}
	for _, p := range commit.Parents {
		page.Parents = append(page.Parents, codeview.RefLink{Name: p.Short(), Href: link.Commit(o, n, p.String())})
	}
	return s.show(c, web.Page{Title: lines[0].Title + " · " + c.Repo.FullName(), Body: codeview.CommitPage(page)})
}

// findCommit finds a commit by its id, whole or shortened, or a ref's name.
func (s *Service) findCommit(ctx context.Context, repo *model.Repo, name string) (*git.Repository, *git.Commit, error) {
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return nil, nil, err
	}
	rev, err := g.ResolveRef(ctx, name)
	if err != nil {
		return nil, nil, lost(err)
	}
	if rev.Commit == "" {
		return nil, nil, fault.New(fault.NotFound, "That is no commit.")
	}
	commit, err := g.Commit(ctx, rev.Commit)
	return g, commit, lost(err)
}

func (s *Service) patch(c *web.Ctx, name string, format git.PatchFormat) error {
	g, commit, err := s.findCommit(c.Context(), c.Repo, name)
	if err != nil {
		return err
	}
	c.W.Header().Set("Content-Type", "text/plain; charset=utf-8")
	return g.Patch(c.Context(), format, git.DiffOptions{Base: g.DiffBase(commit), Head: commit.OID}, c.W)
}

// diffPage says what a page of changes compares.
type diffPage struct {
	base, head git.OID
	// old and new are the revisions by which files before and after are
	// addressed.
	old, new string
	// repo is where the files after the change lie; nil is the request's.
	repo *model.Repo
}

// diff makes the list of changed files for a page. When the lines of a single
// file are asked for (?file=), it answers with them and returns nil.
func (s *Service) diff(c *web.Ctx, g *git.Repository, p diffPage) (*diffview.Props, error) {
	defer c.Time("git")()
	split, blanks, ends := c.Query("diff") == "split", c.Query("w") == "1", c.Query("w") == "eol"
	opts := git.DiffOptions{Base: p.base, Head: p.head}
	if blanks {
		opts.Whitespace = git.IgnoreAllWhitespace
	} else if ends {
		opts.Whitespace = git.IgnoreLineEnds
	}
	if name := c.Query("file"); name != "" {
		opts.Paths = []string{name}
		if old := c.Query("old"); old != "" {
			opts.Paths = append(opts.Paths, old)
		}
		opts.MaxFileBytes, opts.MaxLineBytes = 20<<20, 10_000
		if c.Query("full") == "1" {
			opts.Context, opts.MaxLines = allLines, maxBlamed
		}
	} else {
		opts = diffs.Limit(opts)
	}
	files, err := g.Diff(c.Context(), opts)
	if err != nil {
		return nil, lost(err)
	}
	page := s.differ.Page(g, split)
	defer page.Close(c.Context())
	if c.Query("file") != "" && c.HTMX() && len(files) > 0 {
		view := s.changed(c, page, &files[0], p, false)
		return nil, c.Render(web.Page{Body: diffview.FilePanel(view, split)})
	}
	uri := c.R.URL.RequestURI()
	props := &diffview.Props{Split: split, Unified: link.Set(uri, "diff", ""), SideBySide: link.Set(uri, "diff", "split"),
		NoWhitespace: blanks, Whitespace: link.Set(uri, "w", "1")}
	if blanks {
		props.Whitespace = link.Set(uri, "w", "")
	} else if props.LineEnds, props.NoLineEnds = link.Set(uri, "w", "eol"), ends; ends {
		props.LineEnds = link.Set(uri, "w", "")
	}
	for i := range files {
		props.Additions += files[i].Additions
		props.Deletions += files[i].Deletions
		if i >= diffs.MaxFiles {
			props.More++
			continue
		}
		props.Files = append(props.Files, s.changed(c, page, &files[i], p, true))
	}
	return props, nil
}

// changed is one file of a page of changes.
func (s *Service) changed(c *web.Ctx, page *diffs.Page, f *git.DiffFile, p diffPage, later bool) diffview.File {
	o, n := c.Repo.Owner.Name, c.Repo.Name
	view := page.File(c.Context(), f)
	if p.repo != nil {
		o, n = p.repo.Owner.Name, p.repo.Name
	}
	if f.NewOID != "" && !f.NewOID.IsZero() && !f.IsSubmodule() {
		view.View = link.Blob(o, n, p.new, f.NewName)
	}
	if f.Binary && markup.IsImageName(f.NewName) {
		if f.Status != git.StatusAdded {
			view.Before = link.Raw(c.Repo.Owner.Name, c.Repo.Name, p.old, f.OldName)
		}
		if f.Status != git.StatusDeleted {
			view.After = link.Raw(o, n, p.new, f.NewName)
		}
	}
	if f.IsSubmodule() {
		view.NoteLink = s.submoduleChange(c, p, f)
	}
	if !later {
		return view
	}
	if f.Truncated {
		view.Load = oneFile(c, f, false)
	} else if len(f.Hunks) > 0 && f.Status != git.StatusAdded && f.Status != git.StatusDeleted {
		view.Expand = oneFile(c, f, true)
	}
	return view
}

// allLines is more context than any file that is shown has lines.
const allLines = 1_000_000

// oneFile is the address of the lines of one file, with those that did not
// change when full is set.
func oneFile(c *web.Ctx, f *git.DiffFile, full bool) string {
	q := c.R.URL.Query()
	q.Set("file", f.NewName)
	if f.OldName != f.NewName {
		q.Set("old", f.OldName)
	}
	if full {
		q.Set("full", "1")
	}
	u := url.URL{Path: c.R.URL.Path, RawPath: c.R.URL.RawPath, RawQuery: strings.ReplaceAll(q.Encode(), "+", "%20")}
	return u.EscapedPath() + "?" + u.RawQuery
}

// submoduleChange is the page of what changed in a submodule, "" where its
// repository has none.
func (s *Service) submoduleChange(c *web.Ctx, p diffPage, f *git.DiffFile) string {
	g, err := s.Repos.Open(c.Context(), c.Repo)
	if err != nil {
		return ""
	}
	modules, err := g.Submodules(c.Context(), p.head)
	if err != nil {
		return ""
	}
	page := s.submodulePage(c.Repo, modules[f.NewName].URL, f.NewOID)
	if f.OldOID.IsZero() || f.NewOID.IsZero() || page == "" {
		return page
	}
	return strings.TrimSuffix(strings.TrimSuffix(page, f.NewOID.String()), "/tree/") + "/compare/" + f.OldOID.String() + "..." + f.NewOID.String()
}

// compare shows what head has that base lacks (three dots) or how they differ
// (two dots); .diff and .patch give it as text.
func (s *Service) compare(c *web.Ctx) error {
	leave, err := s.costly.enter(c)
	if err != nil {
		return err
	}
	defer leave()
	spec := c.Param("*")
	m, err := s.compared(c, spec)
	if fault.Is(err, fault.NotFound) {
		for end, format := range map[string]git.PatchFormat{".diff": git.PatchDiff, ".patch": git.PatchMail} {
			if rest, ok := strings.CutSuffix(spec, end); ok {
				return s.comparePatch(c, rest, format)
			}
		}
		if _, empty := s.at(c.Context(), c.Repo, ""); errors.Is(empty, errEmpty) {
			return c.RedirectFlash(link.Repo(c.Repo.Owner.Name, c.Repo.Name), "There is nothing to compare yet: this repository is empty.")
		}
	}
	if err != nil {
		return err
	}
	opts := m.diff()
	o, n := c.Repo.Owner.Name, c.Repo.Name
	view := diffPage{base: opts.Base, head: opts.Head, old: opts.Base.String(), new: m.headName, repo: m.headRepo}
	if m.headRepo.ID != c.Repo.ID {
		view.new = m.head.OID.String()
	}
	props, err := s.diff(c, m.git, view)
	if err != nil || props == nil {
		return err
	}
	count, err := m.ahead(c.Context())
	if err != nil {
		return err
	}
	log, err := m.git.Log(c.Context(), m.head.OID, git.LogOptions{Exclude: []git.OID{m.base.OID}, Limit: 250})
	if err != nil {
		return err
	}
	lines, err := s.signedLines(c.Context(), m.headRepo, log)
	if err != nil {
		return err
	}
	page := codeview.CompareProps{Repo: c.Repo, Base: git.Display(m.baseName), Head: git.Display(m.headName), Commits: lines, Diff: *props,
		Related: m.common != nil || m.dots == "..", Dots: m.dots, Ahead: count.Ahead, Behind: count.Behind,
		Patch: link.Compare(o, n, m.baseName, m.headName) + ".patch", Swap: link.Compare(o, n, m.headName, m.baseName)}
	if err := s.compareMenus(c, m, &page); err != nil {
		return err
	}
	if s.PullForm != nil {
		if page.Open, err = s.PullForm(c, m.baseName, m.headName); err != nil {
			return err
		}
	}
	return s.show(c, web.Page{Title: "Comparing " + page.Base + m.dots + page.Head + " · " + c.Repo.FullName(), Body: codeview.ComparePage(page)})
}

// compareMenus are the branches that can be compared instead.
func (s *Service) compareMenus(c *web.Ctx, m *comparison, page *codeview.CompareProps) error {
	g, err := s.Repos.Open(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	branches, err := g.Branches(c.Context())
	if err != nil {
		return err
	}
	o, n := c.Repo.Owner.Name, c.Repo.Name
	page.Bases = refLinks(branches, git.BranchPrefix+m.baseName, func(ref string) string { return link.Compare(o, n, ref, m.headName) })
	page.Heads = refLinks(branches, git.BranchPrefix+m.headName, func(ref string) string { return link.Compare(o, n, m.baseName, ref) })
	return nil
}

func (s *Service) comparePatch(c *web.Ctx, spec string, format git.PatchFormat) error {
	m, err := s.compared(c, spec)
	if err != nil {
		return err
	}
	opts := m.diff()
	if format == git.PatchMail {
		opts = m.mails()
	}
	c.W.Header().Set("Content-Type", "text/plain; charset=utf-8")
	return m.git.Patch(c.Context(), format, opts, c.W)
}

// PullForm makes the form that opens a pull request from a comparison, or nil
// where the viewer cannot.
type PullForm func(c *web.Ctx, base, head string) (templ.Component, error)
