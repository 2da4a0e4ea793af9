package events

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
)

// Routes registers the operations by which the log is read.
func (s *Service) Routes(r *web.Router, gate *perms.Gate) {
	doc := func(id, summary string) *web.Doc {
		return &web.Doc{ID: id, Summary: summary, Out: []Envelope{}, Query: []string{"type", "after", "wait", "per_page", "page"}}
	}
	r.API().Get("/repos/{owner}/{repo}/event-log", gate.Repo(model.RoleRead), func(c *web.Ctx) error {
		return s.apiList(c, c.Repo.ID, 0)
	}, doc("list_events", "List or follow the events of a repository"))
	r.API().Get("/users/{owner}/event-log", gate.AccountAdmin(), s.apiAccount,
		doc("list_account_events", "List or follow the events of your account or an organization that you own"))
	r.API().Get("/event-log", gate.SiteAdmin(), func(c *web.Ctx) error { return s.apiList(c, 0, 0) },
		doc("list_instance_events", "List or follow the events of the instance"))
}

// Routes registers the WebSocket of open pages.
func (l *Live) Routes(r *web.Router, gate *perms.Gate) {
	r.Raw().Get("/-/live", gate.Anyone(), func(c *web.Ctx) error {
		if !strings.EqualFold(c.R.Header.Get("Upgrade"), "websocket") {
			return fault.New(fault.BadRequest, "This address speaks WebSocket.")
		}
		l.Hub.Serve(c.W, c.R, c.Viewer, c.Kit().Host())
		return nil
	})
}

// apiAccount lists the log of an account, which tells of private repositories
// too, to those who own it.
func (s *Service) apiAccount(c *web.Ctx) error {
	if !c.Viewer.Has("repo") {
		return fault.New(fault.Forbidden, "This token lacks the scope repo.")
	}
	return s.apiList(c, 0, c.Account.ID)
}

func (s *Service) apiList(c *web.Ctx, repoID, accountID int64) error {
	page := api.Paging{Page: c.QueryInt("page", 1, 1, 1_000_000), PerPage: c.QueryInt("per_page", 50, 1, 200)}
	in := ListInput{RepoID: repoID, AccountID: accountID, After: c.Query("after"),
		Wait:  time.Duration(c.QueryInt("wait", 0, 0, int(MaxWait/time.Second))) * time.Second,
		Limit: page.PerPage + 1, Offset: int(page.Offset())}
	if repoID != 0 {
		in.Hidden, in.SeenBy = !c.Role.AtLeast(model.RoleTriage), c.Viewer.ID()
	}
	for _, t := range c.R.URL.Query()["type"] {
		in.Types = append(in.Types, strings.FieldsFunc(t, func(r rune) bool { return r == ',' })...)
	}
	list, err := s.List(c.Context(), in)
	if errors.Is(err, ErrUnknownAfter) {
		return s.gone(c, repoID, accountID)
	}
	if err != nil {
		return err
	}
	list, more := api.Cut(list, page.Limit())
	envelopes, err := s.envelopes(c, list)
	if err != nil {
		return err
	}
	page.Link(c, more)
	c.W.Header().Set("Cache-Control", "private, no-store")
	if c.Wants("application/cloudevents+json") || c.Wants("application/cloudevents-batch+json") {
		out := make([]cloudEvent, len(envelopes))
		for i, env := range envelopes {
			out[i] = cloudEventOf(c, env)
		}
		c.W.Header().Set("Content-Type", "application/cloudevents-batch+json; charset=utf-8")
		return c.JSON(http.StatusOK, out)
	}
	return c.JSON(http.StatusOK, envelopes)
}

func (s *Service) envelopes(c *web.Ctx, list []*model.Event) ([]Envelope, error) {
	out := make([]Envelope, len(list))
	if len(list) == 0 {
		return out, nil
	}
	ids := make([]int64, 0, len(list))
	for _, e := range list {
		if e.ActorID != 0 {
			ids = append(ids, e.ActorID)
		}
	}
	actors, err := accountdb.ByIDs(c.Context(), s.db.Directory(), ids...)
	if err != nil {
		return nil, err
	}
	for i, e := range list {
		out[i] = EnvelopeOf(e, actors[e.ActorID])
	}
	return out, nil
}

// Gone is the answer to a reader whose place in the log is no longer, or never
// was, in it: they start anew from Oldest.
type Gone struct {
	Message string  `json:"message"`
	Oldest  *string `json:"oldest"`
	DocURL  string  `json:"documentation_url"`
	Status  string  `json:"status"`
}

func (s *Service) gone(c *web.Ctx, repoID, accountID int64) error {
	g := Gone{Message: "The log does not hold this event any more. Start anew from the oldest one.",
		DocURL: c.URL(web.APIPrefix + "/openapi.json"), Status: strconv.Itoa(http.StatusGone)}
	oldest, err := eventdb.Oldest(c.Context(), s.db.Events(), repoID, accountID)
	if err == nil {
		g.Oldest = &oldest.EventID
	} else if !errors.Is(err, db.ErrNotFound) {
		return err
	}
	return c.JSON(http.StatusGone, g)
}
