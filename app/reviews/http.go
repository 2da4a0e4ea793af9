package reviews

import (
	"errors"
	"net/http"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/reviewview"
	"github.com/gitfor/gitfor/views/ui"
)

// Routes mounts the pages and the API.
func (s *Service) Routes(r *web.Router) {
	s.apiRoutes(r)
	read, post := s.Gate.Repo(model.RoleRead), s.Gate.RepoPost()
	const at = "/{owner}/{repo}/pull/{number}"
	r.Get(at+"/threads", read, s.on(s.threadsPart))
	r.Post(at+"/reviews", post, s.on(s.submitPost))
	r.Post(at+"/reviews/draft", post, s.on(s.draftPost))
	r.Post(at+"/viewed", post, s.on(s.viewedPost))
	r.Get(at+"/reviews/{id}/edit", read, s.on(s.reviewForm))
	r.Post(at+"/reviews/{id}/edit", post, s.on(s.reviewSave))
	r.Get(at+"/reviews/{id}/dismiss", read, s.on(s.dismissForm))
	r.Post(at+"/reviews/{id}/dismiss", post, s.on(s.dismissPost))
	const comments = at + "/review-comments"
	r.Get(comments+"/new", post, s.on(s.commentForm))
	r.Post(comments, post, s.on(s.commentPost))
	r.Get(comments+"/{id}/thread", read, s.on(s.threadShow))
	r.Post(comments+"/{id}/reply", post, s.on(s.replyPost))
	r.Post(comments+"/{id}/apply", post, s.on(s.applyPost))
	r.Get(at+"/suggestions", post, s.on(s.suggestions))
	r.Post(at+"/suggestions", post, s.on(s.suggestionsPost))
	r.Post(comments+"/{id}/resolve", post, s.on(s.resolvePost))
	r.Get(comments+"/{id}/edit", post, s.on(s.editForm))
	r.Post(comments+"/{id}/edit", post, s.on(s.editPost))
	r.Get(comments+"/{id}/delete", post, s.on(s.deleteForm))
	r.Post(comments+"/{id}/delete", post, s.on(s.deletePost))
	r.Post(comments+"/{id}/reactions", post, s.on(s.reactPost))
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

// here is the address of a pull request's page, or of a tab of it.
func here(c *web.Ctx, number int64) string {
	o, n := c.Repo.Owner.Name, c.Repo.Name
	if c.Query("in") == "files" {
		return link.PullFiles(o, n, number)
	}
	return link.Pull(o, n, number)
}

// pullOf is the pull request of the request's address.
func (s *Service) pullOf(c *web.Ctx) (*model.Pull, error) {
	n, err := c.ParamInt("number")
	if err != nil {
		return nil, err
	}
	return s.Pulls.Find(c.Context(), pulls.Here(c), n)
}

// errorsOf says whether err is about the input, and which fields.
func errorsOf(err error) (ui.Errors, bool) {
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

// page answers with a page of its own.
func (s *Service) page(c *web.Ctx, status int, title string, pull *model.Pull, body templ.Component) error {
	shell, err := s.Repos.Shell(c, "pulls")
	if err != nil {
		return err
	}
	return c.Render(web.Page{Status: status, Title: title + " · Pull request #" + num(pull.Number) + " · " + c.Repo.FullName(), Shell: shell, Body: body})
}

// formProps are the form for a comment where the request says.
func (s *Service) formProps(c *web.Ctx, pull *model.Pull, in CommentInput) (reviewview.FormProps, error) {
	o, n := c.Repo.Owner.Name, c.Repo.Name
	action := link.PullPart(o, n, pull.Number, "review-comments")
	row := rowID(in.Path, in.Side, in.Line)
	f := reviewview.FormProps{Action: action, ID: "new-" + row, Path: in.Path, Side: in.Side, SHA: in.SHA, Line: in.Line,
		StartLine: in.StartLine, Where: lineWord(in.Side, in.Line, in.StartLine), Body: in.Body, Context: c.Repo.FullName(), In: "files",
		Back: link.PullFiles(o, n, pull.Number) + "#" + row, Draft: action + "/" + row, Mentions: link.PullPart(o, n, pull.Number, "people")}
	if f.SHA == "" {
		f.SHA = pull.HeadSHA
	}
	mine, err := s.mine(c, pull)
	f.Review = mine != nil
	return f, err
}

// mine is the viewer's pending review, nil when there is none.
func (s *Service) mine(c *web.Ctx, pull *model.Pull) (*model.Review, error) {
	b, err := s.building(c, pull, "", func(*model.ReviewComment) bool { return false })
	if err != nil {
		return nil, err
	}
	return b.pending, nil
}

// atOf reads a line's side and number, such as R12.
func atOf(at string) (side string, line int) {
	side = model.SideRight
	if len(at) > 1 {
		if at[0] == 'L' {
			side = model.SideLeft
		}
		for _, r := range at[1:] {
			if r < '0' || r > '9' || line > 100_000_000 {
				return side, 0
			}
			line = line*10 + int(r-'0')
		}
	}
	return side, line
}

// commentForm is the form for a comment, below its line or as a page.
func (s *Service) commentForm(c *web.Ctx) error {
	pull, err := s.pullOf(c)
	if err != nil {
		return err
	}
	in := CommentInput{Path: c.Query("path"), SHA: c.Query("sha"), Side: c.Query("side"), Line: c.QueryInt("line", 0, 0, 1<<30),
		StartLine: c.QueryInt("start_line", 0, 0, 1<<30)}
	if at := c.Query("at"); at != "" {
		in.Side, in.Line = atOf(at)
	}
	if in.Side != model.SideLeft {
		in.Side = model.SideRight
	}
	if in.Path == "" {
		return db.ErrNotFound
	}
	f, err := s.formProps(c, pull, in)
	if err != nil {
		return err
	}
	if err := s.excerpt(c, pull, in, &f); err != nil {
		return err
	}
	switch {
	case c.HTMX():
		f.Excerpt = nil
		return component(c, http.StatusOK, reviewview.Form(f))
	case in.Line == 0 && c.Query("whole") == "":
		return s.page(c, http.StatusOK, "Comment", pull, reviewview.ChoosePage(f))
	}
	return s.page(c, http.StatusOK, "Comment", pull, reviewview.FormPage(f))
}

// excerpt adds what the comment is about.
func (s *Service) excerpt(c *web.Ctx, pull *model.Pull, in CommentInput, f *reviewview.FormProps) error {
	if in.Line == 0 {
		return nil
	}
	g, err := s.open(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	in.Body = "-"
	x, err := s.anchored(c.Context(), g, pull, in)
	if fields, bad := errorsOf(err); bad {
		f.Errors = fields
		return nil
	}
	if err != nil {
		return err
	}
	f.Excerpt = excerptOf(x)
	f.SuggestionSource = sourceOf(x)
	return nil
}

func (s *Service) commentPost(c *web.Ctx) error {
	pull, err := s.pullOf(c)
	if err != nil {
		return err
	}
	var form struct {
		Do  string `form:"do"`
		Key string `form:"idempotency_key"`
	}
	var in CommentInput
	if err := errors.Join(c.Decode(&form), c.Decode(&in)); err != nil {
		return err
	}
	x, err := s.Comment(c.Context(), pulls.Here(c), pull.Number, in, form.Do == "review")
	if fields, bad := errorsOf(err); bad {
		f, err := s.formProps(c, pull, in)
		if err != nil {
			return err
		}
		f.Errors, f.Key = fields, form.Key
		if c.HTMX() {
			f.ID = c.Target()
			return component(c, http.StatusUnprocessableEntity, reviewview.Form(f))
		}
		return s.page(c, http.StatusUnprocessableEntity, "Comment", pull, reviewview.FormPage(f))
	}
	if err != nil {
		return err
	}
	to := link.PullFiles(c.Repo.Owner.Name, c.Repo.Name, pull.Number) + "#discussion-" + num(x.ID)
	if !c.HTMX() {
		return c.Redirect(to)
	}
	b, err := s.building(c, pull, "files", func(first *model.ReviewComment) bool { return first.Thread == x.Thread })
	if err != nil {
		return err
	}
	if x.Round != pull.Round() {
		c.W.Header().Set("HX-Trigger", `{"toast":{"kind":"info","text":"New commits have arrived since. Your comment belongs to the round that you looked at."}}`)
	}
	return component(c, http.StatusOK, reviewview.Thread(b.thread(x.Thread)))
}

// commentOf reads the comment that the request is about.
func (s *Service) commentOf(c *web.Ctx) (*model.ReviewComment, *model.Pull, error) {
	id, err := c.ParamInt("id")
	if err != nil {
		return nil, nil, err
	}
	n, err := c.ParamInt("number")
	if err != nil {
		return nil, nil, err
	}
	x, pull, err := s.FindComment(c.Context(), pulls.Here(c), id)
	if err == nil && x.Number != n {
		err = db.ErrNotFound
	}
	return x, pull, err
}

// answer shows a conversation as it is now: to htmx alone, to others by a
// redirect to its place.
func (s *Service) answer(c *web.Ctx, status int, pull *model.Pull, x *model.ReviewComment, change func(t *reviewview.ThreadProps)) error {
	if !c.HTMX() && change == nil {
		return c.Redirect(here(c, pull.Number) + "#discussion-" + num(x.ID))
	}
	_, t, err := s.one(c, pull, x)
	if err != nil {
		return err
	}
	if change != nil {
		change(&t)
	}
	if c.HTMX() {
		return component(c, status, reviewview.Thread(t))
	}
	return s.page(c, status, "Conversation", pull, reviewview.ThreadPage("Conversation", here(c, pull.Number)+"#thread-"+num(t.ID), t))
}

func (s *Service) threadShow(c *web.Ctx) error {
	x, pull, err := s.commentOf(c)
	if err != nil {
		return err
	}
	if !c.HTMX() {
		return s.answer(c, http.StatusOK, pull, x, func(*reviewview.ThreadProps) {})
	}
	return s.answer(c, http.StatusOK, pull, x, nil)
}

func (s *Service) replyPost(c *web.Ctx) error {
	x, pull, err := s.commentOf(c)
	if err != nil {
		return err
	}
	var in struct {
		Body string `form:"body"`
		Do   string `form:"do"`
		Key  string `form:"idempotency_key"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	made, err := s.Reply(c.Context(), pulls.Here(c), pull.Number, x.ID, in.Body, in.Do == "review")
	if fields, bad := errorsOf(err); bad {
		return s.answer(c, http.StatusUnprocessableEntity, pull, x, func(t *reviewview.ThreadProps) { t.Reply, t.Errors, t.Key = in.Body, fields, in.Key })
	}
	if err != nil {
		return err
	}
	return s.answer(c, http.StatusOK, pull, made, nil)
}

func (s *Service) resolvePost(c *web.Ctx) error {
	x, pull, err := s.commentOf(c)
	if err != nil {
		return err
	}
	var in struct {
		On bool `form:"on"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if _, err := s.Resolve(c.Context(), pulls.Here(c), pull.Number, x.ID, in.On); err != nil {
		return err
	}
	return s.answer(c, http.StatusOK, pull, x, nil)
}

func (s *Service) reactPost(c *web.Ctx) error {
	x, pull, err := s.commentOf(c)
	if err != nil {
		return err
	}
	var in struct {
		Content string `form:"content"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	_, made, err := s.React(c.Context(), pulls.Here(c), x.ID, in.Content)
	if err == nil && !made {
		err = s.Unreact(c.Context(), pulls.Here(c), x.ID, 0, in.Content)
	}
	if err != nil {
		return err
	}
	if !c.HTMX() {
		return s.answer(c, http.StatusOK, pull, x, nil)
	}
	_, t, err := s.one(c, pull, x)
	if err != nil {
		return err
	}
	for _, p := range t.Comments {
		if p.ID == x.ID {
			return component(c, http.StatusOK, reviewview.Reactions(p))
		}
	}
	return db.ErrNotFound
}

// threadsPart are the conversations of the page of changed files, each with
// the row that it belongs to; the page's script puts them there.
func (s *Service) threadsPart(c *web.Ctx) error {
	pull, g, err := s.Pulls.Found(c)
	if err != nil {
		return err
	}
	if err := s.Follow(c.Context(), pulls.Here(c), g, pull); err != nil {
		return err
	}
	b, err := s.building(c, pull, "files", nil)
	if err != nil {
		return err
	}
	var list []reviewview.Placed
	for _, id := range b.order {
		first := b.threads[id][0]
		path, line, _, ok := where(first)
		if ok {
			list = append(list, reviewview.Placed{Row: rowID(path, first.Side, line), File: rowID(path, "", 0), Thread: b.thread(id)})
		}
	}
	c.W.Header().Set("X-Pull-Head", pull.HeadSHA)
	return component(c, http.StatusOK, reviewview.Threads(list))
}
