package issues

import (
	"net/http"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/issuedb"
	"github.com/gitfor/gitfor/db/model"
)

func (s *Service) apiRelationRoutes(a *web.Router, base string, read, post web.Access) {
	at := base + "/issues/{number}"
	a.Get(at+"/sub_issues", read, s.apiSubIssues, &web.Doc{ID: "issues/list-sub-issues", Summary: "List sub-issues", Out: []Issue{}})
	a.Post(at+"/sub_issues", post, s.apiSubIssueAdd, &web.Doc{ID: "issues/add-sub-issue", Summary: "Add sub-issue", In: subIssueBody{}, Out: Issue{}, Status: http.StatusCreated})
	a.Delete(at+"/sub_issue", post, s.apiSubIssueRemove, &web.Doc{ID: "issues/remove-sub-issue", Summary: "Remove sub-issue", In: subIssueBody{}, Out: Issue{}})
	a.Patch(at+"/sub_issues/priority", post, s.apiSubIssueMove, &web.Doc{ID: "issues/reprioritize-sub-issue", Summary: "Reprioritize sub-issue", In: subIssueBody{}, Out: Issue{}})
	a.Get(at+"/parent", read, s.apiParent, &web.Doc{ID: "issues/get-parent", Summary: "Get parent issue", Out: Issue{}})
	a.Get(at+"/dependencies/blocked_by", read, s.apiBlockedBy, &web.Doc{ID: "issues/list-dependencies-blocked-by", Summary: "List dependencies an issue is blocked by", Out: []Issue{}})
	a.Get(at+"/dependencies/blocking", read, s.apiBlocking, &web.Doc{ID: "issues/list-dependencies-blocking", Summary: "List dependencies an issue is blocking", Out: []Issue{}})
	a.Post(at+"/dependencies/blocked_by", post, s.apiBlock, &web.Doc{ID: "issues/add-blocked-by-dependency", Summary: "Add a dependency an issue is blocked by", In: blockBody{}, Out: Issue{}, Status: http.StatusCreated})
	a.Delete(at+"/dependencies/blocked_by/{id}", post, s.apiUnblock, &web.Doc{ID: "issues/remove-dependency-blocked-by", Summary: "Remove dependency an issue is blocked by", Out: Issue{}})
}

type subIssueBody struct {
	SubIssueID    int64 `json:"sub_issue_id"`
	ReplaceParent bool  `json:"replace_parent"`
	AfterID       int64 `json:"after_id"`
	BeforeID      int64 `json:"before_id"`
}

type blockBody struct {
	IssueID int64 `json:"issue_id"`
}

// numberOf is the number of the issue with an id; 0 for the id 0.
func (s *Service) numberOf(c *web.Ctx, field string, id int64) (int64, error) {
	if id == 0 {
		return 0, nil
	}
	i, err := issuedb.ByID(c.Context(), s.DB.Repo(c.Repo.ID), id)
	if err == nil && i.VisibleTo(c.Viewer.ID(), c.Role) {
		return i.Number, nil
	}
	if err == nil || fault.Is(err, fault.NotFound) {
		return 0, resource("Issue", fault.Field(field, "There is no such issue in this repository."))
	}
	return 0, err
}

