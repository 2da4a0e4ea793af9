package reviews

import (
	"context"
	"errors"
	"slices"

	"github.com/gitfor/gitfor/app/diffs"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/diffview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/pullview"
	"github.com/gitfor/gitfor/views/reviewview"
	"github.com/gitfor/gitfor/views/threadview"
	"github.com/gitfor/gitfor/views/ui"
)

func (s *Service) accounts(c *web.Ctx, ids ...int64) (map[int64]*model.Account, error) {
	return accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
}

// Entries puts reviews in the place of their lines in a timeline.
func (s *Service) Entries(c *web.Ctx, pull *model.Pull, v *threads.View, entries []threadview.Entry) error {
	var b *build
	for i := range entries {
		l := entries[i].Line
		if l == nil || l.Kind != model.ItemReviewed {
			continue
		}
		if b == nil {
			var err error
			if b, err = s.building(c, pull, "", nil); err != nil {
				return err
			}
		}
		k := slices.IndexFunc(b.reviews, func(r *model.Review) bool { return r.ID == l.Data.Review })
		if k < 0 {
			continue
		}
		p := b.review(b.reviews[k], l)
		p.HTML = v.HTML[l.ID]
		if p.Note = associationWord(v.People.Association[b.reviews[k].AuthorID]); p.Author == nil {
			p.Author = v.People.Get(b.reviews[k].AuthorID)
		}
		entries[i] = threadview.Entry{Custom: reviewview.Review(p)}
	}
	return nil
}

// stateLook is how a review's state looks, and what it says of its author.
func stateLook(state string) (ui.State, string) {
	switch state {
	case model.ReviewApproved:
		return ui.State{Kind: "success", Word: "Approved"}, "approved these changes"
	case model.ReviewChanges:
		return ui.State{Kind: "failure", Word: "Asked for changes", Icon: "file-diff"}, "asked for changes"
	case model.ReviewDismissed:
		return ui.State{Kind: "cancelled", Word: "Dismissed"}, "reviewed; the review was dismissed"
	}
	return ui.State{Kind: "neutral", Word: "Commented", Icon: "message-square"}, "reviewed"
}

// review is a review as the conversation shows it.
func (b *build) review(r *model.Review, l *threadview.LineProps) reviewview.ReviewProps {
	p := reviewview.ReviewProps{Base: b.base, ID: r.ID, Author: l.Actor, At: l.At, Counts: r.Counts, Votes: r.Decides(),
		Round: r.Round, Stale: r.Round != b.pull.Round(), Dismissal: r.Dismissal, CanEdit: b.p.MayEdit(r.AuthorID),
		Dismiss:   r.Decides() && b.p.Role.AtLeast(model.RoleWrite) && !b.p.Repo.Archived(),
		RoundHref: link.Q("round", num(int64(r.Round))).On(link.PullFiles(b.c.Repo.Owner.Name, b.c.Repo.Name, b.pull.Number))}
	p.State, p.Verb = stateLook(r.State)
	for _, id := range b.order {
		list := b.threads[id]
		if list[0].ReviewID == r.ID && !list[0].Pending {
			p.Threads = append(p.Threads, b.thread(id))
			continue
		}
		for _, x := range list {
			if x.ReviewID == r.ID && !x.Pending {
				p.Answers = append(p.Answers, reviewview.Answer{Href: "#discussion-" + num(x.ID), Path: x.Path})
			}
		}
	}
	return p
}

// files is what reviews add to a page of changed files.
type files struct {
	s      *Service
	b      *build
	git    *git.Repository
	at     pulls.Sides
	byFile map[string][]*model.ReviewComment // the first of each conversation, by where it stands
	old    map[string][]*model.ReviewComment // outdated ones
	placed map[int64]int                     // line, where the page shows another round than the newest
	marks  map[string]string
	shown  map[string]bool
	exact  bool
	// exactly is whether files whose lines are known were looked at.
	exactly map[string]bool
	all     []git.DiffFile
}

