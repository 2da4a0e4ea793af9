package issues

import (
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/issueview"
	"github.com/gitfor/gitfor/views/link"
)

const perPage = 25

// usual is the query of a list that nobody has narrowed.
const usual = "is:open"

// asked is the query of the request: q, or one made from the parameters that
// GitHub's older addresses have.
func asked(c *web.Ctx) string {
	if c.R.URL.Query().Has("q") {
		return strings.TrimSpace(c.Query("q"))
	}
	q := usual
	if state := c.Query("state"); state == model.StateClosed {
		q = "is:closed"
	}
	for _, l := range c.R.URL.Query()["label"] {
		q += " label:" + Quote(l, strings.ContainsAny(l, " :"))
	}
	for _, key := range []string{"author", "assignee", "milestone"} {
		if v := c.Query(key); v != "" {
			q += " " + key + ":" + Quote(v, strings.Contains(v, " "))
		}
	}
	return q
}

func (s *Service) list(c *web.Ctx) error {
	return s.ListPage(c, model.KindIssue, nil)
}

// ListPage answers with the list of threads of a kind; the list of pull
// requests is the same page. extra adds to what is shown, and may be nil.
func (s *Service) ListPage(c *web.Ctx, kind string, extra func(p *issueview.ListProps)) error {
	q := asked(c)
	page := c.QueryInt("page", 1, 1, 100_000)
	r, err := s.List(c.Context(), place(c), ListInput{Kind: kind, Query: q, Limit: perPage, Offset: (page - 1) * perPage})
	if err != nil {
		return err
	}
	p := s.listProps(c, kind, q, r)
	p.Page = page
	if extra != nil {
		extra(&p)
	}
	if err := s.undoable(c, &p); err != nil {
		return err
	}
	title := "Issues"
	if kind == model.KindPull {
		title = "Pull requests"
	}
	return s.render(c, web.Page{Title: title, Body: issueview.List(p), Parts: map[string]func() templ.Component{
		"thread-list": func() templ.Component { return issueview.Rows(p) },
	}}, kind, r.Facts)
}

// listProps are what a list shows.
func (s *Service) listProps(c *web.Ctx, kind, q string, r *ListResult) issueview.ListProps {
	owner, name := c.Repo.Owner.Name, c.Repo.Name
	p := issueview.ListProps{Owner: owner, Name: name, Kind: kind, Query: q, State: r.State, Open: r.Open, Closed: r.Closed,
		Views: r.Facts.Views, Unknown: r.Unknown, Total: r.Total(), PerPage: perPage, Plain: q == usual, SignedIn: c.Viewer.SignedIn(),
		CanCreate: c.Viewer.SignedIn() && !c.Repo.Archived(), CanTriage: place(c).MayTriage(), Topic: "repo:" + num(c.Repo.ID),
		Labels: r.Facts.Labels, Milestones: openMilestones(r.Facts.Milestones)}
	path := link.Issues(owner, name)
	if kind == model.KindPull {
		path = link.Pulls(owner, name)
	}
	at := func(q string) string { return link.Q("q", q).On(path) }
	p.OpenHref, p.ClosedHref = at(With(q, "state", "open")), at(With(q, "state", "closed"))
	for _, i := range r.Issues {
		p.Rows = append(p.Rows, rowOf(c, r, i, p.CanTriage))
	}
	if p.Plain && kind == model.KindIssue {
		for _, i := range r.Facts.Pinned {
			if i.Kind == kind && i.VisibleTo(c.Viewer.ID(), c.Role) {
				p.Pinned = append(p.Pinned, rowOf(c, r, i, false))
			}
		}
	}
	p.Menus = menus(c, q, at, r)
	return p
}

func openMilestones(list []*model.Milestone) []*model.Milestone {
	return slices.DeleteFunc(slices.Clone(list), func(m *model.Milestone) bool { return m.State != model.StateOpen })
}

func rowOf(c *web.Ctx, r *ListResult, i *model.Issue, choose bool) issueview.RowProps {
	row := issueview.RowProps{Issue: i, Href: threads.Href(c.Repo, i), Title: markup.Title(i.Title), Author: r.People.Get(i.AuthorID),
		Owner: c.Repo.Owner.Name, Repo: c.Repo.Name, Select: choose}
	for _, id := range i.LabelIDs {
		if at := slices.IndexFunc(r.Facts.Labels, func(l *model.Label) bool { return l.ID == id }); at >= 0 {
			row.Labels = append(row.Labels, r.Facts.Labels[at])
		}
	}
	for _, id := range i.AssigneeIDs {
		if a := r.People.Get(id); a != nil {
			row.Assignees = append(row.Assignees, a)
		}
	}
	for _, m := range r.Facts.Milestones {
		if m.ID == i.MilestoneID {
			row.Milestone = m
		}
	}
	return row
}

// menus are the ways to narrow and order a list, as links.
func menus(c *web.Ctx, q string, at func(q string) string, r *ListResult) []issueview.MenuProps {
	option := func(key, value, label string) issueview.Option {
		current := Get(q, key) == value && value != ""
		to := value
		if current {
			to = ""
		}
		return issueview.Option{Label: label, Href: at(With(q, key, to)), Current: current}
	}
	author, assignee := issueview.MenuProps{Label: "Author"}, issueview.MenuProps{Label: "Assignee"}
	assignee.Options = append(assignee.Options, option("assignee", noValue, "Nobody"))
	if c.Viewer.SignedIn() {
		author.Options = append(author.Options, option("author", "@me", "Me"))
		assignee.Options = append(assignee.Options, option("assignee", "@me", "Me"))
	}
	people(r, func(a *model.Account, wrote bool) {
		o := option("assignee", a.Name, a.Name)
		o.Face = a
		if assignee.Options = append(assignee.Options, o); wrote {
			o = option("author", a.Name, a.Name)
			o.Face = a
			author.Options = append(author.Options, o)
		}
	})
	label := issueview.MenuProps{Label: "Label", Options: []issueview.Option{option("label", noValue, "No label")}}
	for _, l := range r.Facts.Labels {
		o := option("label", l.Name, l.Name)
		o.Colour, o.Hint = l.Color, l.Description
		label.Options = append(label.Options, o)
	}
	milestone := issueview.MenuProps{Label: "Milestone", Options: []issueview.Option{option("milestone", noValue, "No milestone")}}
	for _, m := range openMilestones(r.Facts.Milestones) {
		milestone.Options = append(milestone.Options, option("milestone", m.Title, m.Title))
	}
	sort := issueview.MenuProps{Label: "Sort"}
	for _, o := range [][2]string{{"", "Newest"}, {"created-asc", "Oldest"}, {"updated-desc", "Recently updated"}, {"updated-asc", "Least recently updated"},
		{"comments-desc", "Most commented"}, {"reactions-desc", "Most reactions"}, {"reactions-+1-desc", "Most thumbs up"}, {"relevance-desc", "Best match"}} {
		sort.Options = append(sort.Options, issueview.Option{Label: o[1], Href: at(With(q, "sort", o[0])), Current: Get(q, "sort") == o[0]})
	}
	return []issueview.MenuProps{author, label, milestone, assignee, sort}
}

// people calls f for everyone on the page, by name.
func people(r *ListResult, f func(a *model.Account, wrote bool)) {
	var all []*model.Account
	wrote := map[int64]bool{}
	for _, i := range r.Issues {
		wrote[i.AuthorID] = true
	}
	for _, a := range r.People.ByID {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *model.Account) int { return strings.Compare(a.NameKey, b.NameKey) })
	for _, a := range all {
		f(a, wrote[a.ID])
	}
}
