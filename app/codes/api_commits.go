package codes

import (
	"context"
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/views/link"
)

// apiCommits lists the history of a revision.
func (s *Service) apiCommits(c *web.Ctx) error {
	p, err := s.apiRev(c, c.Query("sha"))
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	opts := git.LogOptions{Path: strings.Trim(c.Query("path"), "/"), Since: timeParam(c, "since"), Until: timeParam(c, "until"),
		Skip: int(page.Offset()), Limit: int(page.Limit()) + 1}
	if opts.Author, err = s.authorOf(c.Context(), c.Query("author")); err != nil {
		return err
	}
	stop := c.Time("git")
	list, err := p.git.Log(c.Context(), p.rev.Commit, opts)
	stop()
	if err != nil {
		return lost(err)
	}
	list, more := api.Cut(list, page.Limit())
	out, err := s.WireCommits(c, p.git, list)
	if err != nil {
		return err
	}
	page.Link(c, more)
	return c.JSON(http.StatusOK, out)
}

// authorOf is what commits of a person are found by: GitHub takes a name of an
// account here, or an address.
func (s *Service) authorOf(ctx context.Context, author string) (string, error) {
	if author == "" || strings.Contains(author, "@") {
		return author, nil
	}
	account, err := accountdb.ByName(ctx, s.DB.Directory(), author)
	if fault.Is(err, fault.NotFound) {
		return author, nil
	}
	if err != nil {
		return "", err
	}
	list, err := accountdb.Emails(ctx, s.DB.Directory(), account.ID)
	if err != nil || len(list) != 1 {
		return author, err
	}
	return list[0].Email, nil
}

// Limits of the changes in one answer, and how many files a page has.
const (
	apiDiffLines     = 50_000
	apiDiffFileLines = 10_000
	apiDiffFileBytes = 1 << 20
	apiFilesPerPage  = 300
)

// apiCommit is one commit with its changes.
func (s *Service) apiCommit(c *web.Ctx) error {
	p, err := s.apiRev(c, c.Param("*"))
	if err != nil {
		return err
	}
	commit, err := p.git.Commit(c.Context(), p.rev.Commit)
	if err != nil {
		return lost(err)
	}
	opts := git.DiffOptions{Base: p.git.DiffBase(commit), Head: commit.OID}
	switch kind := media(c); kind {
	case "sha":
		return s.sendMedia(c, kind, func() error { return c.Bytes([]byte(commit.OID)) })
	case "diff":
		return s.sendMedia(c, kind, func() error { return p.git.Patch(c.Context(), git.PatchDiff, opts, c.W) })
	case "patch":
		return s.sendMedia(c, kind, func() error { return p.git.Patch(c.Context(), git.PatchMail, opts, c.W) })
	}
	list, err := s.WireCommits(c, p.git, []*git.Commit{commit})
	if err != nil {
		return err
	}
	w := list[0]
	w.Stats = &CommitStats{}
	if w.Files, err = s.apiFiles(c, p.git, opts, commit.OID, w.Stats); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, w)
}

func (s *Service) sendMedia(c *web.Ctx, kind string, send func() error) error {
	c.W.Header().Set("Content-Type", "application/vnd.github."+kind+"; charset=utf-8")
	return send()
}

// apiFiles are the changed files of a page of an answer, and the sums of all.
func (s *Service) apiFiles(c *web.Ctx, g *git.Repository, opts git.DiffOptions, rev git.OID, sum *CommitStats) ([]ChangedFile, error) {
	defer c.Time("git")()
	page, per := c.QueryInt("page", 1, 1, 100_000), c.QueryInt("per_page", apiFilesPerPage, 1, apiFilesPerPage)
	opts.MaxLines, opts.MaxFileLines, opts.MaxFileBytes = apiDiffLines, apiDiffFileLines, apiDiffFileBytes
	opts.MaxFiles = page * per
	files, err := g.Diff(c.Context(), opts)
	if err != nil {
		return nil, lost(err)
	}
	for i := range files {
		sum.Additions += files[i].Additions
		sum.Deletions += files[i].Deletions
	}
	sum.Total = sum.Additions + sum.Deletions
	from, to := min((page-1)*per, len(files)), min(page*per, len(files))
	out := make([]ChangedFile, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, changedFile(c, &files[i], rev))
	}
	if len(files) > per {
		api.Paging{Page: page, PerPage: per}.LinkTotal(c, len(files))
	}
	return out, nil
}

