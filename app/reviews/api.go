package reviews

import (
	"net/http"
	"time"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/reviewdb"
)

// apiRoutes mounts GitHub's endpoints of reviews and of comments on changes
// (https://docs.github.com/rest/pulls).
func (s *Service) apiRoutes(r *web.Router) {
	read, post := s.Gate.Repo(model.RoleRead), s.Gate.RepoPost()
	a, base := r.API(), "/repos/{owner}/{repo}/pulls"
	at := base + "/{number}/reviews"
	one := at + "/{id}"
	a.Get(at, read, s.apiList, &web.Doc{ID: "pulls/list-reviews", Summary: "List reviews for a pull request", Out: []ReviewWire{}, Query: []string{"per_page", "page"}})
	a.Post(at, post, s.apiCreate, &web.Doc{ID: "pulls/create-review", Summary: "Create a review for a pull request", In: reviewBody{}, Out: ReviewWire{}})
	a.Get(one, read, s.apiGet, &web.Doc{ID: "pulls/get-review", Summary: "Get a review for a pull request", Out: ReviewWire{}})
	a.Put(one, post, s.apiEdit, &web.Doc{ID: "pulls/update-review", Summary: "Update a review for a pull request", In: textBody{}, Out: ReviewWire{}})
	a.Delete(one, post, s.apiDiscard, &web.Doc{ID: "pulls/delete-pending-review", Summary: "Delete a pending review for a pull request", Out: ReviewWire{}})
	a.Get(one+"/comments", read, s.apiOfReview, &web.Doc{ID: "pulls/list-comments-for-review", Summary: "List comments for a pull request review", Out: []CommentWire{}, Query: []string{"per_page", "page"}})
	a.Put(one+"/dismissals", post, s.apiDismiss, &web.Doc{ID: "pulls/dismiss-review", Summary: "Dismiss a review for a pull request", In: dismissBody{}, Out: ReviewWire{}})
	a.Post(one+"/events", post, s.apiSubmit, &web.Doc{ID: "pulls/submit-review", Summary: "Submit a review for a pull request", In: eventBody{}, Out: ReviewWire{}})
	s.apiCommentRoutes(a, base, read, post)
}

type textBody struct {
	Body string `json:"body"`
}

type dismissBody struct {
	Message string `json:"message"`
	Event   string `json:"event"`
}

type eventBody struct {
	Body  *string `json:"body"`
	Event string  `json:"event"`
}

// reviewBody is the body of a request that creates a review.
type reviewBody struct {
	CommitID string             `json:"commit_id"`
	Body     string             `json:"body"`
	Event    string             `json:"event"`
	Comments []draftCommentBody `json:"comments"`
}

type draftCommentBody struct {
	Path      string `json:"path"`
	Position  int    `json:"position"`
	Body      string `json:"body"`
	Line      int    `json:"line"`
	Side      string `json:"side"`
	StartLine int    `json:"start_line"`
	StartSide string `json:"start_side"`
}

func resource(name string, err error) error {
	if err == nil {
		return nil
	}
	f := *fault.From(err)
	if f.Kind == fault.Invalid && f.Resource == "" {
		f.Resource = name
		return &f
	}
	return err
}

func (s *Service) answerReviews(c *web.Ctx, list ...*model.Review) ([]ReviewWire, error) {
	ids := []int64{}
	for _, r := range list {
		ids = append(ids, r.AuthorID)
	}
	w, err := s.show(c, nil, ids...)
	if err != nil {
		return nil, err
	}
	out := make([]ReviewWire, 0, len(list))
	for _, r := range list {
		out = append(out, w.review(r))
	}
	return out, nil
}

func (s *Service) answerReview(c *web.Ctx, r *model.Review) error {
	out, err := s.answerReviews(c, r)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, out[0])
}

