package activity

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

func num(n int64) string { return strconv.FormatInt(n, 10) }

// wire is a move of a ref as GitHub tells it
// (https://docs.github.com/rest/repos/repos#list-repository-activities).
type wire struct {
	ID        int64     `json:"id"`
	NodeID    string    `json:"node_id"`
	Before    string    `json:"before"`
	After     string    `json:"after"`
	Ref       string    `json:"ref"`
	Timestamp string    `json:"timestamp"`
	Type      string    `json:"activity_type"`
	Actor     *api.User `json:"actor"`
}

func (s *Service) apiRoutes(r *web.Router) {
	r.API().Get("/repos/{owner}/{repo}/activity", s.Gate.Repo(model.RoleRead), s.apiList,
		&web.Doc{ID: "repos/list-activities", Summary: "List repository activities", Out: []wire{}, Query: []string{"per_page", "page", "ref", "actor", "activity_type"}})
}

func (s *Service) apiList(c *web.Ctx) error {
	page := api.Paging{Page: c.QueryInt("page", 1, 1, 1000), PerPage: c.QueryInt("per_page", 30, 1, 100)}
	a := s.asked(c, []string{"git.push"})
	a.limit, a.offset = page.PerPage+1, int(page.Offset())
	if name := c.Query("actor"); name != "" {
		who, err := accountdb.ByName(c.Context(), s.DB.Directory(), name)
		if err != nil {
			return fault.Field("actor", "Nobody has this name.")
		}
		a.actor = who.ID
	}
	list, err := s.list(c.Context(), c.Repo, a)
	if err != nil {
		return err
	}
	list, more := api.Cut(list, page.Limit())
	ids := make([]int64, len(list))
	for i, e := range list {
		ids[i] = e.ActorID
	}
	people, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
	if err != nil {
		return err
	}
	out := []wire{}
	for _, e := range list {
		var f facts
		if err := json.Unmarshal(e.Data, &f); err != nil {
			return err
		}
		for i, r := range f.Refs {
			w := wire{ID: e.Seq*1000 + int64(i), NodeID: e.EventID, Before: r.Before, After: r.After, Ref: r.Ref,
				Timestamp: api.Time(e.Time), Type: typeOf(f.Via, r.Created, r.Deleted, r.Forced)}
			if want := c.Query("ref"); want != "" && want != r.Ref && "refs/heads/"+want != r.Ref {
				continue
			}
			if want := c.Query("activity_type"); want != "" && want != w.Type {
				continue
			}
			w.Actor = api.UserRef(c, people[e.ActorID])
			out = append(out, w)
		}
	}
	page.Link(c, more)
	return c.JSON(http.StatusOK, out)
}

func typeOf(via string, created, deleted, forced bool) string {
	switch {
	case created:
		return "branch_creation"
	case deleted:
		return "branch_deletion"
	case forced:
		return "force_push"
	case via == "merge":
		return "pr_merge"
	}
	return "push"
}
