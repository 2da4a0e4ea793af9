package pulls

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/diffs"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/statusdb"
	"github.com/gitfor/gitfor/views/diffview"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/part"
	"github.com/gitfor/gitfor/views/pullview"
	"github.com/gitfor/gitfor/views/ui"
)

// maxCommits is how many commits the tab lists.
const maxCommits = 500

// render answers with a page of a pull request.
func (s *Service) render(c *web.Ctx, status int, pull *model.Pull, what string, body templ.Component, wide bool, head pullview.HeadProps) error {
	shell, err := s.Repos.Shell(c, "pulls")
	if err != nil {
		return err
	}
	return c.Render(web.Page{Status: status, Title: what + " · " + pull.Issue.Title + " · Pull request #" + num(pull.Number) + " · " + c.Repo.FullName(),
		Props: layout.Props{Wide: wide}, Shell: shell, Body: body,
		Parts: map[string]func() templ.Component{"thread-head": func() templ.Component { return pullview.Head(head) }}})
}

func (s *Service) commitsPage(c *web.Ctx) error {
	pull, g, err := s.found(c)
	if err != nil {
		return err
	}
	log, err := commitsOf(c.Context(), g, pull, maxCommits)
	if err != nil {
		return err
	}
	people, err := s.authors(c.Context(), log)
	if err != nil {
		return err
	}
	shas := make([]string, len(log))
	for i, commit := range log {
		shas[i] = commit.OID.String()
	}
	statuses, err := statusdb.Latest(c.Context(), s.DB.Repo(c.Repo.ID), "", shas...)
	if err != nil {
		return err
	}
	ids := []int64{pull.Issue.AuthorID}
	for _, r := range pull.Rounds {
		ids = append(ids, r.By)
	}
	accounts, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
	if err != nil {
		return err
	}
	p := pullview.CommitsProps{More: max(0, pull.Commits-len(log))}
	if p.Head, err = s.headProps(c, g, pull, accounts[pull.Issue.AuthorID], "commits"); err != nil {
		return err
	}
	for _, commit := range log {
		row := commitProps(c, commit, people)
		if list := statuses[row.OID]; len(list) > 0 {
			state := part.CheckState(model.Combined(list))
			row.Status, row.StatusTitle = &state, checked(list)
		}
		p.Commits = append(p.Commits, row)
	}
	p.Rounds = rounds(c, pull, accounts)
	return s.render(c, http.StatusOK, pull, "Commits", pullview.Commits(p), false, p.Head)
}

func commitProps(c *web.Ctx, commit *git.Commit, people map[string]*model.Account) pullview.Commit {
	title := commit.Title()
	if title == "" {
		title = "(no message)"
	}
	return pullview.Commit{OID: commit.OID.String(), Short: commit.OID.Short(), Title: title, Body: commit.Body(),
		Author: commit.AuthorName(), Account: people[model.Key(git.DecodeText(commit.Author.Email))], When: commit.Committer.When,
		Href: link.Commit(c.Repo.Owner.Name, c.Repo.Name, commit.OID.String())}
}

// checked says how many of a commit's checks have succeeded.
func checked(list []*model.Status) string {
	done := 0
	for _, st := range list {
		if st.Outcome() == model.StatusSuccess {
			done++
		}
	}
	return num(int64(done)) + " of " + num(int64(len(list))) + " checks have succeeded"
}

// rounds are the versions of the branch, the newest first.
func rounds(c *web.Ctx, pull *model.Pull, accounts map[int64]*model.Account) []pullview.Round {
	files := link.PullFiles(c.Repo.Owner.Name, c.Repo.Name, pull.Number)
	var out []pullview.Round
	for i, r := range pull.Rounds {
		round := pullview.Round{Number: i + 1, By: accounts[r.By], At: r.At, Forced: r.Forced, Head: r.Head,
			Href: link.Q("round", num(int64(i+1))).On(files)}
		if i > 0 {
			round.Compare = link.Q("from", num(int64(i)), "round", num(int64(i+1))).On(files)
		}
		out = append(out, round)
	}
	slices.Reverse(out)
	return out
}

// sidesOf reads which rounds are asked for.
func (s *Service) sidesOf(c *web.Ctx, g *git.Repository, pull *model.Pull) (Sides, error) {
	now := pull.Round()
	at := Sides{Base: diffBase(g, pull), Head: git.OID(pull.HeadSHA), Round: now}
	at.Round = c.QueryInt("round", now, 1, now)
	if at.Round != now {
		r := pull.Rounds[at.Round-1]
		at.Head, at.Base = git.OID(r.Head), git.OID(r.Base)
		if r.Base == "" {
			at.Base = g.EmptyTree()
		}
	}
	if from := c.QueryInt("from", 0, 0, at.Round-1); from > 0 {
		at.From = from
		var err error
		at.Base, err = s.between(c.Context(), g, pull, from, at.Round)
		return at, err
	}
	return at, nil
}

func (s *Service) filesPage(c *web.Ctx) error {
	return s.filesWith(c, http.StatusOK, nil)
}

// FilesRefused answers with the page of changed files, its form for a review
// as it was filled in, with what is wrong.
func (s *Service) FilesRefused(c *web.Ctx, body, event string, errors ui.Errors) error {
	return s.filesWith(c, http.StatusUnprocessableEntity, func(p *pullview.FilesProps) {
		if p.Review != nil {
			p.Review.Body, p.Review.Event, p.Review.Errors = body, event, errors
		}
	})
}

