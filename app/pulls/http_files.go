package pulls

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/diffs"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/diffview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/pullview"
	"github.com/gitfor/gitfor/views/ui"
)

const (
	// filesAtOnce is how many files one page shows; the next ones are loaded
	// when the reader comes near.
	filesAtOnce = 150
	// treeAtOnce is how many files the list of all files shows without being
	// asked.
	treeAtOnce = 400
	// fileLines is how many lines of a single file are shown at once, and
	// maxFileLines how many at most.
	fileLines    = 3_000
	maxFileLines = 24_000
)

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
	l := &listing{s: s, c: c, git: g, split: c.Query("diff") == "split"}
	if l.at, err = s.sidesOf(c, g, pull); err != nil {
		return err
	}
	if s.Reviews != nil {
		if l.review, err = s.Reviews.Files(c, pull, g, l.at); err != nil {
			return err
		}
	}
	if c.HTMX() && c.Query("file") != "" {
		return l.one()
	}
	if err := l.list(); err != nil {
		return err
	}
	if c.HTMX() && c.Target() == "changed-files" {
		return component(c, http.StatusOK, diffview.TreeList(l.tree()))
	}
	diff, err := l.diff()
	if err != nil {
		return err
	}
	if c.HTMX() && c.Target() == "more-files" {
		return component(c, http.StatusOK, diffview.MoreFiles(*diff))
	}
	p, err := s.filesProps(c, pull, l, diff)
	if err != nil {
		return err
	}
	if change != nil {
		change(p)
	}
	return s.render(c, status, pull, "Files", pullview.Files(*p), true, p.Head)
}

func (s *Service) filesProps(c *web.Ctx, pull *model.Pull, l *listing, diff *diffview.Props) (*pullview.FilesProps, error) {
	ids := []int64{pull.Issue.AuthorID}
	for _, r := range pull.Rounds {
		ids = append(ids, r.By)
	}
	accounts, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
	if err != nil {
		return nil, err
	}
	p := &pullview.FilesProps{Diff: *diff, Unrelated: pull.MergeBase == "", All: link.PullFiles(c.Repo.Owner.Name, c.Repo.Name, pull.Number)}
	if p.Head, err = s.headProps(c, l.git, pull, accounts[pull.Issue.AuthorID], "files"); err != nil {
		return nil, err
	}
	switch at := l.at; {
	case at.From > 0:
		p.Comparing = "What changed between round " + num(int64(at.From)) + " and round " + num(int64(at.Round)) + ", without what came from the base."
	case at.Round != pull.Round():
		p.Comparing = "This is round " + num(int64(at.Round)) + ", not the newest."
	}
	p.Rounds, p.Round, p.From = rounds(c, pull, accounts), l.at.Round, l.at.From
	if l.review != nil {
		l.review.Finish(p)
	}
	return p, nil
}

// listing makes the files of the files tab.
type listing struct {
	s      *Service
	c      *web.Ctx
	git    *git.Repository
	page   *diffs.Page
	at     Sides
	split  bool
	review FilesReview
	moved  diffs.Moved

	all   []git.DiffFile
	after int
	// single says that one file is asked for by name.
	single bool
}

// lines is how many lines of a single file are shown.
func (l *listing) lines() int { return l.c.QueryInt("lines", fileLines, fileLines, maxFileLines) }

func (l *listing) options() git.DiffOptions {
	o := git.DiffOptions{Base: l.at.Base, Head: l.at.Head}
	if l.c.Query("w") == "1" {
		o.Whitespace = git.IgnoreAllWhitespace
	}
	return o
}

// list finds which files there are.
func (l *listing) list() error {
	defer l.c.Time("git")()
	var err error
	if l.all, err = l.git.DiffFiles(l.c.Context(), l.options()); err != nil {
		return err
	}
	if name := l.c.Query("file"); name != "" {
		// Without JavaScript: the page of one file.
		k := slices.IndexFunc(l.all, func(f git.DiffFile) bool { return f.NewName == name })
		if k < 0 {
			return db.ErrNotFound
		}
		l.all, l.single = l.all[k:k+1:k+1], true
	}
	l.after = l.c.QueryInt("after", 0, 0, len(l.all))
	if l.review != nil {
		l.review.Sum(l.all)
	}
	return nil
}

