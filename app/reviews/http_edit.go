package reviews

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/diffs"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/diffview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/reviewview"
)

func excerptOf(x *model.ReviewComment) []diffview.Line { return diffs.Excerpt(x.Hunk) }

// sourceOf are the lines that a comment is about, for a suggestion to begin
// with.
func sourceOf(x *model.ReviewComment) string {
	from := x.Line
	if x.StartLine > 0 {
		from = x.StartLine
	}
	var lines []string
	for _, l := range quoted(x.Hunk) {
		if l.new >= from && l.new <= x.Line {
			lines = append(lines, l.text)
		}
	}
	return strings.Join(lines, "\n")
}

func (s *Service) editForm(c *web.Ctx) error {
	x, pull, err := s.commentOf(c)
	if err != nil {
		return err
	}
	if !pulls.Here(c).MayEdit(x.AuthorID) {
		return c.Forbid("Only the author and people with write access may edit this.")
	}
	return s.answer(c, http.StatusOK, pull, x, func(t *reviewview.ThreadProps) {
		t.Edit = &reviewview.EditProps{ID: x.ID, Body: x.Body, Version: x.Version}
	})
}

func (s *Service) editPost(c *web.Ctx) error {
	x, pull, err := s.commentOf(c)
	if err != nil {
		return err
	}
	var in struct {
		Body    string `form:"body"`
		Version *int   `form:"version"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	_, err = s.EditComment(c.Context(), pulls.Here(c), x.ID, in.Body, in.Version)
	edit := &reviewview.EditProps{ID: x.ID, Body: in.Body, Version: x.Version}
	if in.Version != nil {
		edit.Version = *in.Version
	}
	var clash *threads.Conflict
	status := http.StatusUnprocessableEntity
	fields, bad := errorsOf(err)
	switch {
	case errors.As(err, &clash):
		if !c.HTMX() {
			status = http.StatusConflict
		}
		edit.Clash, edit.Conflict, edit.Version = true, clash.Body, clash.Version
	case bad:
		edit.Errors = fields
	case err != nil:
		return err
	default:
		return s.answer(c, http.StatusOK, pull, x, nil)
	}
	return s.answer(c, status, pull, x, func(t *reviewview.ThreadProps) { t.Edit = edit })
}

func (s *Service) deleteForm(c *web.Ctx) error {
	x, pull, err := s.commentOf(c)
	if err != nil {
		return err
	}
	if !pulls.Here(c).MayEdit(x.AuthorID) {
		return c.Forbid("Only the author and people with write access may delete this.")
	}
	_, t, err := s.one(c, pull, x)
	if err != nil {
		return err
	}
	for _, p := range t.Comments {
		if p.ID == x.ID {
			return s.page(c, http.StatusOK, "Delete a comment", pull, reviewview.DeletePage(t, p))
		}
	}
	return db.ErrNotFound
}

func (s *Service) deletePost(c *web.Ctx) error {
	x, pull, err := s.commentOf(c)
	if err != nil {
		return err
	}
	if _, err := s.DeleteComment(c.Context(), pulls.Here(c), x.ID); err != nil {
		return err
	}
	return c.RedirectFlash(here(c, pull.Number), "The comment was deleted.")
}

// submitPost takes the form that gives a review, or throws it away.
func (s *Service) submitPost(c *web.Ctx) error {
	pull, err := s.pullOf(c)
	if err != nil {
		return err
	}
	var form struct {
		Do string `form:"do"`
	}
	var in SubmitInput
	if err := errors.Join(c.Decode(&form), c.Decode(&in)); err != nil {
		return err
	}
	o, n := c.Repo.Owner.Name, c.Repo.Name
	if form.Do == "discard" {
		if _, err := s.Discard(c.Context(), pulls.Here(c), pull.Number, 0); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		return c.RedirectFlash(link.PullFiles(o, n, pull.Number), "Your review was thrown away.")
	}
	if in.Event == "" {
		in.Event = EventComment
	}
	r, err := s.Submit(c.Context(), pulls.Here(c), pull.Number, in)
	if fields, bad := errorsOf(err); bad {
		if msg := fields["event"]; msg != "" {
			fields[""] = msg
		}
		return s.Pulls.FilesRefused(c, in.Body, in.Event, fields)
	}
	if err != nil {
		return err
	}
	to := link.Pull(o, n, pull.Number) + "#review-" + num(r.ID)
	if r.SHA != pull.HeadSHA {
		return c.RedirectFlash(to, "Your review was submitted. New commits have arrived since you looked: it belongs to an earlier round.")
	}
	return c.Redirect(to)
}

// draftPost keeps what is being typed as a review.
func (s *Service) draftPost(c *web.Ctx) error {
	pull, err := s.pullOf(c)
	if err != nil {
		return err
	}
	var in struct {
		Body string `form:"body"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.Draft(c.Context(), pulls.Here(c), pull.Number, in.Body); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) viewedPost(c *web.Ctx) error {
	pull, err := s.pullOf(c)
	if err != nil {
		return err
	}
	var in struct {
		Path string `form:"path"`
		Mark string `form:"mark"`
		On   bool   `form:"on"`
		Row  string `form:"row"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.SetViewed(c.Context(), pulls.Here(c), pull.Number, in.Path, in.Mark, in.On); err != nil {
		return err
	}
	if c.HTMX() {
		return c.NoContent()
	}
	return c.Redirect(link.PullFiles(c.Repo.Owner.Name, c.Repo.Name, pull.Number) + "#" + in.Row)
}

func (s *Service) reviewOf(c *web.Ctx) (*model.Pull, *model.Review, error) {
	pull, err := s.pullOf(c)
	if err != nil {
		return nil, nil, err
	}
	id, err := c.ParamInt("id")
	if err != nil {
		return nil, nil, err
	}
	r, err := s.FindReview(c.Context(), pulls.Here(c), pull.Number, id)
	return pull, r, err
}

func (s *Service) reviewForm(c *web.Ctx) error {
	pull, r, err := s.reviewOf(c)
	if err != nil {
		return err
	}
	if !pulls.Here(c).MayEdit(r.AuthorID) {
		return c.Forbid("Only the author and people with write access may edit this.")
	}
	return s.reviewEdit(c, http.StatusOK, pull, r, r.Body, nil)
}

func (s *Service) reviewEdit(c *web.Ctx, status int, pull *model.Pull, r *model.Review, body string, fields map[string]string) error {
	back := here(c, pull.Number) + "#review-" + num(r.ID)
	action := link.PullPart(c.Repo.Owner.Name, c.Repo.Name, pull.Number, "reviews/"+num(r.ID)+"/edit")
	return s.page(c, status, "Edit the review", pull, reviewview.EditReviewPage(action, back, body, c.Repo.FullName(), fields))
}

func (s *Service) reviewSave(c *web.Ctx) error {
	pull, r, err := s.reviewOf(c)
	if err != nil {
		return err
	}
	var in struct {
		Body string `form:"body"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	_, err = s.EditReview(c.Context(), pulls.Here(c), pull.Number, r.ID, in.Body)
	if fields, bad := errorsOf(err); bad {
		return s.reviewEdit(c, http.StatusUnprocessableEntity, pull, r, in.Body, fields)
	}
	if err != nil {
		return err
	}
	return c.Redirect(here(c, pull.Number) + "#review-" + num(r.ID))
}

func (s *Service) dismissForm(c *web.Ctx) error {
	pull, r, err := s.reviewOf(c)
	if err != nil {
		return err
	}
	if !c.Role.AtLeast(model.RoleWrite) || c.Repo.Archived() {
		return c.Forbid("Only people with write access may dismiss reviews.")
	}
	return s.dismissing(c, http.StatusOK, pull, r, "", nil)
}

func (s *Service) dismissing(c *web.Ctx, status int, pull *model.Pull, r *model.Review, message string, fields map[string]string) error {
	people, err := s.accounts(c, r.AuthorID)
	if err != nil {
		return err
	}
	who := "ghost"
	if a := people[r.AuthorID]; a != nil {
		who = a.Name
	}
	action := link.PullPart(c.Repo.Owner.Name, c.Repo.Name, pull.Number, "reviews/"+num(r.ID)+"/dismiss")
	return s.page(c, status, "Dismiss a review", pull, reviewview.DismissPage(action, here(c, pull.Number)+"#review-"+num(r.ID), who, message, fields))
}

func (s *Service) dismissPost(c *web.Ctx) error {
	pull, r, err := s.reviewOf(c)
	if err != nil {
		return err
	}
	var in struct {
		Message string `form:"message"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	_, err = s.Dismiss(c.Context(), pulls.Here(c), pull.Number, r.ID, in.Message)
	if fields, bad := errorsOf(err); bad {
		if msg := fields["review"]; msg != "" {
			fields["message"] = msg
		}
		return s.dismissing(c, http.StatusUnprocessableEntity, pull, r, in.Message, fields)
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(here(c, pull.Number)+"#review-"+num(r.ID), "The review was dismissed.")
}