// Files prepares the conversations of a page of changed files.
func (s *Service) Files(c *web.Ctx, pull *model.Pull, g *git.Repository, at pulls.Sides) (pulls.FilesReview, error) {
	b, err := s.building(c, pull, "files", nil)
	if err != nil {
		return nil, err
	}
	base := pulls.Base(g, pull, pull.Round()).String()
	stale := slices.ContainsFunc(b.order, func(id int64) bool {
		return !b.threads[id][0].Placed(pull.Round(), base)
	})
	if stale && at.Round == pull.Round() {
		if err := s.Follow(c.Context(), b.p, g, pull); err != nil {
			return nil, err
		}
		if b, err = s.building(c, pull, "files", nil); err != nil {
			return nil, err
		}
	}
	f := &files{s: s, b: b, git: g, at: at, byFile: map[string][]*model.ReviewComment{}, old: map[string][]*model.ReviewComment{},
		placed: map[int64]int{}, shown: map[string]bool{}, exactly: map[string]bool{}, exact: c.Query("w") != "1"}
	for _, id := range b.order {
		f.place(b.threads[id][0])
	}
	f.marks, err = s.viewed(c.Context(), s.DB.Repo(c.Repo.ID), pull.Number, c.Viewer.ID())
	return f, err
}

// place finds the line on the page that a conversation stands on.
func (f *files) place(first *model.ReviewComment) {
	if f.at.From > 0 && first.Left() {
		return
	}
	if f.at.Round != f.b.pull.Round() {
		if first.Round == f.at.Round {
			f.byFile[first.Path], f.placed[first.ID] = append(f.byFile[first.Path], first), first.Line
		}
		return
	}
	path, line, _, ok := where(first)
	if !ok {
		f.old[path] = append(f.old[path], first)
		return
	}
	f.byFile[path], f.placed[first.ID] = append(f.byFile[path], first), line
}

