package pulls

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// Routes mounts the pages and the API.
func (s *Service) Routes(r *web.Router) {
	s.apiRoutes(r)
	read, post := s.Gate.Repo(model.RoleRead), s.Gate.RepoPost()
	const list, at = "/{owner}/{repo}/pulls", "/{owner}/{repo}/pull/{number}"
	r.Get(list, read, s.on(s.list))
	r.Post(list, post, s.on(s.openPage))
	r.Get(at, read, s.on(s.conversation))
	r.Get(at+".diff", read, s.on(s.text(git.PatchDiff)))
	r.Get(at+".patch", read, s.on(s.text(git.PatchMail)))
	r.Get(at+"/commits", read, s.on(s.commitsPage))
	r.Get(at+"/files", read, s.on(s.filesPage))
	r.Get(at+"/conflicts", post, s.on(s.conflictsPage))
	for path, h := range map[string]web.Handler{"merge": s.mergePost, "draft": s.draftPost, "base": s.basePost, "reviewers": s.reviewersPost, "auto-merge": s.autoPost, "auto-merge/cancel": s.autoCancel,
		"revert": s.revertPost, "cherry-pick": s.pickPost, "conflicts": s.conflictsPost,
		"update": s.updatePost, "branch/delete": s.branchDelete, "branch/restore": s.branchRestore} {
		r.Post(at+"/"+path, post, s.on(h))
	}
}

// on lets requests through where the repository takes pull requests.
func (s *Service) on(h web.Handler) web.Handler {
	return func(c *web.Ctx) error {
		if c.Repo.Settings.NoPulls {
			return db.ErrNotFound
		}
		return h(c)
	}
}

func (s *Service) list(c *web.Ctx) error { return s.Issues.ListPage(c, model.KindPull, nil) }

// here is the address of a pull request's page.
func here(c *web.Ctx, number int64) string {
	return link.Pull(c.Repo.Owner.Name, c.Repo.Name, number)
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

// component is a part of a page for htmx, of a status.
func component(c *web.Ctx, status int, body templ.Component) error {
	bare := func(_ layout.Props, body templ.Component) templ.Component { return body }
	return c.Render(web.Page{Status: status, Shell: bare, Body: body})
}

// text sends the changes as text.
func (s *Service) text(format git.PatchFormat) web.Handler {
	return func(c *web.Ctx) error {
		pull, g, err := s.found(c)
		if err != nil {
			return err
		}
		return s.patch(c, g, pull, format, "text/plain; charset=utf-8")
	}
}

// done answers once something was changed: back to the page, or with what
// went wrong as a message on it.
func (s *Service) done(c *web.Ctx, number int64, err error, message string) error {
	to := here(c, number) + "#merge-box"
	f := fault.From(err)
	switch {
	case err == nil && message == "":
		return c.Redirect(to)
	case err == nil:
		return c.RedirectFlash(to, message)
	case f.Kind == fault.Conflict:
		return c.RedirectFlash(to, f.Message)
	case f.Kind == fault.Invalid:
		var all []string
		for _, m := range f.Fields {
			all = append(all, m)
		}
		return c.RedirectFlash(to, strings.Join(all, " "))
	}
	return err
}

func (s *Service) mergePost(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in MergeInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	_, err = s.Merge(c.Context(), place(c), n, in)
	f := fault.From(err)
	if err != nil && (f.Kind == fault.Conflict || f.Kind == fault.Invalid) {
		// What was typed as the message stays.
		message := f.Message
		for _, m := range f.Fields {
			message = m
		}
		return s.conversationWith(c, n, http.StatusConflict, func(v *pageView) {
			v.merge.Errors = ui.Errors{"": message}
			if in.Title != "" {
				v.merge.Title, v.merge.Message = in.Title, in.Message
			}
		})
	}
	return s.done(c, n, err, "Merged.")
}

func (s *Service) draftPost(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in struct {
		Draft bool `form:"draft"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	return s.done(c, n, s.SetDraft(c.Context(), place(c), n, in.Draft), "")
}

func (s *Service) basePost(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in struct {
		Base string `form:"base"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	return s.done(c, n, s.SetBase(c.Context(), place(c), n, in.Base), "")
}

func (s *Service) updatePost(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in struct {
		SHA    string `form:"sha"`
		Method string `form:"method"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	_, err = s.UpdateBranch(c.Context(), place(c), n, in.SHA, in.Method)
	if err == nil {
		err = s.caughtUp(c.Context(), place(c), n)
	}
	return s.done(c, n, err, "The branch is up to date.")
}

func (s *Service) branchDelete(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	return s.done(c, n, s.DeleteBranch(c.Context(), place(c), n), "The branch was deleted.")
}

func (s *Service) branchRestore(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	return s.done(c, n, s.RestoreBranch(c.Context(), place(c), n), "The branch is back.")
}
