package webhooks

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/webhookdb"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
	"github.com/gitfor/gitfor/views/webhookview"
)

// Section is the page of a repository's settings that webhooks add.
func Section() repos.SettingsSection {
	return repos.SettingsSection{Key: "hooks", Label: "Webhooks", Icon: "webhook"}
}

func (s *Service) pageRoutes(r *web.Router) {
	for _, at := range []struct {
		base   string
		access web.Access
	}{
		{"/{owner}/{repo}/settings/hooks", s.Gate.Repo(model.RoleAdmin)},
		{"/organizations/{owner}/settings/hooks", s.Gate.AccountAdmin()},
		{"/admin/hooks", s.Gate.SiteAdmin()},
	} {
		base, admin := at.base, at.access
		r.Get(base, admin, noPerson(s.list))
		r.Post(base, admin, noPerson(s.create))
		r.Get(base+"/new", admin, noPerson(s.newForm))
		r.Get(base+"/{hook}", admin, noPerson(s.show))
		r.Post(base+"/{hook}", admin, noPerson(s.save))
		r.Post(base+"/{hook}/delete", admin, noPerson(s.destroy))
		r.Post(base+"/{hook}/pings", admin, noPerson(s.ping))
		r.Post(base+"/{hook}/redeliveries", admin, noPerson(s.redeliverFailed))
		r.Get(base+"/{hook}/deliveries/{delivery}", admin, noPerson(s.delivered))
		r.Post(base+"/{hook}/deliveries/{delivery}/attempts", admin, noPerson(s.redeliver))
	}
}

// noPerson is for organisations only: a person has no page of webhooks.
func noPerson(h web.Handler) web.Handler {
	return func(c *web.Ctx) error {
		if c.Repo == nil && c.Account != nil && c.Account.IsUser() {
			return db.ErrNotFound
		}
		return h(c)
	}
}

func pagePlace(c *web.Ctx) webhookview.Place {
	switch {
	case c.Repo != nil:
		return webhookview.Place{Base: link.RepoSettings(c.Repo.Owner.Name, c.Repo.Name, "hooks"), Whose: "this repository"}
	case c.Account != nil:
		return webhookview.Place{Base: link.OrgSettings(c.Account.Name, "hooks"), Whose: c.Account.Name + " and all its repositories"}
	}
	return webhookview.Place{Base: link.Admin("hooks"), Whose: "the whole instance"}
}

func (s *Service) page(c *web.Ctx, status int, title string, body templ.Component) error {
	p := web.Page{Status: status, Body: body}
	switch {
	case c.Repo != nil:
		shell, err := s.Repos.SettingsShell(c, "hooks")
		if err != nil {
			return err
		}
		p.Shell, p.Title = shell, title+" · "+c.Repo.FullName()
	case c.Account != nil:
		p.Shell, p.Title = s.Accounts.OrgShell(c, "hooks"), title+" · "+c.Account.Name
	default:
		p.Shell, p.Title = layout.AdminShell("hooks"), title+" · Administration"
	}
	return c.Render(p)
}

func (s *Service) list(c *web.Ctx) error {
	hooks, err := webhookdb.Hooks(c.Context(), s.DB, placeOf(c).Place)
	if err != nil {
		return err
	}
	return s.page(c, http.StatusOK, "Webhooks", webhookview.List(webhookview.ListProps{Place: pagePlace(c), Hooks: hooks}))
}

func (s *Service) newForm(c *web.Ctx) error {
	h := &model.Hook{Active: true, Format: model.HookGitfor, ContentType: "json", Events: []string{"*"}}
	return s.page(c, http.StatusOK, "Add webhook", webhookview.New(formProps(c, h, nil)))
}

func formProps(c *web.Ctx, h *model.Hook, errs ui.Errors) webhookview.FormProps {
	return webhookview.FormProps{Place: pagePlace(c), Hook: h, Events: strings.Join(h.Events, "\n"), Errors: errs}
}

// hookForm is the form of a hook.
type hookForm struct {
	URL         string `form:"url"`
	Events      string `form:"events"`
	Format      string `form:"format"`
	ContentType string `form:"content_type"`
	Secret      string `form:"secret"`
	NoSecret    bool   `form:"no_secret"`
	Active      bool   `form:"active"`
}

func (f hookForm) input() Input {
	list := strings.FieldsFunc(f.Events, func(r rune) bool { return strings.ContainsRune(" ,\t\r\n", r) })
	in := Input{URL: &f.URL, Events: &list, Format: &f.Format, ContentType: &f.ContentType, Active: &f.Active}
	if f.Secret != "" || f.NoSecret {
		in.Secret = &f.Secret
	}
	return in
}