// answerMany sends the threads among the numbers that the viewer may see.
func (s *Service) answerMany(c *web.Ctx, numbers []int64) error {
	p := place(c)
	page := api.PageOf(c)
	page.LinkTotal(c, len(numbers))
	numbers = cutPage(numbers, page)
	r, err := s.List(c.Context(), p, ListInput{Where: []issuedb.Cond{{Field: issuedb.Number, IDs: numbers}}, Bodies: true, Limit: 100})
	if err != nil {
		return err
	}
	byNumber := map[int64]*model.Issue{}
	for _, i := range r.Issues {
		byNumber[i.Number] = i
	}
	w := &show{c: c, repo: c.Repo, facts: r.Facts, people: r.People}
	out := []Issue{}
	for _, n := range numbers {
		if i := byNumber[n]; i != nil {
			out = append(out, w.issue(i))
		}
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiSubIssues(c *web.Ctx) error {
	i, err := s.found(c)
	if err != nil {
		return err
	}
	return s.answerMany(c, i.Children)
}

func (s *Service) apiBlockedBy(c *web.Ctx) error {
	i, err := s.found(c)
	if err != nil {
		return err
	}
	return s.answerMany(c, i.BlockedBy)
}

func (s *Service) apiBlocking(c *web.Ctx) error {
	i, err := s.found(c)
	if err != nil {
		return err
	}
	return s.answerMany(c, i.Blocking)
}

func (s *Service) apiParent(c *web.Ctx) error {
	i, err := s.found(c)
	if err != nil {
		return err
	}
	if i.Parent == 0 {
		return db.ErrNotFound
	}
	up, err := s.Threads.Find(c.Context(), place(c), i.Parent)
	if err != nil {
		return err
	}
	return s.answer(c, http.StatusOK, up, nil)
}

// subIssue reads a request about a sub-issue: the parent and the child.
func (s *Service) subIssue(c *web.Ctx) (b subIssueBody, parent *model.Issue, child int64, err error) {
	if err = c.Decode(&b); err != nil {
		return b, nil, 0, err
	}
	if parent, err = s.found(c); err != nil {
		return b, nil, 0, err
	}
	if b.SubIssueID == 0 {
		return b, nil, 0, resource("Issue", fault.Field("sub_issue_id", "The sub-issue's id is needed."))
	}
	child, err = s.numberOf(c, "sub_issue_id", b.SubIssueID)
	return b, parent, child, err
}

func (s *Service) apiSubIssueAdd(c *web.Ctx) error {
	b, parent, child, err := s.subIssue(c)
	if err != nil {
		return err
	}
	if _, err := s.AddSubIssue(c.Context(), place(c), parent.Number, child, b.ReplaceParent); err != nil {
		return resource("Issue", err)
	}
	return s.again(c, http.StatusCreated, parent.Number)
}

func (s *Service) apiSubIssueRemove(c *web.Ctx) error {
	_, parent, child, err := s.subIssue(c)
	if err != nil {
		return err
	}
	if _, err := s.RemoveSubIssue(c.Context(), place(c), parent.Number, child); err != nil {
		return err
	}
	return s.again(c, http.StatusOK, parent.Number)
}

func (s *Service) apiSubIssueMove(c *web.Ctx) error {
	b, parent, child, err := s.subIssue(c)
	if err != nil {
		return err
	}
	after, err := s.numberOf(c, "after_id", b.AfterID)
	if err != nil {
		return err
	}
	before, err := s.numberOf(c, "before_id", b.BeforeID)
	if err != nil {
		return err
	}
	if err := s.MoveSubIssue(c.Context(), place(c), parent.Number, child, after, before); err != nil {
		return resource("Issue", err)
	}
	return s.again(c, http.StatusOK, parent.Number)
}

// again sends an issue as it is after a change.
func (s *Service) again(c *web.Ctx, status int, number int64) error {
	i, err := s.Threads.Find(c.Context(), place(c), number)
	if err != nil {
		return err
	}
	return s.answer(c, status, i, nil)
}

func (s *Service) apiBlock(c *web.Ctx) error {
	var b blockBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	return s.apiReblock(c, b.IssueID, http.StatusCreated, false)
}

func (s *Service) apiUnblock(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	return s.apiReblock(c, id, http.StatusOK, true)
}

func (s *Service) apiReblock(c *web.Ctx, id int64, status int, remove bool) error {
	i, err := s.found(c)
	if err != nil {
		return err
	}
	by, err := s.numberOf(c, "issue_id", id)
	if err != nil {
		return err
	}
	if _, err := s.Block(c.Context(), place(c), i.Number, by, remove); err != nil {
		return resource("Issue", err)
	}
	return s.again(c, status, by)
}