func (s *Service) filesWith(c *web.Ctx, status int, change func(p *pullview.FilesProps)) error {
	pull, g, err := s.found(c)
	if err != nil {
		return err
	}
	at, err := s.sidesOf(c, g, pull)
	if err != nil {
		return err
	}
	var review FilesReview
	if s.Reviews != nil {
		if review, err = s.Reviews.Files(c, pull, g, at); err != nil {
			return err
		}
	}
	diff, err := s.diff(c, g, pull, at, review)
	if err != nil || diff == nil {
		return err
	}
	ids := []int64{pull.Issue.AuthorID}
	for _, r := range pull.Rounds {
		ids = append(ids, r.By)
	}
	accounts, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
	if err != nil {
		return err
	}
	p := pullview.FilesProps{Diff: *diff, Unrelated: pull.MergeBase == "", All: link.PullFiles(c.Repo.Owner.Name, c.Repo.Name, pull.Number)}
	if p.Head, err = s.headProps(c, g, pull, accounts[pull.Issue.AuthorID], "files"); err != nil {
		return err
	}
	switch {
	case at.From > 0:
		p.Comparing = "What changed between round " + num(int64(at.From)) + " and round " + num(int64(at.Round)) + ", without what came from the base."
	case at.Round != pull.Round():
		p.Comparing = "This is round " + num(int64(at.Round)) + ", not the newest."
	}
	p.Rounds, p.Round, p.From = rounds(c, pull, accounts), at.Round, at.From
	if review != nil {
		review.Finish(&p)
	}
	if change != nil {
		change(&p)
	}
	return s.render(c, status, pull, "Files", pullview.Files(p), true, p.Head)
}

// diff makes the list of changed files. When the lines of a single file are
// asked for (?file=), it answers with them and returns nil.
func (s *Service) diff(c *web.Ctx, g *git.Repository, pull *model.Pull, at Sides, review FilesReview) (*diffview.Props, error) {
	defer c.Time("git")()
	split, blanks := c.Query("diff") == "split", c.Query("w") == "1"
	opts := git.DiffOptions{Base: at.Base, Head: at.Head}
	if blanks {
		opts.Whitespace = git.IgnoreAllWhitespace
	}
	if name := c.Query("file"); name != "" {
		opts.Paths = []string{name}
		if old := c.Query("old"); old != "" {
			opts.Paths = append(opts.Paths, old)
		}
		opts.MaxFileBytes, opts.MaxLineBytes = 20<<20, 10_000
	} else {
		opts = diffs.Limit(opts)
	}
	files, err := g.Diff(c.Context(), opts)
	if err != nil {
		return nil, err
	}
	list := &listing{s: s, c: c, page: s.differ.Page(g, split), at: at, review: review}
	defer list.page.Close(c.Context())
	if c.Query("file") != "" && c.HTMX() && len(files) > 0 {
		f, err := list.file(&files[0], false)
		if err != nil {
			return nil, err
		}
		f.Folded = false
		return nil, component(c, 200, diffview.FilePanel(f, split))
	}
	uri := c.R.URL.RequestURI()
	props := &diffview.Props{Split: split, Unified: link.Set(uri, "diff", ""), SideBySide: link.Set(uri, "diff", "split"),
		NoWhitespace: blanks, Whitespace: link.Set(uri, "w", "1")}
	if blanks {
		props.Whitespace = link.Set(uri, "w", "")
	}
	for i := range files {
		props.Additions += files[i].Additions
		props.Deletions += files[i].Deletions
		if i >= diffs.MaxFiles {
			props.More++
			continue
		}
		f, err := list.file(&files[i], true)
		if err != nil {
			return nil, err
		}
		props.Files = append(props.Files, f)
	}
	return props, nil
}

// listing makes the files of the files tab.
type listing struct {
	s      *Service
	c      *web.Ctx
	page   *diffs.Page
	at     Sides
	review FilesReview
}

func (l *listing) file(f *git.DiffFile, later bool) (diffview.File, error) {
	c, at := l.c, l.at
	o, n := c.Repo.Owner.Name, c.Repo.Name
	if l.review != nil {
		if err := l.review.Extend(c.Context(), f); err != nil {
			return diffview.File{}, err
		}
	}
	view := l.page.File(c.Context(), f)
	if f.NewOID != "" && !f.NewOID.IsZero() && !f.IsSubmodule() {
		view.View = link.Blob(o, n, at.Head.String(), f.NewName)
	}
	if f.Binary && markup.IsImageName(f.NewName) {
		if f.Status != git.StatusAdded {
			view.Before = link.Raw(o, n, at.Base.String(), f.OldName)
		}
		if f.Status != git.StatusDeleted {
			view.After = link.Raw(o, n, at.Head.String(), f.NewName)
		}
	}
	if f.Truncated && later {
		view.Load = fileAddress(c, f)
	}
	if l.review != nil {
		l.review.Decorate(f, &view)
	}
	return view, nil
}

// fileAddress is where the lines of a single file come from.
func fileAddress(c *web.Ctx, f *git.DiffFile) string {
	q := c.R.URL.Query()
	q.Set("file", f.NewName)
	if f.OldName != f.NewName {
		q.Set("old", f.OldName)
	}
	path := link.PullFiles(c.Repo.Owner.Name, c.Repo.Name, 0)
	path = strings.TrimSuffix(path, "0/files") + c.Param("number") + "/files"
	return path + "?" + q.Encode()
}
