package reviews

import (
	"net/http"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/reviewdb"
)

func (s *Service) apiCommentRoutes(a *web.Router, base string, read, post web.Access) {
	at, one := base+"/{number}/comments", base+"/comments/{id}"
	a.Get(base+"/comments", read, s.apiAllComments, &web.Doc{ID: "pulls/list-review-comments-for-repo", Summary: "List review comments in a repository", Out: []CommentWire{},
		Query: []string{"sort", "direction", "since", "per_page", "page"}})
	a.Get(at, read, s.apiComments, &web.Doc{ID: "pulls/list-review-comments", Summary: "List review comments on a pull request", Out: []CommentWire{},
		Query: []string{"sort", "direction", "since", "per_page", "page"}})
	a.Post(at, post, s.apiComment, &web.Doc{ID: "pulls/create-review-comment", Summary: "Create a review comment for a pull request", In: commentBody{}, Out: CommentWire{}, Status: http.StatusCreated})
	a.Post(at+"/{id}/replies", post, s.apiReply, &web.Doc{ID: "pulls/create-reply-for-review-comment", Summary: "Create a reply for a review comment", In: textBody{}, Out: CommentWire{}, Status: http.StatusCreated})
	a.Get(one, read, s.apiCommentGet, &web.Doc{ID: "pulls/get-review-comment", Summary: "Get a review comment for a pull request", Out: CommentWire{}})
	a.Patch(one, post, s.apiCommentEdit, &web.Doc{ID: "pulls/update-review-comment", Summary: "Update a review comment for a pull request", In: textBody{}, Out: CommentWire{}})
	a.Delete(one, post, s.apiCommentDelete, &web.Doc{ID: "pulls/delete-review-comment", Summary: "Delete a review comment for a pull request", Status: http.StatusNoContent})
	a.Get(one+"/reactions", read, s.apiReactions, &web.Doc{ID: "reactions/list-for-pull-request-review-comment", Summary: "List reactions for a pull request review comment", Out: []pulls.Reaction{}})
	a.Post(one+"/reactions", post, s.apiReact, &web.Doc{ID: "reactions/create-for-pull-request-review-comment", Summary: "Create reaction for a pull request review comment", In: reactionBody{}, Out: pulls.Reaction{}, Status: http.StatusCreated})
	a.Delete(one+"/reactions/{reaction}", post, s.apiUnreact, &web.Doc{ID: "reactions/delete-for-pull-request-comment", Summary: "Delete a pull request comment reaction", Status: http.StatusNoContent})
	// gitfor's own: GitHub resolves conversations by GraphQL only.
	a.Put(one+"/resolution", post, s.apiResolve(true), &web.Doc{ID: "pulls/resolve-review-comment", Summary: "Resolve the conversation of a review comment", Status: http.StatusNoContent})
	a.Delete(one+"/resolution", post, s.apiResolve(false), &web.Doc{ID: "pulls/unresolve-review-comment", Summary: "Open the conversation of a review comment again", Status: http.StatusNoContent})
}

type reactionBody struct {
	Content string `json:"content"`
}

// commentBody is the body of a request that writes a comment on a change.
type commentBody struct {
	Body        string `json:"body"`
	CommitID    string `json:"commit_id"`
	Path        string `json:"path"`
	Position    int    `json:"position"`
	Side        string `json:"side"`
	Line        int    `json:"line"`
	StartLine   int    `json:"start_line"`
	StartSide   string `json:"start_side"`
	InReplyTo   int64  `json:"in_reply_to"`
	SubjectType string `json:"subject_type"`
}

func (s *Service) apiAllComments(c *web.Ctx) error {
	return s.apiPage(c, nil, reviewdb.PageOf{})
}

func (s *Service) apiComments(c *web.Ctx) error {
	pull, err := s.pullOf(c)
	if err != nil {
		return err
	}
	return s.apiPage(c, pull, reviewdb.PageOf{Number: pull.Number})
}

func (s *Service) answerComment(c *web.Ctx, status int, pull *model.Pull, x *model.ReviewComment) error {
	out, err := s.answerComments(c, map[int64]string{pull.Number: pull.HeadSHA}, []*model.ReviewComment{x})
	if err != nil {
		return err
	}
	if status == http.StatusCreated {
		c.W.Header().Set("Location", out[0].URL)
	}
	return c.JSON(status, out[0])
}

