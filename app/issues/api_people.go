package issues

import (
	"net/http"
	"slices"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/repodb"
)

func (s *Service) apiPeopleRoutes(a *web.Router, base string, read, post web.Access) {
	a.Get(base+"/assignees", read, s.apiAssignees, &web.Doc{ID: "issues/list-assignees", Summary: "List assignees", Out: []api.User{}})
	a.Get(base+"/assignees/{assignee}", read, s.apiAssignee, &web.Doc{ID: "issues/check-user-can-be-assigned", Summary: "Check if a user can be assigned", Status: http.StatusNoContent})
	at := base + "/issues/{number}/assignees"
	a.Get(at+"/{assignee}", read, s.apiAssignee, &web.Doc{ID: "issues/check-user-can-be-assigned-to-issue", Summary: "Check if a user can be assigned to an issue", Status: http.StatusNoContent})
	a.Post(at, post, s.apiAssign, &web.Doc{ID: "issues/add-assignees", Summary: "Add assignees to an issue", In: assigneesBody{}, Out: Issue{}, Status: http.StatusCreated})
	a.Delete(at, post, s.apiUnassign, &web.Doc{ID: "issues/remove-assignees", Summary: "Remove assignees from an issue", In: assigneesBody{}, Out: Issue{}})
}

func (s *Service) apiAssignees(c *web.Ctx) error {
	ids, err := repodb.Members(c.Context(), s.DB.Directory(), c.Repo)
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	page.LinkTotal(c, len(ids))
	out, err := s.accounts(c.Context(), c, cutPage(ids, page))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiAssignee(c *web.Ctx) error {
	a, err := accountdb.ByName(c.Context(), s.DB.Directory(), c.Param("assignee"))
	if err != nil {
		return err
	}
	ids, err := repodb.Members(c.Context(), s.DB.Directory(), c.Repo)
	if err != nil {
		return err
	}
	if !slices.Contains(ids, a.ID) {
		return db.ErrNotFound
	}
	return c.NoContent()
}

type assigneesBody struct {
	Assignees []string `json:"assignees"`
}

func (s *Service) apiAssign(c *web.Ctx) error {
	return s.apiReassign(c, http.StatusCreated, func(names []string) threads.Change { return threads.Change{AddAssignees: names} })
}

func (s *Service) apiUnassign(c *web.Ctx) error {
	return s.apiReassign(c, http.StatusOK, func(names []string) threads.Change { return threads.Change{RemoveAssignees: names} })
}

func (s *Service) apiReassign(c *web.Ctx, status int, change func(names []string) threads.Change) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var b assigneesBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	r, err := s.Threads.Update(c.Context(), place(c), n, change(b.Assignees))
	if err != nil {
		return resource("Issue", err)
	}
	return s.answer(c, status, r.Issue, nil)
}
