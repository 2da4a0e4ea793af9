package issues

import (
	"slices"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/issueview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/threadview"
	"github.com/gitfor/gitfor/views/ui"
)

// Topic is the live topic of a thread.
func Topic(repoID, number int64) string {
	return "thread:" + num(repoID) + ":" + num(number)
}

// build makes what a thread's page shows.
type build struct {
	c    *web.Ctx
	p    threads.Place
	v    *threads.View
	base string
}

func (s *Service) building(c *web.Ctx, v *threads.View) *build {
	return &build{c: c, p: place(c), v: v, base: threads.Href(c.Repo, v.Issue)}
}

func (b *build) account(id int64) *model.Account { return b.v.People.Get(id) }

func (b *build) post() threadview.CardProps {
	i := b.v.Issue
	verb := "opened this issue"
	if i.IsPull() {
		verb = "opened this pull request"
	}
	return threadview.CardProps{Base: b.base, Author: b.account(i.AuthorID), Association: b.v.People.Association[i.AuthorID], Verb: verb,
		First: true, HTML: b.v.HTML[0], Body: i.Body, At: i.CreatedAt, EditedAt: i.EditedAt, Version: i.Version, Reactions: i.Reactions,
		ViewerID: b.p.Viewer.ID(), CanEdit: b.p.MayEdit(i.AuthorID), CanReact: b.p.MayComment(i), Context: b.p.Repo.FullName()}
}

func (b *build) card(t *model.TimelineItem) threadview.CardProps {
	return threadview.CardProps{Base: b.base, ID: t.ID, Author: b.account(t.AuthorID), Association: b.v.People.Association[t.AuthorID],
		First: t.AuthorID == b.v.Issue.AuthorID, HTML: b.v.HTML[t.ID], Body: t.Body, At: t.CreatedAt, EditedAt: t.EditedAt, Version: t.Version,
		Reactions: t.Reactions, Hidden: t.Data.Hidden, ViewerID: b.p.Viewer.ID(), CanEdit: b.p.MayEdit(t.AuthorID),
		CanReact: b.p.MayComment(b.v.Issue), CanHide: b.p.MayTriage(), Context: b.p.Repo.FullName()}
}

// near is how long after each other lines about labels are put together.
const near = 10 * time.Minute

func (b *build) timeline() threadview.TimelineProps {
	first := b.post()
	out := threadview.TimelineProps{Base: b.base, Topic: Topic(b.p.Repo.ID, b.v.Issue.Number),
		Entries: []threadview.Entry{{Card: &first}}, Hidden: b.v.Hidden, HiddenAt: -1}
	var last *threadview.LineProps
	for n, t := range b.v.Items {
		if b.v.Hidden > 0 && n == windowHead-1 {
			defer func(at int) { out.HiddenAt = at }(len(out.Entries))
		}
		if t.IsComment() {
			card := b.card(t)
			out.Entries, last = append(out.Entries, threadview.Entry{Card: &card}), nil
			continue
		}
		if last != nil && isLabel(t.Kind) && isLabel(last.Kind) && last.Actor == b.account(t.AuthorID) && t.CreatedAt.Sub(last.At) < near {
			addLabel(last, t)
			continue
		}
		line := b.line(t)
		out.Entries, last = append(out.Entries, threadview.Entry{Line: &line}), &line
	}
	if b.v.Hidden > 0 {
		out.HiddenAt = min(windowHead, len(out.Entries)-1)
	}
	return out
}

func isLabel(kind string) bool { return kind == model.ItemLabeled || kind == model.ItemUnlabeled }

func addLabel(l *threadview.LineProps, t *model.TimelineItem) {
	if t.Data.Label == nil {
		return
	}
	if t.Kind == model.ItemLabeled {
		l.Added = append(l.Added, *t.Data.Label)
	} else {
		l.Removed = append(l.Removed, *t.Data.Label)
	}
}

func (b *build) line(t *model.TimelineItem) threadview.LineProps {
	l := threadview.LineProps{Kind: t.Kind, ID: t.ID, Actor: b.account(t.AuthorID), At: t.CreatedAt, Data: t.Data,
		Assignee: b.account(t.Data.Assignee), Owner: b.p.Repo.Owner.Name, Name: b.p.Repo.Name}
	addLabel(&l, t)
	switch {
	case t.Data.Repo != 0:
		other := &model.Issue{Kind: t.Data.ThreadKind, Number: t.Data.Number, State: model.StateOpen}
		href := link.Repo("", "")
		if owner, name, ok := cutName(t.Data.RepoName); ok {
			href = threads.Href(&model.Repo{Name: name, Owner: &model.Account{Name: owner}}, other)
		}
		l.Other = &threadview.Ref{Href: href, Title: t.Data.To, Number: t.Data.Number, Place: t.Data.RepoName,
			State: ui.State{Kind: "neutral", Word: "Elsewhere", Icon: "link"}}
	case t.Data.Number != 0:
		l.Other = b.ref(t.Data.Number)
	}
	return l
}

// ref is another thread of the repository, nil when the viewer may not see
// it.
func (b *build) ref(number int64) *threadview.Ref {
	i := b.v.Facts.Known[number]
	if i == nil || !i.VisibleTo(b.p.Viewer.ID(), b.p.Role) {
		return nil
	}
	return &threadview.Ref{Href: threads.Href(b.p.Repo, i), Title: i.Title, Number: i.Number, Kind: i.Kind, State: issueview.StateOf(i)}
}