// Extend adds lines to a file's diff that comments stand on.
func (f *files) Extend(ctx context.Context, d *git.DiffFile) error {
	list := f.byFile[d.NewName]
	if len(list) == 0 || d.Binary || d.Truncated || len(d.Hunks) == 0 || d.NewOID == "" || d.NewOID.IsZero() {
		return nil
	}
	wanted := map[int]bool{}
	for _, first := range list {
		line := f.placed[first.ID]
		if line == 0 || inHunks(d, first.Side, line) {
			continue
		}
		if first.Left() {
			line = newLine(d, line)
		}
		for k := line - around; k <= line+around; k++ {
			wanted[k] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	text, err := f.git.Blob(ctx, d.NewOID, maxCommented)
	if errors.Is(err, git.ErrTooLarge) {
		return nil
	}
	if err != nil {
		return err
	}
	diffs.Widen(d, diffs.Split(text), func(n int) bool { return wanted[n] })
	return nil
}

func inHunks(d *git.DiffFile, side string, line int) bool {
	for i := range d.Hunks {
		for k := range d.Hunks[i].Lines {
			if lineOn(&d.Hunks[i].Lines[k], side) == line {
				return true
			}
		}
	}
	return false
}

// newLine is the number after the change of a line that did not change.
func newLine(d *git.DiffFile, old int) int {
	delta := 0
	for i := range d.Hunks {
		h := &d.Hunks[i]
		if h.OldStart > old {
			break
		}
		delta += h.NewLines - h.OldLines
	}
	return old + delta
}

// Decorate adds conversations and controls to a file.
func (f *files) Decorate(d *git.DiffFile, v *diffview.File) {
	path := d.NewName
	lines := map[string][]reviewview.ThreadProps{}
	var top []reviewview.ThreadProps
	for _, first := range f.byFile[path] {
		line := f.placed[first.ID]
		if line == 0 || v.Load == "" && !inHunks(d, first.Side, line) {
			top = append(top, f.b.thread(first.ID))
			continue
		}
		key := rowID("", first.Side, line)
		lines[key] = append(lines[key], f.b.thread(first.ID))
	}
	for i := range v.Hunks {
		for k := range v.Hunks[i].Lines {
			l := &v.Hunks[i].Lines[k]
			var here []reviewview.ThreadProps
			if l.New > 0 {
				here = append(here, lines[rowID("", model.SideRight, l.New)]...)
			}
			if l.Old > 0 && l.Kind != diffview.Added {
				here = append(here, lines[rowID("", model.SideLeft, l.Old)]...)
			}
			if len(here) > 0 {
				l.Below = reviewview.Below(here)
			}
		}
	}
	var old []reviewview.ThreadProps
	for _, first := range f.old[path] {
		old = append(old, f.b.thread(first.ID))
	}
	v.Top = reviewview.Top(v.ID, top, old)
	f.controls(d, v)
}

func (f *files) controls(d *git.DiffFile, v *diffview.File) {
	c, o, n := f.b.c, f.b.c.Repo.Owner.Name, f.b.c.Repo.Name
	if !c.Viewer.SignedIn() {
		return
	}
	p := reviewview.ControlsProps{ID: v.ID, Path: d.NewName, SHA: f.at.Head.String()}
	if f.b.p.MayComment(f.b.pull.Issue) {
		p.Comment = link.PullPart(o, n, f.b.pull.Number, "review-comments/new")
		v.Comment, v.OneSided = p.FormID(), f.at.From > 0
	}
	if f.at.From == 0 && f.at.Round == f.b.pull.Round() {
		p.Mark, p.Viewed = markOf(d, f.exact), link.PullPart(o, n, f.b.pull.Number, "viewed")
		p.On = sameMark(f.marks[d.NewName], p.Mark)
		f.exactly[d.NewName] = p.On
		v.Folded = p.On
	}
	v.Controls = reviewview.Controls(p)
}

// Sum is told of all files, shown or not.
func (f *files) Sum(all []git.DiffFile) {
	f.all = all
	for i := range all {
		f.shown[all[i].NewName] = true
	}
}

// Marks is how many conversations a file has, and whether the viewer has
// looked at it.
func (f *files) Marks(d *git.DiffFile) (comments int, viewed bool) {
	return len(f.byFile[d.NewName]) + len(f.old[d.NewName]), f.seen(d)
}

// seen says whether the viewer has looked at a file's change.
func (f *files) seen(d *git.DiffFile) bool {
	if on, ok := f.exactly[d.NewName]; ok {
		return on
	}
	mark := f.marks[d.NewName]
	return mark != "" && sameMark(mark, markOf(d, false))
}

// Finish adds what belongs to the whole page.
func (f *files) Finish(p *pullview.FilesProps) {
	c, b := f.b.c, f.b
	o, n := c.Repo.Owner.Name, c.Repo.Name
	if c.Viewer.SignedIn() && f.at.From == 0 && f.at.Round == b.pull.Round() {
		p.Total = len(f.all)
		for i := range f.all {
			if f.seen(&f.all[i]) {
				p.Viewed++
			}
		}
	}
	last := 0
	for _, r := range b.reviews {
		if r.AuthorID == c.Viewer.ID() && r.State != model.ReviewPending {
			last = max(last, r.Round)
		}
	}
	if now := b.pull.Round(); last > 0 && last < now {
		p.SinceRound, p.Since = last, link.Q("from", num(int64(last)), "round", num(int64(now))).On(link.PullFiles(o, n, b.pull.Number))
	}
	p.Threads = link.PullPart(o, n, b.pull.Number, "threads")
	if f.at.Round != b.pull.Round() || f.at.From > 0 {
		p.Threads = ""
	}
	var rest []reviewview.ThreadProps
	for _, id := range b.order {
		first := b.threads[id][0]
		path, _, _, _ := where(first)
		if f.at.Round == b.pull.Round() && f.at.From == 0 && !f.shown[path] {
			t := b.thread(id)
			t.Named = true
			rest = append(rest, t)
		}
		if !first.Resolved() && !first.Pending {
			p.Unresolved++
		}
	}
	if len(rest) > 0 {
		p.Elsewhere = reviewview.Elsewhere(rest)
	}
	if !b.p.MayComment(b.pull.Issue) || !c.Viewer.SignedIn() {
		return
	}
	r := &pullview.ReviewProps{Action: link.PullPart(o, n, b.pull.Number, "reviews"), Own: b.pull.Issue.AuthorID == c.Viewer.ID(),
		SHA: f.at.Head.String(), Context: c.Repo.FullName(), Counts: c.Role.AtLeast(model.RoleWrite), Mentions: link.PullPart(o, n, b.pull.Number, "people")}
	if b.pending != nil {
		r.Body, r.Begun = b.pending.Body, true
		for _, id := range b.order {
			for _, x := range b.threads[id] {
				if x.Pending {
					r.Pending++
				}
			}
		}
	}
	p.Review = r
}