// refused shows the form again with what was typed and what is wrong.
func (s *Service) refused(c *web.Ctx, h *model.Hook, f hookForm, err error) error {
	what := fault.From(err)
	if what.Kind != fault.Invalid {
		return err
	}
	errs := ui.Errors(what.Fields)
	if msg := errs["base"]; msg != "" {
		errs[""] = msg
	}
	typed := *h
	in := f.input()
	in.apply(&typed)
	typed.Secret = h.Secret
	props := formProps(c, &typed, errs)
	props.Events = f.Events
	body := webhookview.New(props)
	if h.ID != 0 {
		body = webhookview.Show(webhookview.ShowProps{FormProps: props})
	}
	return s.page(c, http.StatusUnprocessableEntity, "Webhook", body)
}

func (s *Service) create(c *web.Ctx) error {
	var f hookForm
	if err := c.Decode(&f); err != nil {
		return err
	}
	h, err := s.Create(c.Context(), c.Viewer, placeOf(c).Place, f.input())
	if err != nil {
		return s.refused(c, &model.Hook{}, f, err)
	}
	return c.RedirectFlash(pagePlace(c).Base+"/"+strconv.FormatInt(h.ID, 10), "The webhook is added.")
}

func (s *Service) save(c *web.Ctx) error {
	h, err := s.hook(c)
	if err != nil {
		return err
	}
	var f hookForm
	if err := c.Decode(&f); err != nil {
		return err
	}
	kept := *h
	if err := s.Change(c.Context(), placeOf(c).Place, h, f.input()); err != nil {
		return s.refused(c, &kept, f, err)
	}
	return s.back(c, h, "The webhook is saved.")
}

func (s *Service) back(c *web.Ctx, h *model.Hook, message string) error {
	return c.RedirectFlash(pagePlace(c).Base+"/"+strconv.FormatInt(h.ID, 10), message)
}

const shownDeliveries = 30

func (s *Service) show(c *web.Ctx) error {
	h, err := s.hook(c)
	if err != nil {
		return err
	}
	cursor, err := strconv.ParseInt(c.Query("before"), 10, 64)
	if err != nil {
		cursor = 0
	}
	query := strings.TrimSpace(c.Query("q"))
	list, err := webhookdb.Deliveries(c.Context(), s.DB, placeOf(c).Place, h.ID, cursor, query, shownDeliveries+1)
	if err != nil {
		return err
	}
	list, more := api.Cut(list, shownDeliveries)
	p := webhookview.ShowProps{FormProps: formProps(c, h, nil), Deliveries: list, Query: query}
	for _, dl := range list {
		p.Failed = p.Failed || dl.State == model.DeliveryFailed
	}
	if more {
		q := url.Values{"before": {strconv.FormatInt(list[len(list)-1].ID, 10)}}
		if query != "" {
			q.Set("q", query)
		}
		p.Older = "?" + q.Encode()
	}
	return s.page(c, http.StatusOK, "Webhook", webhookview.Show(p))
}

func (s *Service) destroy(c *web.Ctx) error {
	h, err := s.hook(c)
	if err != nil {
		return err
	}
	if err := s.Remove(c.Context(), placeOf(c).Place, h); err != nil {
		return err
	}
	return c.RedirectFlash(pagePlace(c).Base, "The webhook is deleted.")
}

func (s *Service) ping(c *web.Ctx) error {
	h, err := s.hook(c)
	if err != nil {
		return err
	}
	if err := s.Ping(c.Context(), c.Viewer, placeOf(c).Place, h); err != nil {
		return err
	}
	return s.back(c, h, "A ping is on its way.")
}

func (s *Service) delivered(c *web.Ctx) error {
	h, dl, err := s.oneDelivery(c)
	if err != nil {
		return err
	}
	return s.page(c, http.StatusOK, "Delivery", webhookview.Delivery(webhookview.DeliveryProps{Place: pagePlace(c), Hook: h, Delivery: dl}))
}

func (s *Service) redeliver(c *web.Ctx) error {
	h, dl, err := s.oneDelivery(c)
	if err != nil {
		return err
	}
	if err := s.Redeliver(c.Context(), placeOf(c).Place, h, dl); err != nil {
		return err
	}
	return s.back(c, h, "It is on its way again.")
}

func (s *Service) redeliverFailed(c *web.Ctx) error {
	h, err := s.hook(c)
	if err != nil {
		return err
	}
	n, err := s.RedeliverFailed(c.Context(), placeOf(c).Place, h)
	if err != nil {
		return err
	}
	return s.back(c, h, strconv.Itoa(n)+" deliveries are on their way again.")
}

// RedeliverFailed sends again what failed among the hook's newest deliveries
// and was not sent again since; it returns how many those are.
func (s *Service) RedeliverFailed(ctx context.Context, p webhookdb.Place, h *model.Hook) (int, error) {
	list, err := webhookdb.Deliveries(ctx, s.DB, p, h.ID, 0, "", 100)
	if err != nil {
		return 0, err
	}
	n, settled := 0, map[string]bool{} // newest first: what came after counts
	for _, dl := range list {
		if dl.State == model.DeliveryFailed && !settled[dl.EventID] {
			if err := s.Redeliver(ctx, p, h, dl); err != nil {
				return n, err
			}
			n++
		}
		settled[dl.EventID] = true
	}
	return n, nil
}
