package drafts

import (
	"context"
	"errors"
	"net/http"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/draftdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/draftview"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// Service is drafts and saved replies.
type Service struct {
	DB   *db.DB
	Gate *perms.Gate
	// Shell frames a page of a person's settings.
	Shell func(active string) layout.Shell
}

// Tab is the page of saved replies in a person's settings.
func Tab() ui.Tab {
	return ui.Tab{Key: "replies", Label: "Saved replies", Icon: "message-square-text", Href: link.Settings("replies")}
}

// Routes mounts the pages.
func (s *Service) Routes(r *web.Router) {
	in := s.Gate.SignedIn()
	r.Get(link.Drafts(), in, s.find)
	r.Post(link.Drafts(), in, s.save)
	r.Get(link.SavedReplies(), in, s.menu)
	at := link.Settings("replies")
	r.Get(at, in, s.replies)
	r.Post(at, in, s.replySave)
	r.Post(at+"/{id}", in, s.replySave)
	r.Post(at+"/{id}/delete", in, s.replyDelete)
}

// kept is a draft as its form reads it; At is in milliseconds since 1970.
type kept struct {
	At     int64             `json:"at"`
	Values map[string]string `json:"values"`
}

func (s *Service) find(c *web.Ctx) error {
	d, err := draftdb.Find(c.Context(), s.DB.Account(c.Viewer.ID()), c.Query("key"))
	if errors.Is(err, db.ErrNotFound) {
		return c.NoContent()
	}
	if err != nil {
		return err
	}
	c.W.Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, kept{d.At.UnixMilli(), d.Fields})
}

// save takes a draft as JSON: a key and values.
func (s *Service) save(c *web.Ctx) error {
	var in struct {
		Key    string            `json:"key"`
		Values map[string]string `json:"values"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.Save(c.Context(), c.Viewer, in.Key, in.Values); err != nil {
		return err
	}
	return c.NoContent()
}

// menu is what a page fetches when its menu of saved replies is opened.
func (s *Service) menu(c *web.Ctx) error {
	list, err := draftdb.Replies(c.Context(), s.DB.Account(c.Viewer.ID()))
	if err != nil {
		return err
	}
	return c.Render(web.Page{Title: "Saved replies", Shell: s.Shell("replies"), Body: draftview.Menu(list)})
}

func (s *Service) replies(c *web.Ctx) error { return s.show(c, nil, nil) }

// show is the page of saved replies; typed is one that was refused.
func (s *Service) show(c *web.Ctx, typed *model.SavedReply, fields ui.Errors) error {
	list, err := draftdb.Replies(c.Context(), s.DB.Account(c.Viewer.ID()))
	if err != nil {
		return err
	}
	status := http.StatusOK
	if typed != nil {
		status = http.StatusUnprocessableEntity
	}
	return c.Render(web.Page{Status: status, Title: "Saved replies", Shell: s.Shell("replies"),
		Body: draftview.Replies(draftview.RepliesProps{Replies: list, Typed: typed, Errors: fields})})
}

func (s *Service) replySave(c *web.Ctx) error {
	var in struct {
		Title string `form:"title"`
		Body  string `form:"body"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	r := &model.SavedReply{Title: in.Title, Body: in.Body}
	if c.Param("id") != "" {
		id, err := c.ParamInt("id")
		if err != nil {
			return err
		}
		r.ID = id
	}
	err := s.SaveReply(c.Context(), c.Viewer, r)
	if f := fault.From(err); err != nil && f.Kind == fault.Invalid {
		return s.show(c, r, ui.Errors(f.Fields))
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("replies"), "“"+r.Title+"” is saved.")
}

func (s *Service) replyDelete(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	err = s.DB.InAccount(c.Context(), c.Viewer.ID(), func(ctx context.Context, tx *db.AccountTx) error {
		return draftdb.DeleteReply(ctx, tx, id)
	})
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("replies"), "The reply is deleted.")
}
