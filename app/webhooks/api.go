package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/webhookdb"
)

// place is where a request's hooks are, and the API's path of it.
type place struct {
	webhookdb.Place
	base string
}

func placeOf(c *web.Ctx) place {
	switch {
	case c.Repo != nil:
		return place{webhookdb.OfRepo(c.Repo.ID), web.APIPrefix + "/repos/" + c.Repo.FullName()}
	case c.Account != nil:
		return place{webhookdb.OfAccount(c.Account.ID), web.APIPrefix + "/orgs/" + c.Account.Name}
	}
	return place{webhookdb.OfInstance(), web.APIPrefix + "/admin"}
}

func (s *Service) apiRoutes(r *web.Router) {
	for _, at := range []struct {
		prefix, id string
		access     web.Access
	}{
		{"/repos/{owner}/{repo}", "repos", s.Gate.Repo(model.RoleAdmin)},
		{"/orgs/{owner}", "orgs", s.Gate.AccountAdmin()},
		{"/admin", "enterprise-admin", s.Gate.SiteAdmin()},
	} {
		doc := func(what, summary string, in, out any, status int) *web.Doc {
			return &web.Doc{ID: at.id + "/" + what, Summary: summary, In: in, Out: out, Status: status}
		}
		one := at.prefix + "/hooks/{hook}"
		a := r.API()
		a.Get(at.prefix+"/hooks", at.access, s.apiList, doc("list-webhooks", "List webhooks", nil, []Hook{}, 200))
		a.Post(at.prefix+"/hooks", at.access, s.apiCreate, doc("create-webhook", "Create a webhook", apiInput{}, Hook{}, 201))
		a.Get(one, at.access, s.apiGet, doc("get-webhook", "Get a webhook", nil, Hook{}, 200))
		a.Patch(one, at.access, s.apiChange, doc("update-webhook", "Update a webhook", apiInput{}, Hook{}, 200))
		a.Delete(one, at.access, s.apiRemove, doc("delete-webhook", "Delete a webhook", nil, nil, 204))
		a.Get(one+"/config", at.access, s.apiConfig, doc("get-webhook-config", "Get a webhook's configuration", nil, Config{}, 200))
		a.Patch(one+"/config", at.access, s.apiSetConfig, doc("update-webhook-config", "Update a webhook's configuration", apiConfig{}, Config{}, 200))
		a.Post(one+"/pings", at.access, s.apiPing, doc("ping-webhook", "Ping a webhook", nil, nil, 204))
		a.Get(one+"/deliveries", at.access, s.apiDeliveries, doc("list-webhook-deliveries", "List deliveries of a webhook", nil, []Delivery{}, 200))
		a.Get(one+"/deliveries/{delivery}", at.access, s.apiDelivery, doc("get-webhook-delivery", "Get a delivery of a webhook", nil, FullDelivery{}, 200))
		a.Post(one+"/deliveries/{delivery}/attempts", at.access, s.apiRedeliver,
			doc("redeliver-webhook-delivery", "Redeliver a delivery of a webhook", nil, struct{}{}, 202))
		if at.id == "repos" {
			a.Post(one+"/tests", at.access, s.apiTest, doc("test-push-webhook", "Send a webhook the newest push", nil, nil, 204))
		}
	}
}

// apiInput is GitHub's input for hooks.
type apiInput struct {
	Name   string     `json:"name"`
	Active *bool      `json:"active"`
	Events *[]string  `json:"events"`
	Add    []string   `json:"add_events"`
	Remove []string   `json:"remove_events"`
	Config *apiConfig `json:"config"`
}

// apiConfig is the configuration in GitHub's input. insecure_ssl is taken and
// ignored: certificates are always checked.
type apiConfig struct {
	Format      *string `json:"format"`
	URL         *string `json:"url"`
	ContentType *string `json:"content_type"`
	Secret      *string `json:"secret"`
	InsecureSSL any     `json:"insecure_ssl"`
}

func (a *apiConfig) into(in *Input) {
	if a == nil {
		return
	}
	in.Format, in.URL, in.ContentType, in.Secret = a.Format, a.URL, a.ContentType, a.Secret
	if in.Secret != nil && *in.Secret == "********" {
		in.Secret = nil // what we showed came back
	}
}

func (a *apiInput) input(h *model.Hook) Input {
	in := Input{Active: a.Active, Events: a.Events}
	a.Config.into(&in)
	if len(a.Add)+len(a.Remove) > 0 {
		var list []string
		base := h.Events
		if in.Events != nil {
			base = *in.Events
		}
		drop := map[string]bool{}
		for _, e := range a.Remove {
			drop[e] = true
		}
		for _, e := range append(append([]string{}, base...), a.Add...) {
			if !drop[e] {
				list = append(list, e)
			}
		}
		in.Events = &list
	}
	return in
}

func (s *Service) hook(c *web.Ctx) (*model.Hook, error) {
	id, err := c.ParamInt("hook")
	if err != nil {
		return nil, err
	}
	return webhookdb.Hook(c.Context(), s.DB, placeOf(c).Place, id)
}

