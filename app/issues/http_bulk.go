package issues

import (
	"encoding/json"
	"errors"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/issueview"
	"github.com/gitfor/gitfor/views/link"
)

// bulk changes the chosen issues and goes back to the list, which offers to
// undo it.
func (s *Service) bulk(c *web.Ctx) error {
	var in struct {
		Numbers []int64 `form:"numbers"`
		Do      string  `form:"do"`
		Query   string  `form:"q"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	token, text, err := s.Bulk(c.Context(), place(c), in.Numbers, in.Do)
	back := link.Q("q", in.Query, "undo", token)
	to := back.On(link.Issues(c.Repo.Owner.Name, c.Repo.Name))
	switch f := fault.From(err); {
	case err != nil && f.Kind != fault.Internal && f.Kind != fault.Unavailable:
		return c.RedirectFlash(to, f.Error())
	case err != nil:
		return err
	case token == "":
		return c.RedirectFlash(to, text)
	}
	return c.Redirect(to)
}

func (s *Service) bulkUndo(c *web.Ctx) error {
	var in struct {
		Token string `form:"token"`
		Query string `form:"q"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	text, err := s.Undo(c.Context(), place(c), in.Token)
	if errors.Is(err, db.ErrNotFound) {
		text, err = "This was undone already.", nil
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Issues(c.Repo.Owner.Name, c.Repo.Name, "q", in.Query), text)
}

// undoable puts what can be undone on the list.
func (s *Service) undoable(c *web.Ctx, p *issueview.ListProps) error {
	token := c.Query("undo")
	if token == "" || !c.Viewer.SignedIn() {
		return nil
	}
	row, err := threaddb.Record(c.Context(), s.DB.Repo(c.Repo.ID), recordUndo, token)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var u undo
	if err := json.Unmarshal(row.Data, &u); err != nil || u.By != c.Viewer.ID() {
		return err
	}
	p.Undo, p.UndoText = token, u.Text
	return nil
}

// viewSave keeps a query under a name.
func (s *Service) viewSave(c *web.Ctx) error {
	var in struct {
		Name   string `form:"name"`
		Query  string `form:"query"`
		Shared bool   `form:"shared"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	to := link.Issues(c.Repo.Owner.Name, c.Repo.Name, "q", in.Query)
	if err := s.SaveView(c.Context(), place(c), in.Name, in.Query, in.Shared); err != nil {
		if fields, ok := invalid(err); ok {
			for _, m := range fields {
				return c.RedirectFlash(to, m)
			}
		}
		return err
	}
	return c.Redirect(to)
}

func (s *Service) viewDelete(c *web.Ctx) error {
	var in struct {
		Name string `form:"name"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.DeleteView(c.Context(), place(c), in.Name); err != nil {
		return err
	}
	return c.Redirect(link.Issues(c.Repo.Owner.Name, c.Repo.Name))
}