func (s *Service) apiList(c *web.Ctx) error {
	pull, err := s.pullOf(c)
	if err != nil {
		return err
	}
	list, err := reviewdb.List(c.Context(), s.DB.Repo(c.Repo.ID), pull.Number, c.Viewer.ID())
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	page.LinkTotal(c, len(list))
	from := min(int(page.Offset()), len(list))
	out, err := s.answerReviews(c, list[from:min(from+page.PerPage, len(list))]...)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiCreate(c *web.Ctx) error {
	pull, err := s.pullOf(c)
	if err != nil {
		return err
	}
	var b reviewBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	in := SubmitInput{Event: b.Event, Body: b.Body, SHA: b.CommitID, Alone: true}
	for _, x := range b.Comments {
		in.Comments = append(in.Comments, CommentInput{Body: x.Body, Path: x.Path, Side: x.Side, Line: x.Line, StartLine: x.StartLine,
			Position: x.Position, SHA: b.CommitID})
	}
	r, err := s.Submit(c.Context(), pulls.Here(c), pull.Number, in)
	if err != nil {
		return resource("PullRequestReview", err)
	}
	return s.answerReview(c, r)
}

func (s *Service) apiGet(c *web.Ctx) error {
	_, r, err := s.reviewOf(c)
	if err != nil {
		return err
	}
	return s.answerReview(c, r)
}

func (s *Service) apiEdit(c *web.Ctx) error {
	pull, r, err := s.reviewOf(c)
	if err != nil {
		return err
	}
	var b textBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	if r, err = s.EditReview(c.Context(), pulls.Here(c), pull.Number, r.ID, b.Body); err != nil {
		return resource("PullRequestReview", err)
	}
	return s.answerReview(c, r)
}

func (s *Service) apiDiscard(c *web.Ctx) error {
	pull, r, err := s.reviewOf(c)
	if err != nil {
		return err
	}
	if r.State != model.ReviewPending {
		return resource("PullRequestReview", fault.Field("state", "Can not delete a non-pending pull request review"))
	}
	if r, err = s.Discard(c.Context(), pulls.Here(c), pull.Number, r.ID); err != nil {
		return err
	}
	return s.answerReview(c, r)
}

func (s *Service) apiDismiss(c *web.Ctx) error {
	pull, r, err := s.reviewOf(c)
	if err != nil {
		return err
	}
	var b dismissBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	if r, err = s.Dismiss(c.Context(), pulls.Here(c), pull.Number, r.ID, b.Message); err != nil {
		return resource("PullRequestReview", err)
	}
	return s.answerReview(c, r)
}

func (s *Service) apiSubmit(c *web.Ctx) error {
	pull, r, err := s.reviewOf(c)
	if err != nil {
		return err
	}
	var b eventBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	if r.State != model.ReviewPending {
		return resource("PullRequestReview", fault.Field("state", "The review was submitted already."))
	}
	if b.Event == "" {
		return resource("PullRequestReview", fault.Field("event", "The event is APPROVE, REQUEST_CHANGES or COMMENT."))
	}
	in := SubmitInput{Event: b.Event, Body: r.Body, SHA: r.SHA, ID: r.ID}
	if b.Body != nil {
		in.Body = *b.Body
	}
	if r, err = s.Submit(c.Context(), pulls.Here(c), pull.Number, in); err != nil {
		return resource("PullRequestReview", err)
	}
	return s.answerReview(c, r)
}

func (s *Service) answerComments(c *web.Ctx, heads map[int64]string, list []*model.ReviewComment) ([]CommentWire, error) {
	var ids []int64
	for _, x := range list {
		ids = append(ids, x.AuthorID)
	}
	w, err := s.show(c, heads, ids...)
	if err != nil {
		return nil, err
	}
	out := make([]CommentWire, 0, len(list))
	for _, x := range list {
		out = append(out, w.comment(x))
	}
	return out, nil
}

func (s *Service) apiOfReview(c *web.Ctx) error {
	pull, r, err := s.reviewOf(c)
	if err != nil {
		return err
	}
	return s.apiPage(c, pull, reviewdb.PageOf{Number: pull.Number, Review: r.ID})
}

// apiPage answers with a page of comments.
func (s *Service) apiPage(c *web.Ctx, pull *model.Pull, of reviewdb.PageOf) error {
	page := api.PageOf(c)
	of.AccountID, of.Limit, of.Offset = c.Viewer.ID(), page.PerPage, int(page.Offset())
	if v := c.Query("since"); v != "" {
		t, err := time.Parse(time.RFC3339, v)
		if err != nil {
			return resource("PullRequestReviewComment", fault.Field("since", "The time is in the form 2006-01-02T15:04:05Z."))
		}
		of.Since = t.UTC().Format(time.RFC3339)
	}
	of.ByUpdate = c.Query("sort") == "updated"
	of.Newest = c.Query("sort") != "" && c.Query("direction") != "asc"
	list, total, err := reviewdb.Page(c.Context(), s.DB.Repo(c.Repo.ID), of)
	if err != nil {
		return err
	}
	page.LinkTotal(c, total)
	heads := map[int64]string{}
	if pull != nil {
		heads[pull.Number] = pull.HeadSHA
	}
	out, err := s.answerComments(c, heads, list)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, out)
}
