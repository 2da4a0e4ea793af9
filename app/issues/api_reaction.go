package issues

import (
	"net/http"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

func (s *Service) apiReactionRoutes(a *web.Router, base string, read, post web.Access) {
	for kind, at := range map[string]string{"issue": base + "/issues/{number}/reactions", "issue-comment": base + "/issues/comments/{id}/reactions"} {
		a.Get(at, read, s.apiReactions, &web.Doc{ID: "reactions/list-for-" + kind, Summary: "List reactions", Out: []Reaction{}})
		a.Post(at, post, s.apiReact, &web.Doc{ID: "reactions/create-for-" + kind, Summary: "Create a reaction", In: reactionBody{}, Out: Reaction{}, Status: http.StatusCreated})
		a.Delete(at+"/{reaction}", post, s.apiUnreact, &web.Doc{ID: "reactions/delete-for-" + kind, Summary: "Delete a reaction", Status: http.StatusNoContent})
	}
}

type reactionBody struct {
	Content string `json:"content"`
}

// post is the post that a request about reactions means, with its reactions.
func (s *Service) post(c *web.Ctx) (threads.Post, []model.Reaction, error) {
	if c.Param("id") != "" {
		id, err := c.ParamInt("id")
		if err != nil {
			return threads.Post{}, nil, err
		}
		t, i, err := s.Threads.FindComment(c.Context(), place(c), id)
		if err != nil {
			return threads.Post{}, nil, err
		}
		return threads.Post{Number: i.Number, Comment: id}, t.Reactions, nil
	}
	i, err := s.found(c)
	if err != nil {
		return threads.Post{}, nil, err
	}
	return threads.Post{Number: i.Number}, i.Reactions, nil
}

func (s *Service) apiReactions(c *web.Ctx) error {
	_, list, err := s.post(c)
	if err != nil {
		return err
	}
	if what := c.Query("content"); what != "" {
		var some []model.Reaction
		for _, r := range list {
			if r.Content == what {
				some = append(some, r)
			}
		}
		list = some
	}
	page := api.PageOf(c)
	page.LinkTotal(c, len(list))
	list = cutPage(list, page)
	var ids []int64
	for _, r := range list {
		ids = append(ids, r.By)
	}
	w, err := s.showing(c, &threaddb.Context{}, ids...)
	if err != nil {
		return err
	}
	out := []Reaction{}
	for _, r := range list {
		out = append(out, w.reaction(r))
	}
	return c.JSON(http.StatusOK, out)
}

func (w *show) reaction(r model.Reaction) Reaction {
	return Reaction{ID: r.ID, NodeID: api.NodeID("Reaction", w.repo.ID, r.ID), User: w.user(r.By), Content: r.Content, CreatedAt: api.Time(r.CreatedAt)}
}

func (s *Service) apiReact(c *web.Ctx) error {
	post, _, err := s.post(c)
	if err != nil {
		return err
	}
	var b reactionBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	r, made, err := s.Threads.React(c.Context(), place(c), post, b.Content)
	if err != nil {
		return resource("Reaction", err)
	}
	w, err := s.showing(c, &threaddb.Context{}, r.By)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	return c.JSON(status, w.reaction(r))
}

func (s *Service) apiUnreact(c *web.Ctx) error {
	post, _, err := s.post(c)
	if err != nil {
		return err
	}
	id, err := c.ParamInt("reaction")
	if err != nil {
		return err
	}
	if err := s.Threads.Unreact(c.Context(), place(c), post, id, ""); err != nil {
		return err
	}
	return c.NoContent()
}