func (s *Service) apiComment(c *web.Ctx) error {
	pull, err := s.pullOf(c)
	if err != nil {
		return err
	}
	var b commentBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	var x *model.ReviewComment
	switch {
	case b.InReplyTo != 0:
		x, err = s.Reply(c.Context(), pulls.Here(c), pull.Number, b.InReplyTo, b.Body, false)
	case b.SubjectType != "file" && b.Line == 0 && b.Position == 0:
		err = fault.Field("line", "Name the line, or set subject_type to file.")
	default:
		x, err = s.Comment(c.Context(), pulls.Here(c), pull.Number, CommentInput{Body: b.Body, Path: b.Path, Side: b.Side, Line: b.Line,
			StartLine: b.StartLine, SHA: b.CommitID, Position: b.Position}, false)
	}
	if err != nil {
		return resource("PullRequestReviewComment", err)
	}
	return s.answerComment(c, http.StatusCreated, pull, x)
}

func (s *Service) apiReply(c *web.Ctx) error {
	pull, err := s.pullOf(c)
	if err != nil {
		return err
	}
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	var b textBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	x, err := s.Reply(c.Context(), pulls.Here(c), pull.Number, id, b.Body, false)
	if err != nil {
		return resource("PullRequestReviewComment", err)
	}
	return s.answerComment(c, http.StatusCreated, pull, x)
}

func (s *Service) apiCommentOf(c *web.Ctx) (*model.ReviewComment, *model.Pull, error) {
	id, err := c.ParamInt("id")
	if err != nil {
		return nil, nil, err
	}
	return s.FindComment(c.Context(), pulls.Here(c), id)
}

func (s *Service) apiCommentGet(c *web.Ctx) error {
	x, pull, err := s.apiCommentOf(c)
	if err != nil {
		return err
	}
	return s.answerComment(c, http.StatusOK, pull, x)
}

func (s *Service) apiCommentEdit(c *web.Ctx) error {
	x, pull, err := s.apiCommentOf(c)
	if err != nil {
		return err
	}
	var b textBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	if x, err = s.EditComment(c.Context(), pulls.Here(c), x.ID, b.Body, nil); err != nil {
		return resource("PullRequestReviewComment", err)
	}
	return s.answerComment(c, http.StatusOK, pull, x)
}

func (s *Service) apiCommentDelete(c *web.Ctx) error {
	x, _, err := s.apiCommentOf(c)
	if err != nil {
		return err
	}
	if _, err := s.DeleteComment(c.Context(), pulls.Here(c), x.ID); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiResolve(on bool) web.Handler {
	return func(c *web.Ctx) error {
		x, pull, err := s.apiCommentOf(c)
		if err != nil {
			return err
		}
		if _, err := s.Resolve(c.Context(), pulls.Here(c), pull.Number, x.ID, on); err != nil {
			return err
		}
		return c.NoContent()
	}
}

func (s *Service) apiReactions(c *web.Ctx) error {
	x, _, err := s.apiCommentOf(c)
	if err != nil {
		return err
	}
	var list []model.Reaction
	var ids []int64
	for _, r := range x.Reactions {
		if what := c.Query("content"); what == "" || what == r.Content {
			list, ids = append(list, r), append(ids, r.By)
		}
	}
	page := api.PageOf(c)
	page.LinkTotal(c, len(list))
	w, err := s.show(c, nil, ids...)
	if err != nil {
		return err
	}
	from := min(int(page.Offset()), len(list))
	out := []pulls.Reaction{}
	for _, r := range list[from:min(from+page.PerPage, len(list))] {
		out = append(out, w.reaction(r))
	}
	return c.JSON(http.StatusOK, out)
}

func (w *show) reaction(r model.Reaction) pulls.Reaction {
	return pulls.Reaction{ID: r.ID, NodeID: api.NodeID("Reaction", w.c.Repo.ID, r.ID), User: w.user(r.By), Content: r.Content, CreatedAt: api.Time(r.CreatedAt)}
}

func (s *Service) apiReact(c *web.Ctx) error {
	x, _, err := s.apiCommentOf(c)
	if err != nil {
		return err
	}
	var b reactionBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	r, made, err := s.React(c.Context(), pulls.Here(c), x.ID, b.Content)
	if err != nil {
		return resource("Reaction", err)
	}
	w, err := s.show(c, nil, r.By)
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
	x, _, err := s.apiCommentOf(c)
	if err != nil {
		return err
	}
	id, err := c.ParamInt("reaction")
	if err != nil {
		return err
	}
	if err := s.Unreact(c.Context(), pulls.Here(c), x.ID, id, ""); err != nil {
		return err
	}
	return c.NoContent()
}
