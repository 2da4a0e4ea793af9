package issues

import (
	"net/http"
	"time"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

func (s *Service) apiCommentRoutes(a *web.Router, base string, read, post web.Access) {
	a.Get(base+"/issues/comments", read, s.apiComments, &web.Doc{ID: "issues/list-comments-for-repo", Summary: "List issue comments for a repository", Out: []Comment{}})
	a.Get(base+"/issues/{number}/comments", read, s.apiComments, &web.Doc{ID: "issues/list-comments", Summary: "List issue comments", Out: []Comment{}})
	a.Post(base+"/issues/{number}/comments", post, s.apiComment, &web.Doc{ID: "issues/create-comment", Summary: "Create an issue comment", In: threads.CommentInput{}, Out: Comment{}, Status: http.StatusCreated})
	a.Get(base+"/issues/comments/{id}", read, s.apiCommentGet, &web.Doc{ID: "issues/get-comment", Summary: "Get an issue comment", Out: Comment{}})
	a.Patch(base+"/issues/comments/{id}", post, s.apiCommentEdit, &web.Doc{ID: "issues/update-comment", Summary: "Update an issue comment", In: threads.EditInput{}, Out: Comment{}})
	a.Delete(base+"/issues/comments/{id}", post, s.apiCommentDelete, &web.Doc{ID: "issues/delete-comment", Summary: "Delete an issue comment", Status: http.StatusNoContent})
}

func (s *Service) apiComments(c *web.Ctx) error {
	page, p := api.PageOf(c), place(c)
	of := threaddb.PageOf{Kinds: []string{model.ItemComment}, Limit: page.PerPage, Offset: int(page.Offset()),
		SeeAll: p.Role.AtLeast(model.RoleTriage), AccountID: p.Viewer.ID()}
	if c.Param("number") != "" {
		i, err := s.found(c)
		if err != nil {
			return err
		}
		of.Number = i.Number
	} else {
		of.ByUpdate = c.Query("sort") == "updated"
		of.Newest = c.Query("sort") != "" && c.Query("direction") != "asc"
	}
	if v := c.Query("since"); v != "" {
		t, err := time.Parse(time.RFC3339, v)
		if err != nil {
			return resource("IssueComment", fault.Field("since", "The time is in the form 2006-01-02T15:04:05Z."))
		}
		of.Since = t.UTC().Format(time.RFC3339)
	}
	items, err := threaddb.Items(c.Context(), s.DB.Repo(c.Repo.ID), of)
	if err != nil {
		return err
	}
	items, more := api.Cut(items, page.Limit())
	page.Link(c, more)
	w, err := s.showingItems(c, items)
	if err != nil {
		return err
	}
	out := make([]Comment, len(items))
	for n, t := range items {
		out[n] = w.comment(t, model.KindIssue)
	}
	return c.JSON(http.StatusOK, out)
}

// showingItems prepares to show timeline items.
func (s *Service) showingItems(c *web.Ctx, items []*model.TimelineItem) (*show, error) {
	var ids []int64
	for _, t := range items {
		ids = append(ids, t.AuthorID, t.Data.Assignee)
	}
	return s.showing(c, &threaddb.Context{}, ids...)
}

func (s *Service) apiComment(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in threads.CommentInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	r, err := s.Threads.Comment(c.Context(), place(c), n, in)
	if err != nil {
		return resource("IssueComment", err)
	}
	return s.answerComment(c, http.StatusCreated, r.Comment, r.Issue)
}

func (s *Service) answerComment(c *web.Ctx, status int, t *model.TimelineItem, i *model.Issue) error {
	w, err := s.showingItems(c, []*model.TimelineItem{t})
	if err != nil {
		return err
	}
	out := w.comment(t, i.Kind)
	if status == http.StatusCreated {
		c.W.Header().Set("Location", out.URL)
	}
	return c.JSON(status, out)
}

func (s *Service) apiCommentGet(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	t, i, err := s.Threads.FindComment(c.Context(), place(c), id)
	if err != nil {
		return err
	}
	return s.answerComment(c, http.StatusOK, t, i)
}

func (s *Service) apiCommentEdit(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	var in threads.EditInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	r, err := s.Threads.EditComment(c.Context(), place(c), id, in)
	if err != nil {
		return resource("IssueComment", err)
	}
	return s.answerComment(c, http.StatusOK, r.Comment, r.Issue)
}

func (s *Service) apiCommentDelete(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if _, err := s.Threads.DeleteComment(c.Context(), place(c), id); err != nil {
		return err
	}
	return c.NoContent()
}