// Comparison is GitHub's comparison of two commits
// (https://docs.github.com/rest/commits/commits#compare-two-commits).
type Comparison struct {
	URL          string        `json:"url"`
	HTMLURL      string        `json:"html_url"`
	PermalinkURL string        `json:"permalink_url"`
	DiffURL      string        `json:"diff_url"`
	PatchURL     string        `json:"patch_url"`
	Base         Commit        `json:"base_commit"`
	MergeBase    *Commit       `json:"merge_base_commit"`
	Status       string        `json:"status"`
	AheadBy      int           `json:"ahead_by"`
	BehindBy     int           `json:"behind_by"`
	TotalCommits int           `json:"total_commits"`
	Commits      []Commit      `json:"commits"`
	Files        []ChangedFile `json:"files"`
}

// maxCompared is how many commits a comparison lists unless it is paged.
const maxCompared = 250

func (s *Service) apiCompare(c *web.Ctx) error {
	cmp, err := s.compared(c, c.Param("*"))
	if err != nil {
		return err
	}
	switch kind := media(c); kind {
	case "diff":
		return s.sendMedia(c, kind, func() error { return cmp.git.Patch(c.Context(), git.PatchDiff, cmp.diff(), c.W) })
	case "patch":
		return s.sendMedia(c, kind, func() error { return cmp.git.Patch(c.Context(), git.PatchMail, cmp.mails(), c.W) })
	}
	page, per := c.QueryInt("page", 1, 1, 100_000), c.QueryInt("per_page", maxCompared, 1, maxCompared)
	n, err := cmp.ahead(c.Context())
	if err != nil {
		return err
	}
	list, err := cmp.commits(c.Context(), n.Ahead, page, per)
	if err != nil {
		return err
	}
	show := append([]*git.Commit{cmp.base}, list...)
	if cmp.common != nil {
		show = append(show, cmp.common)
	}
	wires, err := s.WireCommits(c, cmp.git, show)
	if err != nil {
		return err
	}
	w := Comparison{Base: wires[0], Commits: wires[1 : 1+len(list)], AheadBy: n.Ahead, BehindBy: n.Behind, TotalCommits: n.Ahead,
		Status: status(n), Files: []ChangedFile{}}
	cmp.urls(c, &w)
	if cmp.common != nil {
		w.MergeBase = &wires[len(wires)-1]
	}
	if page == 1 {
		if w.Files, err = s.comparedFiles(c, cmp); err != nil {
			return err
		}
	}
	if n.Ahead > per {
		api.Paging{Page: page, PerPage: per}.LinkTotal(c, n.Ahead)
	}
	return c.JSON(http.StatusOK, w)
}

func (m *comparison) urls(c *web.Ctx, w *Comparison) {
	o, n := c.Repo.Owner.Name, c.Repo.Name
	w.URL = apiURL(c, "/compare/"+link.Path(m.baseName)+"..."+link.Path(m.headName))
	w.HTMLURL = c.URL(link.Compare(o, n, m.baseName, m.headName))
	w.PermalinkURL = c.URL(link.Compare(o, n, m.base.OID.String(), m.head.OID.String()))
	w.DiffURL, w.PatchURL = w.HTMLURL+".diff", w.HTMLURL+".patch"
}

func status(n git.Divergence) string {
	switch {
	case n.Ahead > 0 && n.Behind > 0:
		return "diverged"
	case n.Ahead > 0:
		return "ahead"
	case n.Behind > 0:
		return "behind"
	}
	return "identical"
}

// comparedFiles are the files of a comparison's first page.
func (s *Service) comparedFiles(c *web.Ctx, m *comparison) ([]ChangedFile, error) {
	defer c.Time("git")()
	opts := m.diff()
	opts.MaxLines, opts.MaxFileLines, opts.MaxFileBytes, opts.MaxFiles = apiDiffLines, apiDiffFileLines, apiDiffFileBytes, apiFilesPerPage
	files, err := m.git.Diff(c.Context(), opts)
	if err != nil {
		return nil, lost(err)
	}
	out := make([]ChangedFile, 0, min(len(files), apiFilesPerPage))
	for i := range files[:cap(out)] {
		out = append(out, changedFile(c, &files[i], m.head.OID))
	}
	return out, nil
}
