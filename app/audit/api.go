package audit

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
)

func (s *Service) apiRoutes(r *web.Router) {
	r.API().Get("/orgs/{owner}/audit-log", s.Gate.AccountAdmin(), s.apiOrg, &web.Doc{ID: "orgs/get-audit-log",
		Summary: "Get the audit log of an organization", Out: []Wire{}, Query: []string{"phrase", "before", "after", "order", "per_page"}})
}

// Wire is an entry as GitHub's API shows it
// (https://docs.github.com/enterprise-cloud@latest/rest/orgs/orgs#get-the-audit-log-for-an-organization).
type Wire struct {
	Timestamp  int64           `json:"@timestamp"`
	DocumentID string          `json:"_document_id"`
	Action     string          `json:"action"`
	Actor      string          `json:"actor"`
	ActorID    *int64          `json:"actor_id"`
	ActorIP    string          `json:"actor_ip"`
	CreatedAt  int64           `json:"created_at"`
	Org        string          `json:"org"`
	OrgID      int64           `json:"org_id"`
	Repo       *string         `json:"repo"`
	RepoID     *int64          `json:"repo_id"`
	Target     string          `json:"target"`
	UserAgent  string          `json:"user_agent"`
	Via        string          `json:"via"`
	Before     json.RawMessage `json:"before"`
	After      json.RawMessage `json:"after"`
}

func wire(e *model.Audit, org *model.Account) Wire {
	w := Wire{Timestamp: e.At.UnixMilli(), DocumentID: strconv.FormatInt(e.ID, 10), Action: e.Action, Actor: e.Actor,
		ActorID: some64(e.ActorID), ActorIP: e.Remote, CreatedAt: e.At.UnixMilli(), Org: org.Name, OrgID: org.ID,
		RepoID: some64(e.RepoID), Target: e.Target, UserAgent: e.Agent, Via: e.Via, Before: e.Before, After: e.After}
	if e.RepoID != 0 {
		w.Repo = &e.Target
	}
	return w
}

// apiOrg lists an organisation's entries. Cursors are ids of entries.
func (s *Service) apiOrg(c *web.Ctx) error {
	if c.Account.IsUser() {
		return db.ErrNotFound
	}
	f := eventdb.AuditFilter{AccountID: c.Account.ID, Oldest: c.Query("order") == "asc",
		Before: number(c.Query("before")), After: number(c.Query("after"))}
	parse(c.Query("phrase"), &f)
	per := c.QueryInt("per_page", 30, 1, 100)
	f.Limit = per + 1
	list, err := eventdb.Audit(c.Context(), s.DB.Events(), f)
	if err != nil {
		return err
	}
	list, more := api.Cut(list, int64(per))
	if err := s.name(c, list); err != nil {
		return err
	}
	out := make([]Wire, len(list))
	for i, e := range list {
		out[i] = wire(e, c.Account)
	}
	if more {
		q := c.R.URL.Query()
		q.Del("before")
		q.Del("after")
		name := "before"
		if f.Oldest {
			name = "after"
		}
		q.Set(name, strconv.FormatInt(list[len(list)-1].ID, 10))
		c.W.Header().Set("Link", "<"+c.URL(c.R.URL.Path)+"?"+q.Encode()+`>; rel="next"`)
	}
	return c.JSON(http.StatusOK, out)
}