// diff makes the files of the part of the list that is asked for.
func (l *listing) diff() (*diffview.Props, error) {
	defer l.c.Time("git")()
	end := min(l.after+filesAtOnce, len(l.all))
	opts := diffs.Limit(l.options())
	var files []git.DiffFile
	if end > l.after {
		if l.single {
			opts.MaxLines, opts.MaxFileLines = 0, l.lines()
		}
		if end-l.after < len(l.all) || l.single {
			for i := range l.all[l.after:end] {
				opts.Paths = append(opts.Paths, l.all[l.after+i].Paths()...)
			}
		}
		var err error
		if files, err = l.git.Diff(l.c.Context(), opts); err != nil {
			return nil, err
		}
	}
	l.page = l.s.differ.Page(l.git, l.split)
	defer l.page.Close(l.c.Context())
	l.moved = diffs.FindMoved(files)
	uri := link.Set(link.Set(l.c.R.URL.RequestURI(), "after", ""), "tree", "")
	blanks := l.c.Query("w") == "1"
	props := &diffview.Props{Split: l.split, Unified: link.Set(uri, "diff", ""), SideBySide: link.Set(uri, "diff", "split"),
		NoWhitespace: blanks, Whitespace: link.Set(uri, "w", "1"), Total: len(l.all), More: len(l.all) - end}
	if blanks {
		props.Whitespace = link.Set(uri, "w", "")
	}
	for i := range l.all {
		props.Additions += l.all[i].Additions
		props.Deletions += l.all[i].Deletions
	}
	for i := range files {
		f, err := l.file(&files[i], !l.single)
		if err != nil {
			return nil, err
		}
		props.Files = append(props.Files, f)
	}
	if end < len(l.all) {
		props.Next = link.Set(uri, "after", strconv.Itoa(end))
	}
	if l.after > 0 {
		props.Before = link.Set(uri, "after", strconv.Itoa(max(0, l.after-filesAtOnce)))
		if l.after <= filesAtOnce {
			props.Before = uri
		}
	}
	tree := diffview.TreeProps{Total: len(l.all), Later: link.Set(uri, "tree", "1")}
	if len(l.all) <= treeAtOnce || l.c.Query("tree") != "" {
		tree = l.tree()
	}
	props.Tree = &tree
	return props, nil
}

// tree is the list of all changed files.
func (l *listing) tree() diffview.TreeProps {
	uri := link.Set(link.Set(l.c.R.URL.RequestURI(), "after", ""), "tree", "")
	t := diffview.TreeProps{Total: len(l.all)}
	folder := ""
	for i := range l.all {
		f := &l.all[i]
		name := git.Display(f.NewName)
		dir, base := "", name
		if at := strings.LastIndexByte(name, '/'); at >= 0 {
			dir, base = name[:at], name[at+1:]
		}
		e := diffview.TreeEntry{Name: base, Path: name, Status: f.Status.String(), Additions: f.Additions, Deletions: f.Deletions, Href: "#" + diffs.ID(f.NewName)}
		if dir != folder {
			e.Folder, folder = dir+"/", dir
			if dir == "" {
				e.Folder = "/"
			}
		}
		if part := i / filesAtOnce * filesAtOnce; part != l.after/filesAtOnce*filesAtOnce {
			to := uri
			if part > 0 {
				to = link.Set(uri, "after", strconv.Itoa(part))
			}
			e.Href = to + "#" + diffs.ID(f.NewName)
		}
		if l.review != nil {
			e.Comments, e.Viewed = l.review.Marks(f)
		}
		t.Entries = append(t.Entries, e)
	}
	return t
}

// one answers with the lines of a single file.
func (l *listing) one() error {
	defer l.c.Time("git")()
	opts := l.options()
	opts.Paths = []string{l.c.Query("file")}
	if old := l.c.Query("old"); old != "" {
		opts.Paths = append(opts.Paths, old)
	}
	opts.MaxFileLines = l.lines()
	opts.MaxFileBytes, opts.MaxLineBytes = 20<<20, 10_000
	files, err := l.git.Diff(l.c.Context(), opts)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return db.ErrNotFound
	}
	l.page = l.s.differ.Page(l.git, l.split)
	defer l.page.Close(l.c.Context())
	l.moved = diffs.FindMoved(files)
	f, err := l.file(&files[0], false)
	if err != nil {
		return err
	}
	f.Folded = false
	return component(l.c, http.StatusOK, diffview.FilePanel(f, l.split))
}

func (l *listing) file(f *git.DiffFile, later bool) (diffview.File, error) {
	c, at := l.c, l.at
	o, n := c.Repo.Owner.Name, c.Repo.Name
	if l.review != nil {
		if err := l.review.Extend(c.Context(), f); err != nil {
			return diffview.File{}, err
		}
	}
	length, err := l.widen(f, later)
	if err != nil {
		return diffview.File{}, err
	}
	view := l.page.File(c.Context(), f)
	l.moved.Mark(f, &view)
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
	l.loads(f, &view, later, length)
	if l.review != nil {
		l.review.Decorate(f, &view)
	}
	return view, nil
}

