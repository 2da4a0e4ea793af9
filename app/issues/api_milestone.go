package issues

import (
	"net/http"
	"slices"
	"sort"
	"time"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/issuedb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

func (s *Service) apiMilestoneRoutes(a *web.Router, base string, read, post web.Access) {
	at := base + "/milestones/{milestone}"
	a.Get(base+"/milestones", read, s.apiMilestones, &web.Doc{ID: "issues/list-milestones", Summary: "List milestones", Out: []Milestone{}})
	a.Post(base+"/milestones", post, s.apiMilestoneCreate, &web.Doc{ID: "issues/create-milestone", Summary: "Create a milestone", In: milestoneBody{}, Out: Milestone{}, Status: http.StatusCreated})
	a.Get(at, read, s.apiMilestone, &web.Doc{ID: "issues/get-milestone", Summary: "Get a milestone", Out: Milestone{}})
	a.Patch(at, post, s.apiMilestoneEdit, &web.Doc{ID: "issues/update-milestone", Summary: "Update a milestone", In: milestoneBody{}, Out: Milestone{}})
	a.Delete(at, post, s.apiMilestoneDelete, &web.Doc{ID: "issues/delete-milestone", Summary: "Delete a milestone", Status: http.StatusNoContent})
	a.Get(at+"/labels", read, s.apiMilestoneLabels, &web.Doc{ID: "issues/list-labels-for-milestone", Summary: "List labels for issues in a milestone", Out: []Label{}})
}

type milestoneBody struct {
	Title       *string              `json:"title"`
	Description *string              `json:"description"`
	State       *string              `json:"state"`
	DueOn       api.Maybe[time.Time] `json:"due_on"`
}

func (b milestoneBody) input() MilestoneInput {
	return MilestoneInput{Title: b.Title, Description: b.Description, State: b.State, DueOn: b.DueOn.Ref(), NoDue: b.DueOn.Null}
}

func (s *Service) apiMilestones(c *web.Ctx) error {
	w, err := s.showing(c, nil)
	if err != nil {
		return err
	}
	state := c.Query("state")
	if state == "" {
		state = model.StateOpen
	}
	list := slices.DeleteFunc(slices.Clone(w.facts.Milestones), func(m *model.Milestone) bool { return state != "all" && m.State != state })
	sortMilestones(list, c.Query("sort"), c.Query("direction") == "desc")
	page := api.PageOf(c)
	page.LinkTotal(c, len(list))
	out := []Milestone{}
	for _, m := range cutPage(list, page) {
		out = append(out, w.milestone(m))
	}
	return c.JSON(http.StatusOK, out)
}

// sortMilestones orders by due date (those without one last), or by
// completeness.
func sortMilestones(list []*model.Milestone, by string, desc bool) {
	due := func(m *model.Milestone) time.Time {
		if m.DueOn == nil {
			return time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
		}
		return *m.DueOn
	}
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if desc {
			a, b = b, a
		}
		if by == "completeness" {
			return a.Percent() < b.Percent()
		}
		return due(a).Before(due(b))
	})
}

func (s *Service) answerMilestone(c *web.Ctx, status int, m *model.Milestone) error {
	w, err := s.showing(c, &threaddb.Context{}, m.CreatorID)
	if err != nil {
		return err
	}
	out := w.milestone(m)
	if status == http.StatusCreated {
		c.W.Header().Set("Location", out.URL)
	}
	return c.JSON(status, out)
}

func (s *Service) apiMilestoneCreate(c *web.Ctx) error {
	var b milestoneBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	m, err := s.CreateMilestone(c.Context(), place(c), b.input())
	if err != nil {
		return err
	}
	return s.answerMilestone(c, http.StatusCreated, m)
}

func (s *Service) apiMilestone(c *web.Ctx) error {
	n, err := c.ParamInt("milestone")
	if err != nil {
		return err
	}
	m, err := s.Milestone(c.Context(), c.Repo, n)
	if err != nil {
		return err
	}
	return s.answerMilestone(c, http.StatusOK, m)
}

func (s *Service) apiMilestoneEdit(c *web.Ctx) error {
	n, err := c.ParamInt("milestone")
	if err != nil {
		return err
	}
	var b milestoneBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	m, err := s.EditMilestone(c.Context(), place(c), n, b.input())
	if err != nil {
		return err
	}
	return s.answerMilestone(c, http.StatusOK, m)
}

func (s *Service) apiMilestoneDelete(c *web.Ctx) error {
	n, err := c.ParamInt("milestone")
	if err != nil {
		return err
	}
	if err := s.DeleteMilestone(c.Context(), place(c), n); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiMilestoneLabels(c *web.Ctx) error {
	n, err := c.ParamInt("milestone")
	if err != nil {
		return err
	}
	m, err := s.Milestone(c.Context(), c.Repo, n)
	if err != nil {
		return err
	}
	r, err := s.List(c.Context(), place(c), ListInput{Where: []issuedb.Cond{{Field: issuedb.Milestone, IDs: []int64{m.ID}}}, Limit: 1000})
	if err != nil {
		return err
	}
	var ids []int64
	for _, i := range r.Issues {
		for _, id := range i.LabelIDs {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	w := &show{c: c, repo: c.Repo, facts: r.Facts, people: r.People}
	page := api.PageOf(c)
	page.LinkTotal(c, len(ids))
	return c.JSON(http.StatusOK, w.labels(cutPage(ids, page)))
}
