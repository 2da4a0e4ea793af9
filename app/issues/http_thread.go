package issues

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/issueview"
	"github.com/gitfor/gitfor/views/threadview"
	"github.com/gitfor/gitfor/views/ui"
)

// comment takes the form at the foot of a thread: a comment, and what shall
// happen with it.
func (s *Service) comment(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in struct {
		Body        string `form:"body"`
		Do          string `form:"do"`
		DuplicateOf string `form:"duplicate_of"`
		Key         string `form:"idempotency_key"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	var r *threads.Result
	if change, ok := closing(in.Do, in.DuplicateOf); ok {
		if strings.TrimSpace(in.Body) != "" {
			change.Comment = in.Body
		}
		r, err = s.Threads.Update(c.Context(), place(c), n, change)
	} else {
		r, err = s.Threads.Comment(c.Context(), place(c), n, threads.CommentInput{Body: in.Body})
	}
	if fields, ok := invalid(err); ok {
		return s.commentRefused(c, in.Body, in.Key, fields)
	}
	if err != nil {
		return err
	}
	fragment := ""
	if r.Comment != nil {
		fragment = "#comment-" + num(r.Comment.ID)
	}
	if in.Do != "" && in.Do != "comment" {
		return c.Redirect(threads.Href(c.Repo, r.Issue) + fragment)
	}
	return s.after(c, r.Issue, fragment)
}

// closing is the change that a button of the composer stands for.
func closing(do, duplicateOf string) (threads.Change, bool) {
	open, closed := model.StateOpen, model.StateClosed
	switch do {
	case "close":
		return threads.Change{State: &closed}, true
	case "not_planned":
		return threads.Change{State: &closed, Reason: model.ReasonNotPlanned}, true
	case "duplicate":
		return threads.Change{State: &closed, Reason: model.ReasonDuplicate, DuplicateOf: number(duplicateOf)}, true
	case "reopen":
		return threads.Change{State: &open}, true
	}
	return threads.Change{}, false
}

// commentRefused shows the form again, with what was typed and what is wrong.
func (s *Service) commentRefused(c *web.Ctx, body, key string, fields ui.Errors) error {
	for _, name := range []string{"comment", "duplicate_of", "state_reason"} {
		if m := fields[name]; m != "" && fields["body"] == "" {
			fields["body"] = m
		}
	}
	v, err := s.load(c)
	if err != nil {
		return err
	}
	show := func(p *threadview.ComposerProps) { p.Body, p.Errors, p.Key = body, fields, key }
	if v.Issue.IsPull() && s.Pulls != nil && !c.HTMX() {
		return s.Pulls.Refused(c, v, show)
	}
	if c.HTMX() || v.Issue.Kind != model.KindIssue {
		p := s.building(c, v).composer()
		show(&p)
		c.W.Header().Set("HX-Retarget", "#reply")
		c.W.Header().Set("HX-Reswap", "outerHTML")
		if !c.HTMX() {
			return s.render(c, web.Page{Status: unprocessable, Title: v.Issue.Title, Body: threadview.Composer(p)}, v.Issue.Kind, v.Facts)
		}
		return component(c, unprocessable, threadview.Composer(p))
	}
	return s.renderIssue(c, unprocessable, v, func(p *issueview.ShowProps) { show(&p.Composer) })
}

func (s *Service) titleForm(c *web.Ctx) error {
	v, err := s.load(c)
	if err != nil {
		return err
	}
	h := s.building(c, v).head()
	if !h.CanEdit {
		return denied("Only the author and people with write access may edit this.")
	}
	return s.renderTitle(c, http.StatusOK, v, h)
}

func (s *Service) renderTitle(c *web.Ctx, status int, v *threads.View, h issueview.HeadProps) error {
	h.Editing = true
	if c.HTMX() && v.Issue.IsPull() && s.Pulls != nil {
		head, err := s.Pulls.Head(c, v, h)
		if err != nil {
			return err
		}
		return component(c, status, head)
	}
	if c.HTMX() {
		return component(c, status, issueview.Head(h))
	}
	return s.render(c, web.Page{Status: status, Title: "Change the title", Body: issueview.TitlePage(h)}, v.Issue.Kind, v.Facts)
}

func (s *Service) titleSave(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in struct {
		Title   string `form:"title"`
		Version *int   `form:"version"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	r, err := s.Threads.Update(c.Context(), place(c), n, threads.Change{Title: &in.Title, Version: in.Version})
	fields, bad := invalid(err)
	var conflict *threads.Conflict
	if errors.As(err, &conflict) {
		fields, bad = ui.Errors{"title": "Somebody else has changed it meanwhile to “" + conflict.Title + "”. Save again to set yours."}, true
	}
	if bad {
		v, err := s.load(c)
		if err != nil {
			return err
		}
		h := s.building(c, v).head()
		h.Value, h.Errors = in.Title, fields
		return s.renderTitle(c, unprocessable, v, h)
	}
	if err != nil {
		return err
	}
	return s.after(c, r.Issue, "")
}

// edit is the post that is being edited, as a form.
func (s *Service) edit(c *web.Ctx, status int, v *threads.View, p threadview.EditProps) error {
	if c.HTMX() {
		return component(c, status, threadview.Edit(p))
	}
	title := "Edit the description of #" + num(v.Issue.Number)
	if p.Card.ID != 0 {
		title = "Edit a comment on #" + num(v.Issue.Number)
	}
	return s.render(c, web.Page{Status: status, Title: title, Body: threadview.EditPage(title, p)}, v.Issue.Kind, nil)
}

func (s *Service) bodyForm(c *web.Ctx) error {
	v, card, err := s.card(c, 0)
	if err != nil {
		return err
	}
	if !card.CanEdit {
		return denied("Only the author and people with write access may edit this.")
	}
	return s.edit(c, http.StatusOK, v, threadview.EditProps{Card: card, Body: card.Body, Version: card.Version})
}

type editForm struct {
	Body    string `form:"body"`
	Version *int   `form:"version"`
}

func (s *Service) bodySave(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in editForm
	if err := c.Decode(&in); err != nil {
		return err
	}
	r, err := s.Threads.Update(c.Context(), place(c), n, threads.Change{Body: &in.Body, Version: in.Version})
	return s.saved(c, 0, in, r, err)
}

// saved answers once a post was saved, or was not: a refused text and a
// conflict show the form again with what was typed.
func (s *Service) saved(c *web.Ctx, id int64, in editForm, r *threads.Result, err error) error {
	fields, bad := invalid(err)
	var conflict *threads.Conflict
	clash := errors.As(err, &conflict)
	if err != nil && !bad && !clash {
		return err
	}
	if err == nil && !c.HTMX() {
		fragment := "#post"
		if id != 0 {
			fragment = "#comment-" + num(id)
		}
		return c.Redirect(threads.Href(c.Repo, r.Issue) + fragment)
	}
	v, card, err := s.card(c, id)
	if err != nil {
		return err
	}
	switch {
	case clash:
		status := http.StatusConflict
		if c.HTMX() {
			status = unprocessable
		}
		return s.edit(c, status, v, threadview.EditProps{Card: card, Body: in.Body, Version: conflict.Version, Conflict: conflict.Body, Clash: true})
	case bad:
		version := card.Version
		if in.Version != nil {
			version = *in.Version
		}
		return s.edit(c, unprocessable, v, threadview.EditProps{Card: card, Body: in.Body, Version: version, Errors: fields})
	}
	return component(c, http.StatusOK, threadview.Body(card))
}

// card reads one post of the thread that the request is about: the first (id
// 0) or a comment.
func (s *Service) card(c *web.Ctx, id int64) (*threads.View, threadview.CardProps, error) {
	i, err := s.found(c)
	if err != nil {
		return nil, threadview.CardProps{}, err
	}
	v := &threads.View{Issue: i}
	w := threaddb.Window{Kinds: []string{"none"}}
	if id != 0 {
		w = threaddb.Window{After: id - 1, Before: id + 1, Kinds: []string{model.ItemComment}}
	}
	if err := s.Threads.Fill(c.Context(), place(c), v, w); err != nil {
		return nil, threadview.CardProps{}, err
	}
	b := s.building(c, v)
	if id == 0 {
		return v, b.post(), nil
	}
	if len(v.Items) != 1 {
		return nil, threadview.CardProps{}, db.ErrNotFound
	}
	return v, b.card(v.Items[0]), nil
}

func (s *Service) bodyShow(c *web.Ctx) error { return s.showCard(c, 0) }

func (s *Service) commentShow(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	return s.showCard(c, id)
}

func (s *Service) showCard(c *web.Ctx, id int64) error {
	v, card, err := s.card(c, id)
	if err != nil {
		return err
	}
	if !c.HTMX() {
		return c.Redirect(threads.Href(c.Repo, v.Issue))
	}
	return component(c, http.StatusOK, threadview.Body(card))
}

// ofComment reads the comment that the request is about.
func (s *Service) ofComment(c *web.Ctx) (*threads.View, threadview.CardProps, error) {
	id, err := c.ParamInt("id")
	if err != nil {
		return nil, threadview.CardProps{}, err
	}
	return s.card(c, id)
}

func (s *Service) commentForm(c *web.Ctx) error {
	v, card, err := s.ofComment(c)
	if err != nil {
		return err
	}
	if !card.CanEdit {
		return c.Forbid("Only the author and people with write access may edit this.")
	}
	return s.edit(c, http.StatusOK, v, threadview.EditProps{Card: card, Body: card.Body, Version: card.Version})
}

func (s *Service) commentSave(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	var in editForm
	if err := c.Decode(&in); err != nil {
		return err
	}
	r, err := s.Threads.EditComment(c.Context(), place(c), id, threads.EditInput{Body: in.Body, Version: in.Version})
	return s.saved(c, id, in, r, err)
}

func (s *Service) commentAsk(c *web.Ctx) error {
	v, card, err := s.ofComment(c)
	if err != nil {
		return err
	}
	if !card.CanEdit {
		return c.Forbid("Only the author and people with write access may delete this.")
	}
	return s.render(c, web.Page{Title: "Delete a comment", Body: threadview.DeletePage(card)}, v.Issue.Kind, nil)
}

// hideAsk is the page that asks for the reason of hiding a comment.
func (s *Service) hideAsk(c *web.Ctx) error {
	v, card, err := s.ofComment(c)
	if err != nil {
		return err
	}
	if !card.CanHide {
		return c.Forbid("Only people with the triage role may hide comments.")
	}
	return s.render(c, web.Page{Title: "Hide a comment", Body: threadview.HidePage(card)}, v.Issue.Kind, nil)
}

func (s *Service) commentDelete(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	i, err := s.Threads.DeleteComment(c.Context(), place(c), id)
	if err != nil {
		return err
	}
	return c.RedirectFlash(threads.Href(c.Repo, i), "The comment was deleted.")
}

func (s *Service) commentHide(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	var in struct {
		Reason string `form:"reason"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	switch in.Reason {
	case "", "off-topic", "outdated", "spam", "resolved", "abuse", "duplicate":
	default:
		return fault.Field("reason", "There is no such reason.")
	}
	r, err := s.Threads.Hide(c.Context(), place(c), id, in.Reason)
	if err != nil {
		return err
	}
	return s.after(c, r.Issue, "#comment-"+num(id))
}

// react adds the viewer's reaction to a post, or takes it away when it is
// there.
func (s *Service) react(c *web.Ctx) error {
	var in struct {
		Content string `form:"content"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	post, _, err := s.post(c)
	if err != nil {
		return err
	}
	_, made, err := s.Threads.React(c.Context(), place(c), post, in.Content)
	if err == nil && !made {
		err = s.Threads.Unreact(c.Context(), place(c), post, 0, in.Content)
	}
	if err != nil {
		return err
	}
	v, card, err := s.card(c, post.Comment)
	if err != nil {
		return err
	}
	if c.HTMX() {
		return component(c, http.StatusOK, threadview.CardReactions(card))
	}
	fragment := "#post"
	if post.Comment != 0 {
		fragment = "#comment-" + num(post.Comment)
	}
	return c.Redirect(threads.Href(c.Repo, v.Issue) + fragment)
}

// task ticks an item of a task list, for the page's script.
func (s *Service) task(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in threads.TaskInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if _, err := s.Threads.Task(c.Context(), place(c), n, in); err != nil {
		return err
	}
	return c.NoContent()
}