// loads says where lines come from that are not shown.
func (l *listing) loads(f *git.DiffFile, view *diffview.File, later bool, length int) {
	address := l.address(f)
	switch {
	case f.Truncated && later:
		view.Load, view.Partly = address, len(f.Hunks) > 0
	case f.Truncated:
		if lines := l.lines(); lines < maxFileLines {
			view.Load, view.Partly = link.Set(address, "lines", strconv.Itoa(min(2*lines, maxFileLines))), true
		} else {
			view.Note = "Only the first lines are shown: the change is too large for a page. View the file, or fetch the branch."
		}
	case f.Binary || len(f.Hunks) == 0 || f.Status == git.StatusAdded || f.Status == git.StatusDeleted:
	default:
		l.gaps(f, view, address, length)
	}
}

// gapLines is how many unchanged lines are shown at a time.
const gapLines = 20

// gaps adds to hunks the addresses that show the unchanged lines around them.
func (l *listing) gaps(f *git.DiffFile, view *diffview.File, address string, length int) {
	shown := ""
	if l.c.Query("file") == f.NewName {
		shown = l.c.Query("show")
	}
	more := func(from, to int) string {
		spans := strconv.Itoa(from) + "-" + strconv.Itoa(to)
		if shown != "" {
			spans = shown + "," + spans
		}
		return link.Set(address, "show", spans)
	}
	last := 0
	for i := range f.Hunks {
		h := &f.Hunks[i]
		start := h.NewStart
		if h.NewLines == 0 {
			start++
		}
		if gap := start - 1 - last; gap > 0 && i < len(view.Hunks) {
			view.Hunks[i].Up, view.Hunks[i].Gap = more(max(last+1, start-gapLines), start-1), gap
			if last > 0 && gap > gapLines {
				view.Hunks[i].Down = more(last+1, last+gapLines)
			}
		}
		last = start - 1 + h.NewLines
	}
	if (length == 0 || last < length) && tail(f) >= 3 {
		view.End = more(last+1, last+gapLines)
	}
	view.Expand = link.Set(address, "show", "all")
	if shown == "all" {
		view.Expand, view.End = "", ""
	}
}

// tail is how many unchanged lines end a file's diff: fewer than asked for
// means that the file ends there.
func tail(f *git.DiffFile) int {
	lines := f.Hunks[len(f.Hunks)-1].Lines
	n := 0
	for k := len(lines) - 1; k >= 0 && lines[k].Kind == git.LineContext; k-- {
		if lines[k].NoNewline {
			return 0
		}
		n++
	}
	return n
}

// widen adds the unchanged lines that are asked for, and is how many lines the
// file has, 0 when that is not known.
func (l *listing) widen(f *git.DiffFile, later bool) (int, error) {
	show := l.c.Query("show")
	if later || show == "" || f.Truncated || f.Binary || f.NewOID == "" || f.NewOID.IsZero() {
		return 0, nil
	}
	data, err := l.git.Blob(l.c.Context(), f.NewOID, 20<<20)
	if errors.Is(err, git.ErrTooLarge) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	lines := diffs.Split(data)
	want := wanted(show)
	shown := 0
	diffs.Widen(f, lines, func(n int) bool {
		if !want(n) || shown >= maxFileLines {
			return false
		}
		shown++
		return true
	})
	return len(lines), nil
}

// wanted reads ranges of lines such as 1-20,50-60, or all.
func wanted(show string) func(n int) bool {
	if show == "all" {
		return func(int) bool { return true }
	}
	var spans [][2]int
	for part := range strings.SplitSeq(show, ",") {
		from, to, ok := strings.Cut(part, "-")
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if ok && err1 == nil && err2 == nil && len(spans) < 200 {
			spans = append(spans, [2]int{a, b})
		}
	}
	return func(n int) bool {
		for _, s := range spans {
			if n >= s[0] && n <= s[1] {
				return true
			}
		}
		return false
	}
}

// address is where the lines of a single file come from.
func (l *listing) address(f *git.DiffFile) string {
	q := l.c.R.URL.Query()
	for _, name := range []string{"after", "tree", "show", "lines", "old"} {
		q.Del(name)
	}
	q.Set("file", f.NewName)
	if f.OldName != f.NewName {
		q.Set("old", f.OldName)
	}
	return link.PullPart(l.c.Repo.Owner.Name, l.c.Repo.Name, l.number(), "files") + "?" + q.Encode()
}

func (l *listing) number() int64 {
	n, err := l.c.ParamInt("number")
	if err != nil {
		return 0
	}
	return n
}