func (b *build) refs(numbers []int64) []*threadview.Ref {
	var out []*threadview.Ref
	for _, n := range numbers {
		if r := b.ref(n); r != nil {
			out = append(out, r)
		}
	}
	return out
}

func (b *build) head() issueview.HeadProps {
	i := b.v.Issue
	h := issueview.HeadProps{Base: b.base, Topic: Topic(b.p.Repo.ID, i.Number), Issue: i, Title: markup.Title(i.Title), Author: b.account(i.AuthorID),
		CanEdit: b.p.MayEdit(i.AuthorID), CanCreate: b.p.Viewer.SignedIn() && !b.p.Repo.Archived(),
		NewHref: link.NewIssue(b.p.Repo.Owner.Name, b.p.Repo.Name), Value: i.Title, Version: i.Version}
	if i.DuplicateOf != 0 {
		h.Duplicate = b.ref(i.DuplicateOf)
	}
	if i.Parent != 0 {
		h.Parent = b.ref(i.Parent)
	}
	return h
}

func (b *build) composer() threadview.ComposerProps {
	i := b.v.Issue
	p := threadview.ComposerProps{Base: b.base, Context: b.p.Repo.FullName(), Login: link.Login(b.base), Locked: i.Locked != "", Kind: "issue",
		Open: i.Open(), Reasons: i.Kind == model.KindIssue, CanClose: b.p.MayClose(i), CanReopen: b.p.MayReopen(i) && i.StateReason != model.ReasonMerged}
	if i.IsPull() {
		p.Kind = "pull request"
	}
	if b.p.Viewer.SignedIn() {
		p.Viewer = b.p.Viewer.Account
	}
	switch {
	case b.p.Repo.Archived():
		p.Denied = "This repository is archived; its conversations can only be read."
	case !b.p.MayComment(i):
		p.Denied = "This conversation is locked; only people with write access may comment."
	}
	return p
}

func (b *build) sidebar() threadview.SidebarProps {
	i, f := b.v.Issue, b.v.Facts
	s := threadview.SidebarProps{Base: b.base, Owner: b.p.Repo.Owner.Name, Name: b.p.Repo.Name, Topic: Topic(b.p.Repo.ID, i.Number), Kind: "issue",
		CanTriage: b.p.MayTriage(), CanModerate: b.p.MayModerate(), CanDelete: b.p.MayDelete(), CanTransfer: b.p.MayModerate() && i.Kind == model.KindIssue,
		AllLabels: f.Labels, Locked: i.Locked != "", Pinned: i.PinnedAt != nil, Confidential: i.Confidential}
	if i.IsPull() {
		s.Kind = "pull request"
	}
	if b.p.Viewer.SignedIn() {
		s.Viewer = b.p.Viewer.Account
	}
	for _, id := range i.LabelIDs {
		if at := slices.IndexFunc(f.Labels, func(l *model.Label) bool { return l.ID == id }); at >= 0 {
			s.Labels = append(s.Labels, f.Labels[at])
		}
	}
	for _, m := range f.Milestones {
		if m.ID == i.MilestoneID {
			s.Milestone = m
		}
		if m.State == model.StateOpen || m.ID == i.MilestoneID {
			s.Milestones = append(s.Milestones, m)
		}
	}
	b.people(&s)
	switch mine := f.Mine; {
	case mine == nil:
	case mine.Ignored:
		s.Subscription = "ignored"
	default:
		s.Subscription = "subscribed"
	}
	return s
}

// people fills in who is assigned, who could be, and who takes part.
func (b *build) people(s *threadview.SidebarProps) {
	i := b.v.Issue
	add := func(list *[]*model.Account, id int64) {
		if a := b.account(id); a != nil && !slices.Contains(*list, a) {
			*list = append(*list, a)
		}
	}
	add(&s.Participants, i.AuthorID)
	for _, id := range i.AssigneeIDs {
		add(&s.Assignees, id)
		add(&s.Candidates, id)
		add(&s.Participants, id)
	}
	for _, t := range b.v.Items {
		if t.IsComment() {
			add(&s.Participants, t.AuthorID)
		}
	}
	if b.p.Role.AtLeast(model.RoleTriage) {
		if a := b.p.Viewer.Account; !slices.ContainsFunc(s.Candidates, func(o *model.Account) bool { return o.ID == a.ID }) {
			s.Candidates = append(s.Candidates, a)
		}
	}
	for _, a := range s.Participants {
		if as := b.v.People.Association[a.ID]; as != "" && as != accountdb.AssociationNone && !slices.ContainsFunc(s.Candidates, func(o *model.Account) bool { return o.ID == a.ID }) {
			s.Candidates = append(s.Candidates, a)
		}
	}
	s.Involved = slices.ContainsFunc(s.Participants, func(a *model.Account) bool { return a.ID == b.p.Viewer.ID() })
}

func cutName(full string) (owner, name string, ok bool) {
	for i := range full {
		if full[i] == '/' {
			return full[:i], full[i+1:], true
		}
	}
	return "", "", false
}

// number reads "12" or "#12"; 0 for anything else.
func number(s string) int64 {
	for len(s) > 0 && (s[0] == '#' || s[0] == ' ') {
		s = s[1:]
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
