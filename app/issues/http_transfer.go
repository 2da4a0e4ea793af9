package issues

import (
	"errors"
	"net/http"

	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/issueview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// movedAway redirects from an issue that was moved to another repository;
// err is what was wrong when it was not.
func (s *Service) movedAway(c *web.Ctx, n int64, err error) error {
	if !errors.Is(err, db.ErrNotFound) {
		return err
	}
	repo, number, moved := s.Moved(c.Context(), place(c), n)
	if moved != nil {
		return err
	}
	if c.Door == web.APIDoor {
		return c.MovedAway(web.APIPrefix + "/repos" + link.Issue(repo.Owner.Name, repo.Name, number))
	}
	return c.MovedAway(link.Issue(repo.Owner.Name, repo.Name, number))
}

func (s *Service) transferForm(c *web.Ctx) error {
	i, err := s.found(c)
	if err != nil {
		return err
	}
	return s.renderTransfer(c, http.StatusOK, i, "", nil)
}

func (s *Service) renderTransfer(c *web.Ctx, status int, i *model.Issue, to string, fields ui.Errors) error {
	base := threads.Href(c.Repo, i)
	return s.render(c, web.Page{Status: status, Title: "Move issue #" + num(i.Number), Body: issueview.Ask(issueview.AskProps{
		Title: "Move “" + i.Title + "” to another repository", About: "It gets a new number there.", Back: base,
		Form: issueview.Transfer(issueview.TransferProps{Base: base, Back: base, Title: i.Title, To: to, Errors: fields})})}, i.Kind, nil)
}

func (s *Service) transfer(c *web.Ctx) error {
	i, err := s.found(c)
	if err != nil {
		return err
	}
	var in struct {
		To string `form:"to"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	repo, moved, err := s.Transfer(c.Context(), place(c), i.Number, in.To)
	if fields, ok := invalid(err); ok {
		return s.renderTransfer(c, unprocessable, i, in.To, fields)
	}
	if err != nil {
		return err
	}
	return c.Redirect(threads.Href(repo, moved))
}

func (s *Service) deleteAsk(c *web.Ctx) error {
	i, err := s.found(c)
	if err != nil {
		return err
	}
	if !place(c).MayDelete() {
		return c.Forbid("Only administrators of the repository may delete this.")
	}
	base := threads.Href(c.Repo, i)
	return s.render(c, web.Page{Title: "Delete issue #" + num(i.Number), Body: issueview.Ask(issueview.AskProps{Title: "Delete issue #" + num(i.Number),
		About: i.Title, Back: base, Danger: &ui.DangerProps{Title: "Delete this issue for good", Button: "Delete", Icon: "trash-2", Action: base + "/delete",
			About: "Its comments go with it, nobody can bring them back, and its number is not used again."}})}, i.Kind, nil)
}

func (s *Service) delete(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	if err := s.Threads.Delete(c.Context(), place(c), n); err != nil {
		return err
	}
	return c.RedirectFlash(link.Issues(c.Repo.Owner.Name, c.Repo.Name), "Issue #"+num(n)+" was deleted.")
}
