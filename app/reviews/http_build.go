package reviews

import (
	"context"
	"slices"
	"strconv"

	"github.com/gitfor/gitfor/app/diffs"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/reviewdb"
	"github.com/gitfor/gitfor/views/diffview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/reviewview"
)

// build makes what pages show of reviews.
type build struct {
	c       *web.Ctx
	p       Place
	pull    *model.Pull
	base    string
	in      string // "files", or "" for the conversation
	reviews []*model.Review
	pending *model.Review
	threads map[int64][]*model.ReviewComment
	order   []int64
	html    map[int64]string
	people  *accountdb.People
}

// building reads the reviews and conversations of a pull request, those that
// keep says yes to (nil is all).
func (s *Service) building(c *web.Ctx, pull *model.Pull, in string, keep func(first *model.ReviewComment) bool) (*build, error) {
	ctx, repo, me := c.Context(), s.DB.Repo(c.Repo.ID), c.Viewer.ID()
	b := &build{c: c, p: pulls.Here(c), pull: pull, in: in, base: link.Pull(c.Repo.Owner.Name, c.Repo.Name, pull.Number),
		threads: map[int64][]*model.ReviewComment{}, html: map[int64]string{}, people: &accountdb.People{}}
	var err error
	if b.reviews, err = reviewdb.List(ctx, repo, pull.Number, me); err != nil {
		return nil, err
	}
	if len(b.reviews) == 0 {
		return b, nil
	}
	for _, r := range b.reviews {
		if r.State == model.ReviewPending && r.AuthorID == me {
			b.pending = r
		}
	}
	all, err := reviewdb.Comments(ctx, repo, pull.Number, me)
	if err != nil {
		return nil, err
	}
	kept := map[int64]bool{}
	for _, x := range all {
		if b.threads[x.Thread] == nil {
			kept[x.Thread] = keep == nil || keep(x)
		}
		if !kept[x.Thread] {
			continue
		}
		if b.threads[x.Thread] == nil {
			b.order = append(b.order, x.Thread)
		}
		b.threads[x.Thread] = append(b.threads[x.Thread], x)
	}
	return b, s.render(ctx, b)
}

