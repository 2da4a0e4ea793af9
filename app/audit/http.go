package audit

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/auditview"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
)

// Service shows the audit log.
type Service struct {
	DB   *db.DB
	Gate *perms.Gate
	// RepoShell, OrgShell and PersonShell are the frames of the settings
	// pages with the page of this key as the current one.
	RepoShell   func(c *web.Ctx, active string) (layout.Shell, error)
	OrgShell    func(c *web.Ctx, active string) layout.Shell
	PersonShell func(active string) layout.Shell
}

// place is whose log a page shows.
type place struct {
	base  string // the page's address
	about string
	of    eventdb.AuditFilter
	shell func(c *web.Ctx) (layout.Shell, error)
}

// Routes mounts the pages: the instance's, an organisation's, a repository's
// and a person's own.
func (s *Service) Routes(r *web.Router) {
	for _, p := range []struct {
		at     string
		access web.Access
		place  func(c *web.Ctx) (place, error)
	}{
		{"/admin/audit", s.Gate.SiteAdmin(), s.instance},
		{"/organizations/{owner}/settings/audit", s.Gate.AccountAdmin(), s.org},
		{"/{owner}/{repo}/settings/audit", s.Gate.Repo(model.RoleAdmin), s.repo},
		{"/settings/security-log", s.Gate.SignedIn(), s.person},
	} {
		r.Get(p.at, p.access, func(c *web.Ctx) error {
			at, err := p.place(c)
			if err != nil {
				return err
			}
			return s.page(c, at)
		})
		r.Get(p.at+"/export", p.access, func(c *web.Ctx) error {
			at, err := p.place(c)
			if err != nil {
				return err
			}
			return s.export(c, at)
		})
	}
	s.apiRoutes(r)
}

func (s *Service) instance(*web.Ctx) (place, error) {
	return place{base: link.Admin("audit"), about: "What was done on this instance",
		shell: func(*web.Ctx) (layout.Shell, error) { return layout.AdminShell("audit"), nil }}, nil
}

func (s *Service) org(c *web.Ctx) (place, error) {
	if c.Account.IsUser() {
		return place{}, db.ErrNotFound
	}
	return place{base: link.OrgSettings(c.Account.Name, "audit"), about: "What was done to " + c.Account.Name + " and its repositories",
		of:    eventdb.AuditFilter{AccountID: c.Account.ID},
		shell: func(c *web.Ctx) (layout.Shell, error) { return s.OrgShell(c, "audit"), nil }}, nil
}

func (s *Service) repo(c *web.Ctx) (place, error) {
	return place{base: link.RepoSettings(c.Repo.Owner.Name, c.Repo.Name, "audit"), about: "What was done to this repository",
		of:    eventdb.AuditFilter{RepoID: c.Repo.ID},
		shell: func(c *web.Ctx) (layout.Shell, error) { return s.RepoShell(c, "audit") }}, nil
}

func (s *Service) person(c *web.Ctx) (place, error) {
	return place{base: link.Settings("security-log"), about: "What you did, and what was done to your account",
		of:    eventdb.AuditFilter{PersonID: c.Viewer.ID()},
		shell: func(*web.Ctx) (layout.Shell, error) { return s.PersonShell("security-log"), nil }}, nil
}

const shown = 50

func (s *Service) page(c *web.Ctx, p place) error {
	f := p.of
	parse(c.Query("q"), &f)
	f.Before, f.Limit = number(c.Query("before")), shown+1
	list, err := eventdb.Audit(c.Context(), s.DB.Events(), f)
	if err != nil {
		return err
	}
	list, more := api.Cut(list, shown)
	if err := s.name(c, list); err != nil {
		return err
	}
	props := auditview.Props{Base: p.base, About: p.about, Query: c.Query("q"), Entries: list, Paged: f.Before != 0}
	q := url.Values{}
	if props.Query != "" {
		q.Set("q", props.Query)
		props.Newest = p.base + "?" + q.Encode()
		props.Export = p.base + "/export?" + q.Encode()
	} else {
		props.Newest, props.Export = p.base, p.base+"/export"
	}
	if more {
		q.Set("before", strconv.FormatInt(list[len(list)-1].ID, 10))
		props.Older = p.base + "?" + q.Encode()
	}
	shell, err := p.shell(c)
	if err != nil {
		return err
	}
	return c.Render(web.Page{Title: "Audit log", Shell: shell, Body: auditview.Log(props),
		Props: layout.Props{NoIndex: true}})
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// exported is an entry in the export.
type exported struct {
	ID        int64           `json:"id"`
	At        string          `json:"at"`
	Action    string          `json:"action"`
	ActorID   *int64          `json:"actor_id"`
	Actor     string          `json:"actor"`
	AccountID *int64          `json:"account_id"`
	RepoID    *int64          `json:"repo_id"`
	Target    string          `json:"target"`
	IP        string          `json:"ip"`
	Agent     string          `json:"user_agent"`
	Via       string          `json:"via"`
	Before    json.RawMessage `json:"before"`
	After     json.RawMessage `json:"after"`
}

// export answers with the whole search as JSON lines
// (https://jsonlines.org), newest first, a page of the log at a time.
func (s *Service) export(c *web.Ctx, p place) error {
	const some = 1000
	f := p.of
	parse(c.Query("q"), &f)
	f.Limit = some
	out := json.NewEncoder(c.W)
	for started := false; ; started = true {
		list, err := eventdb.Audit(c.Context(), s.DB.Events(), f)
		if err == nil {
			err = s.name(c, list)
		}
		if err != nil {
			if started {
				panic(http.ErrAbortHandler) // what was sent is not whole
			}
			return err
		}
		if !started {
			h := c.W.Header()
			h.Set("Content-Type", "application/jsonl; charset=utf-8")
			h.Set("Content-Disposition", `attachment; filename="audit.jsonl"`)
			h.Set("Cache-Control", "private, no-store")
			c.W.WriteHeader(http.StatusOK)
		}
		for _, e := range list {
			row := exported{ID: e.ID, At: e.At.UTC().Format("2006-01-02T15:04:05.000000Z"), Action: e.Action, ActorID: some64(e.ActorID), Actor: e.Actor,
				AccountID: some64(e.AccountID), RepoID: some64(e.RepoID), Target: e.Target, IP: e.Remote, Agent: e.Agent, Via: e.Via,
				Before: e.Before, After: e.After}
			if err := out.Encode(row); err != nil {
				return web.ErrAnswered
			}
		}
		if len(list) < some {
			return nil
		}
		f.Before = list[len(list)-1].ID
	}
}

// name gives those who were not signed in yet, as at signing in, their names.
func (s *Service) name(c *web.Ctx, list []*model.Audit) error {
	var ids []int64
	for _, e := range list {
		if e.Actor == "" && e.ActorID != 0 {
			ids = append(ids, e.ActorID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	accounts, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
	for _, e := range list {
		if a := accounts[e.ActorID]; e.Actor == "" && a != nil {
			e.Actor = a.Name
		}
	}
	return err
}

func some64(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}
