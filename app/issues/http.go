package issues

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// Routes mounts the pages and the API.
func (s *Service) Routes(r *web.Router) {
	s.apiRoutes(r)
	g := s.Gate
	read, post := g.Repo(model.RoleRead), g.RepoPost()
	base := "/{owner}/{repo}/issues"
	r.Get(base, read, s.on(s.list))
	r.Get(base+"/new", post, s.on(s.newForm))
	r.Get(base+"/new/choose", post, s.on(s.choose))
	r.Post(base+"/new", post, s.on(s.open))
	r.Post(base, post, s.on(s.open))
	r.Get(base+"/people", post, s.peopleList)
	r.Post(base+"/bulk", post, s.bulk)
	r.Post(base+"/bulk/undo", post, s.bulkUndo)
	r.Post(base+"/views", post, s.viewSave)
	r.Post(base+"/views/delete", post, s.viewDelete)
	r.Get(base+"/{number}", read, s.on(s.show))
	r.Get(base+"/{number}/transfer", post, s.transferForm)
	r.Post(base+"/{number}/transfer", post, s.transfer)
	r.Get(base+"/{number}/delete", post, s.deleteAsk)
	r.Post(base+"/{number}/delete", post, s.delete)
	r.Post(base+"/{number}/children", post, s.children)
	r.Post(base+"/{number}/blockers", post, s.blockers)
	// What threads of all kinds can do is at both addresses.
	for _, at := range []string{base + "/{number}", "/{owner}/{repo}/pull/{number}"} {
		s.threadRoutes(r, at, read, post)
	}
	s.labelRoutes(r, read, post)
	s.milestoneRoutes(r, read, post)
	r.Post(link.Preview(), g.SignedIn(), s.preview)
}

func (s *Service) threadRoutes(r *web.Router, at string, read, post web.Access) {
	r.Post(at+"/comments", post, s.comment)
	r.Get(at+"/title", post, s.titleForm)
	r.Post(at+"/title", post, s.titleSave)
	r.Get(at+"/edit", post, s.bodyForm)
	r.Post(at+"/edit", post, s.bodySave)
	r.Get(at+"/body", read, s.bodyShow)
	r.Get(at+"/history", read, s.history)
	r.Post(at+"/reactions", post, s.react)
	r.Post(at+"/task", post, s.task)
	for path, h := range map[string]web.Handler{"edit": s.commentForm, "delete": s.commentAsk, "body": s.commentShow, "history": s.history, "hidden": s.hideAsk} {
		r.Get(at+"/comments/{id}/"+path, read, h)
	}
	for path, h := range map[string]web.Handler{"edit": s.commentSave, "delete": s.commentDelete, "hidden": s.commentHide, "reactions": s.react} {
		r.Post(at+"/comments/{id}/"+path, post, h)
	}
	for path, h := range map[string]web.Handler{"labels": s.setLabels, "assignees": s.setAssignees, "milestone": s.setMilestone,
		"lock": s.setLock, "pin": s.setPin, "confidential": s.setConfidential, "subscription": s.setSubscription} {
		r.Post(at+"/"+path, post, h)
	}
	r.Get(at+"/people", post, s.peopleList)
}

// on lets requests through where the repository has issues.
func (s *Service) on(h web.Handler) web.Handler {
	return func(c *web.Ctx) error {
		if c.Repo.Settings.NoIssues {
			return db.ErrNotFound
		}
		return h(c)
	}
}

// tab is the tab that a thread of kind belongs to.
func tab(kind string) string {
	switch kind {
	case model.KindPull:
		return "pulls"
	case model.KindDiscussion:
		return "discussions"
	}
	return "issues"
}

// render answers with a page in the repository's frame. facts may be nil; then
// the counters are read.
func (s *Service) render(c *web.Ctx, page web.Page, kind string, facts *threaddb.Context) error {
	if facts != nil {
		page.Shell = s.Repos.ShellWith(c, tab(kind), facts.Counts)
	} else if !c.HTMX() {
		shell, err := s.Repos.Shell(c, tab(kind))
		if err != nil {
			return err
		}
		page.Shell = shell
	} else {
		page.Shell = layout.Site
	}
	page.Title += " · " + c.Repo.FullName()
	return c.Render(page)
}

// component is a part of a page for htmx, of a status.
func component(c *web.Ctx, status int, body templ.Component) error {
	bare := func(_ layout.Props, body templ.Component) templ.Component { return body }
	return c.Render(web.Page{Status: status, Shell: bare, Body: body})
}

// invalid says whether err is about the input, and which fields.
func invalid(err error) (ui.Errors, bool) {
	f := fault.From(err)
	if err == nil || f.Kind != fault.Invalid {
		return nil, false
	}
	out := ui.Errors{}
	for name, message := range f.Fields {
		out[name] = message
	}
	return out, true
}

const unprocessable = http.StatusUnprocessableEntity

// preview renders a text that is being written, for a composer. Its context
// names the repository as owner/name.
func (s *Service) preview(c *web.Ctx) error {
	var in struct {
		Text    string `form:"text"`
		Context string `form:"context"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	owner, name, ok := strings.Cut(in.Context, "/")
	if !ok {
		return component(c, http.StatusOK, ui.HTML(string(s.Threads.PreviewBare(c.Context(), in.Text))))
	}
	repo, role, err := repodb.Find(c.Context(), s.DB.Directory(), owner, name, c.Viewer.ID())
	if err != nil {
		return err
	}
	c.Repo, c.Role = repo, role
	html, err := s.Threads.Preview(c.Context(), place(c), in.Text)
	if err != nil {
		return err
	}
	return component(c, http.StatusOK, ui.HTML(string(html)))
}