// render turns the texts into HTML and finds the people, in one go.
func (s *Service) render(ctx context.Context, b *build) error {
	var texts []threads.Text
	var ids, at []int64
	for _, id := range b.order {
		for _, x := range b.threads[id] {
			text, _ := suggested(x.Body)
			texts, at = append(texts, threads.Text{Body: text, ID: "d" + num(x.ID)}), append(at, x.ID)
			ids = append(ids, x.AuthorID, x.ResolvedBy)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	html, people, err := s.Threads.Render(ctx, b.p, texts, threads.Look{IDs: ids})
	if err != nil {
		return err
	}
	b.people = people
	for i, id := range at {
		b.html[id] = string(html[i])
	}
	return nil
}

func (b *build) account(id int64) *model.Account { return b.people.Get(id) }

// lineWord says which lines a comment is about.
func lineWord(side string, line, start int) string {
	before := ""
	if side == model.SideLeft {
		before = ", before the change"
	}
	switch {
	case line == 0:
		return "the whole file"
	case start > 0 && start != line:
		return "lines " + strconv.Itoa(start) + " to " + strconv.Itoa(line) + before
	}
	return "line " + strconv.Itoa(line) + before
}

// rowID is the id of a line's row on the page of changed files.
func rowID(path, side string, line int) string {
	id := diffs.ID(path)
	if line == 0 {
		return id
	}
	if side == model.SideLeft {
		return id + "L" + strconv.Itoa(line)
	}
	return id + "R" + strconv.Itoa(line)
}

// where is the place at which a conversation stands in the newest round; false
// when it is outdated.
func where(first *model.ReviewComment) (path string, line, start int, ok bool) {
	if p := first.Place; p != nil {
		if p.Gone {
			return first.Path, 0, 0, false
		}
		return p.Path, p.Line, p.Start, true
	}
	return first.Path, first.Line, first.StartLine, true
}

// thread is a conversation as it is shown.
func (b *build) thread(id int64) reviewview.ThreadProps {
	list := b.threads[id]
	first := list[0]
	o, n := b.c.Repo.Owner.Name, b.c.Repo.Name
	path, line, start, there := where(first)
	t := reviewview.ThreadProps{Base: b.base, ID: id, In: b.in, Path: path, Where: lineWord(first.Side, line, start), Outdated: !there,
		Round: first.Round, Resolved: first.Resolved(), ResolvedBy: b.account(first.ResolvedBy), Context: b.p.Repo.FullName(),
		CanReply: b.p.MayComment(b.pull.Issue), CanResolve: MayResolve(b.p, b.pull, first) && !first.Pending, Review: b.pending != nil, Pending: first.Pending}
	if b.p.Viewer.SignedIn() {
		t.Viewer = b.p.Viewer.Account
	}
	files := link.PullFiles(o, n, b.pull.Number)
	if there {
		t.Href = files + "#" + rowID(path, first.Side, line)
	} else {
		t.Where = lineWord(first.Side, first.Line, first.StartLine)
		t.ThenHref = link.Q("round", num(int64(first.Round))).On(files) + "#" + rowID(first.Path, first.Side, first.Line)
	}
	if b.in == "" || !there {
		t.Excerpt = diffs.Excerpt(first.Hunk)
		if b.in == "" && len(t.Excerpt) > shown {
			t.Excerpt = t.Excerpt[max(0, min(len(t.Excerpt)-shown, rangeStart(t.Excerpt, first))):]
		}
	}
	for _, x := range list {
		t.Comments = append(t.Comments, b.comment(x, first, there))
	}
	return t
}

// shown is how many lines of what a comment is about the conversation shows.
const shown = 12

// rangeStart is where a range begins among the lines that were kept.
func rangeStart(lines []diffview.Line, c *model.ReviewComment) int {
	if c.StartLine == 0 {
		return len(lines)
	}
	for i, l := range lines {
		if c.Left() && l.Old == c.StartLine || !c.Left() && l.New == c.StartLine {
			return i
		}
	}
	return len(lines)
}

func (b *build) comment(x, first *model.ReviewComment, there bool) reviewview.CommentProps {
	out := reviewview.CommentProps{Base: b.base, ID: x.ID, Author: b.account(x.AuthorID), At: x.CreatedAt, Edited: x.EditedAt != nil,
		Pending: x.Pending, Version: x.Version, Body: x.Body, CanEdit: b.p.MayEdit(x.AuthorID), CanReact: b.p.MayComment(b.pull.Issue),
		ViewerID: b.p.Viewer.ID(), Note: associationWord(b.people.Association[x.AuthorID]), Reactions: x.Reactions, In: b.in}
	out.HTML = safe(b.html[x.ID])
	if _, after := suggested(x.Body); after != nil && first.Line > 0 && !first.Left() {
		out.Suggestion = b.suggestion(x, first, after, there)
	}
	return out
}

func associationWord(a string) string {
	switch a {
	case accountdb.AssociationOwner:
		return "Owner"
	case accountdb.AssociationMember:
		return "Member"
	case accountdb.AssociationCollaborator:
		return "Collaborator"
	}
	return ""
}

// one is a single conversation, by any of its comments.
func (s *Service) one(c *web.Ctx, pull *model.Pull, x *model.ReviewComment) (*build, reviewview.ThreadProps, error) {
	in := c.Query("in")
	if in != "files" {
		in = ""
	}
	b, err := s.building(c, pull, in, func(first *model.ReviewComment) bool { return first.Thread == x.Thread })
	if err != nil {
		return nil, reviewview.ThreadProps{}, err
	}
	if !slices.Contains(b.order, x.Thread) {
		return nil, reviewview.ThreadProps{}, nil
	}
	return b, b.thread(x.Thread), nil
}