func (s *Service) apiList(c *web.Ctx) error {
	p, page := placeOf(c), api.PageOf(c)
	list, err := webhookdb.Hooks(c.Context(), s.DB, p.Place)
	if err != nil {
		return err
	}
	page.LinkTotal(c, len(list))
	from := min(int(page.Offset()), len(list))
	out := []Hook{}
	for _, h := range list[from:min(from+page.PerPage, len(list))] {
		out = append(out, hookOf(c, h, p.Place, p.base))
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiCreate(c *web.Ctx) error {
	var in apiInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if in.Config == nil {
		return hookFault(fault.Field("config", "A hook needs config.url."))
	}
	if in.Name != "" && in.Name != "web" {
		return hookFault(fault.Field("name", "This must be web."))
	}
	p := placeOf(c)
	h, err := s.Create(c.Context(), c.Viewer, p.Place, in.input(&model.Hook{}))
	if err != nil {
		return err
	}
	out := hookOf(c, h, p.Place, p.base)
	c.W.Header().Set("Location", out.URL)
	return c.JSON(http.StatusCreated, out)
}

func (s *Service) apiGet(c *web.Ctx) error {
	h, err := s.hook(c)
	if err != nil {
		return err
	}
	p := placeOf(c)
	return c.JSON(http.StatusOK, hookOf(c, h, p.Place, p.base))
}

func (s *Service) apiChange(c *web.Ctx) error {
	h, err := s.hook(c)
	if err != nil {
		return err
	}
	var in apiInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	p := placeOf(c)
	if err := s.Change(c.Context(), p.Place, h, in.input(h)); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, hookOf(c, h, p.Place, p.base))
}

func (s *Service) apiRemove(c *web.Ctx) error {
	h, err := s.hook(c)
	if err != nil {
		return err
	}
	if err := s.Remove(c.Context(), placeOf(c).Place, h); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiConfig(c *web.Ctx) error {
	h, err := s.hook(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, configOf(h))
}

func (s *Service) apiSetConfig(c *web.Ctx) error {
	h, err := s.hook(c)
	if err != nil {
		return err
	}
	var cfg apiConfig
	if err := c.Decode(&cfg); err != nil {
		return err
	}
	var in Input
	cfg.into(&in)
	if err := s.Change(c.Context(), placeOf(c).Place, h, in); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, configOf(h))
}

func (s *Service) apiPing(c *web.Ctx) error {
	h, err := s.hook(c)
	if err != nil {
		return err
	}
	if err := s.Ping(c.Context(), c.Viewer, placeOf(c).Place, h); err != nil {
		return err
	}
	return c.NoContent()
}

// apiTest sends the newest push of the repository once more.
func (s *Service) apiTest(c *web.Ctx) error {
	h, err := s.hook(c)
	if err != nil {
		return err
	}
	if err := s.Test(c.Context(), c.Repo, h); err != nil {
		return err
	}
	return c.NoContent()
}

// Test sends a hook the newest push of the repository, where it asks for
// pushes and there is one.
func (s *Service) Test(ctx context.Context, repo *model.Repo, h *model.Hook) error {
	list, err := eventdb.List(ctx, s.DB.Events(), eventdb.Filter{RepoID: repo.ID, Types: []string{"git.push"}, Limit: 1})
	if err != nil || len(list) == 0 {
		return err
	}
	m := &messages{s: s, e: list[0]}
	messages, err := m.of(ctx, h)
	if err != nil {
		return err
	}
	for i, msg := range messages {
		if !h.Wants(msg.event) {
			continue
		}
		dl := s.delivery(h, part(m.e.EventID, i), repo.ID, msg)
		dl.Again = true
		if err := s.begin(ctx, webhookdb.OfRepo(repo.ID), []*model.Delivery{dl}, map[int64]*model.Hook{h.ID: h}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) apiDeliveries(c *web.Ctx) error {
	h, err := s.hook(c)
	if err != nil {
		return err
	}
	p := placeOf(c)
	limit := c.QueryInt("per_page", 30, 1, 100)
	cursor, err := strconv.ParseInt(c.Query("cursor"), 10, 64)
	if err != nil {
		cursor = 0
	}
	list, err := webhookdb.Deliveries(c.Context(), s.DB, p.Place, h.ID, cursor, c.Query("event"), limit+1)
	if err != nil {
		return err
	}
	list, more := api.Cut(list, int64(limit))
	if more {
		q := c.R.URL.Query()
		q.Set("cursor", strconv.FormatInt(list[len(list)-1].ID, 10))
		c.W.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next"`, c.URL(c.R.URL.Path+"?"+q.Encode())))
	}
	out := make([]Delivery, len(list))
	for i, dl := range list {
		out[i] = deliveryOf(dl)
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) oneDelivery(c *web.Ctx) (*model.Hook, *model.Delivery, error) {
	h, err := s.hook(c)
	if err != nil {
		return nil, nil, err
	}
	id, err := c.ParamInt("delivery")
	if err != nil {
		return nil, nil, err
	}
	dl, err := webhookdb.Delivery(c.Context(), s.DB, placeOf(c).Place, h.ID, id)
	if err == nil {
		s.sign(h, dl)
	}
	return h, dl, err
}

func (s *Service) apiDelivery(c *web.Ctx) error {
	_, dl, err := s.oneDelivery(c)
	if err != nil {
		return err
	}
	out := FullDelivery{Delivery: deliveryOf(dl), URL: dl.Request.URL, Request: exchange{dl.Request.Headers, payloadOf(dl)}}
	if dl.Response != nil {
		out.Response = exchange{dl.Response.Headers, dl.Response.Body}
	}
	return c.JSON(http.StatusOK, out)
}

// payloadOf is what was sent, as a document where it is one.
func payloadOf(dl *model.Delivery) any {
	if json.Valid([]byte(dl.Request.Body)) {
		return json.RawMessage(dl.Request.Body)
	}
	return dl.Request.Body
}

func (s *Service) apiRedeliver(c *web.Ctx) error {
	h, dl, err := s.oneDelivery(c)
	if err != nil {
		return err
	}
	if err := s.Redeliver(c.Context(), placeOf(c).Place, h, dl); err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, struct{}{})
}
