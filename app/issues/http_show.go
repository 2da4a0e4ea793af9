package issues

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/issueview"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/threadview"
	"github.com/gitfor/gitfor/views/ui"
)

// A long thread shows its first and its last items.
const (
	windowHead = 40
	windowTail = 80
)

func window(c *web.Ctx) threaddb.Window {
	if c.Query("all") != "" {
		return threaddb.Window{}
	}
	return threaddb.Window{Head: windowHead, Tail: windowTail}
}

// load reads the thread that the request is about; one that was moved away
// redirects, one of another kind has its own page.
func (s *Service) load(c *web.Ctx) (*threads.View, error) {
	i, err := s.found(c)
	if err != nil {
		return nil, err
	}
	v := &threads.View{Issue: i}
	return v, s.Threads.Fill(c.Context(), place(c), v, window(c))
}

func (s *Service) show(c *web.Ctx) error {
	i, err := s.found(c)
	if err != nil {
		return err
	}
	if i.Kind != model.KindIssue {
		return c.Redirect(threads.Href(c.Repo, i))
	}
	v := &threads.View{Issue: i}
	if err := s.Threads.Fill(c.Context(), place(c), v, window(c)); err != nil {
		return err
	}
	return s.renderIssue(c, http.StatusOK, v, nil)
}

// renderIssue answers with an issue's page or a part of it; change adjusts
// what is shown.
func (s *Service) renderIssue(c *web.Ctx, status int, v *threads.View, change func(p *issueview.ShowProps)) error {
	b := s.building(c, v)
	p := issueview.ShowProps{Head: b.head(), Timeline: b.timeline(), Composer: b.composer(), Sidebar: b.sidebar()}
	p.Sidebar.Extra = b.relations()
	if change != nil {
		change(&p)
	}
	return s.render(c, web.Page{Status: status, Title: v.Issue.Title + " · Issue #" + num(v.Issue.Number), Body: issueview.Show(p),
		Props: layout.Props{Description: firstWords(v.Issue.Body)},
		Parts: map[string]func() templ.Component{
			"timeline":    func() templ.Component { return threadview.Timeline(p.Timeline) },
			"sidebar":     func() templ.Component { return threadview.Sidebar(p.Sidebar) },
			"thread-head": func() templ.Component { return issueview.Head(p.Head) },
		}}, model.KindIssue, v.Facts)
}

// relations are the sub-issues and dependencies of an issue.
func (b *build) relations() []threadview.Fact {
	i, can := b.v.Issue, b.p.MayTriage()
	fact := func(title, action, label string, numbers []int64) threadview.Fact {
		return threadview.Fact{Title: title, Body: issueview.Relations(b.base, b.refs(numbers), can, action, label)}
	}
	var out []threadview.Fact
	if can || len(i.Children) > 0 {
		out = append(out, fact("Sub-issues", "children", "Number of the sub-issue", i.Children))
	}
	if can || len(i.BlockedBy) > 0 {
		out = append(out, fact("Waits for", "blockers", "Number of the issue to wait for", i.BlockedBy))
	}
	if len(i.Blocking) > 0 {
		out = append(out, threadview.Fact{Title: "Holds up", Body: threadview.RefList(b.refs(i.Blocking))})
	}
	return out
}

// after answers once something of a thread has changed: to htmx with the part
// it wants, to others by a redirect to the thread's page.
func (s *Service) after(c *web.Ctx, i *model.Issue, fragment string) error {
	if !c.HTMX() {
		return c.Redirect(threads.Href(c.Repo, i) + fragment)
	}
	v := &threads.View{Issue: i}
	if err := s.Threads.Fill(c.Context(), place(c), v, window(c)); err != nil {
		return err
	}
	return s.renderParts(c, http.StatusOK, v, nil)
}

// renderParts answers with the part of a thread's page that htmx wants.
func (s *Service) renderParts(c *web.Ctx, status int, v *threads.View, errors ui.Errors) error {
	if v.Issue.IsPull() && s.Pulls != nil {
		return s.Pulls.Part(c, status, v, errors)
	}
	b := s.building(c, v)
	switch c.Target() {
	case "sidebar":
		p := b.sidebar()
		if v.Issue.Kind == model.KindIssue {
			p.Extra = b.relations()
		}
		p.Errors = errors
		return component(c, status, threadview.Sidebar(p))
	case "thread-head":
		return component(c, status, issueview.Head(b.head()))
	}
	return component(c, status, threadview.Timeline(b.timeline()))
}

func firstWords(body string) string {
	const most = 200
	rs := []rune(body)
	if len(rs) > most {
		rs = rs[:most]
	}
	return string(rs)
}
