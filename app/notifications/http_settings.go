package notifications

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/notificationview"
	"github.com/gitfor/gitfor/views/ui"
)

// Shell frames the page of a person's settings with this key.
type Shell func(key string) layout.Shell

// SettingsTab is the page in the list of a person's settings.
func SettingsTab() ui.Tab {
	return ui.Tab{Key: "notifications", Label: "Notifications", Icon: "bell", Href: link.Settings("notifications")}
}

func (s *Service) settings(c *web.Ctx) error {
	account, err := accountdb.ByID(c.Context(), s.DB.Directory(), c.Viewer.ID())
	if err != nil {
		return err
	}
	return s.showSettings(c, settingsOf(account), nil)
}

func (s *Service) showSettings(c *web.Ctx, set model.NotifySettings, errs fault.Fields) error {
	emails, err := accountdb.Emails(c.Context(), s.DB.Directory(), c.Viewer.ID())
	if err != nil {
		return err
	}
	p := notificationview.SettingsProps{Set: set, TimeZone: c.Viewer.User.TimeZone, Errors: ui.Errors(errs)}
	for _, e := range emails {
		if e.VerifiedAt != nil {
			p.Emails = append(p.Emails, e.Email)
		}
	}
	if p.Browsers, err = s.browsers(c); err != nil {
		return err
	}
	for _, r := range offered() {
		p.Reasons = append(p.Reasons, notificationview.ReasonRow{Reason: r, Label: notificationview.Reason(r),
			Hint: notificationview.Why(r, "the repository"), Ways: set.For(r)})
	}
	page := web.Page{Title: "Notifications", Shell: s.SettingsShell("notifications"), Body: notificationview.Settings(p), Props: layout.Props{NoIndex: true, Scripts: []string{"js/push.js"}}}
	if len(errs) > 0 {
		page.Status = http.StatusUnprocessableEntity
	}
	return c.Render(page)
}

// offered are the reasons that something is told for today.
func offered() []string {
	return slices.DeleteFunc(model.ToldReasons(), func(r string) bool { return r == model.ToldSecurity })
}

type settingsInput struct {
	Ways      []string `form:"ways"`
	Digest    string   `form:"digest"`
	Hour      int      `form:"hour"`
	Weekday   int      `form:"weekday"`
	Quiet     bool     `form:"quiet"`
	QuietFrom int      `form:"quiet_from"`
	QuietTo   int      `form:"quiet_to"`
	Email     string   `form:"email"`
}

func (s *Service) settingsSave(c *web.Ctx) error {
	var in settingsInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	set := model.NotifySettings{Reasons: map[string]model.Channels{}, Digest: in.Digest, Hour: in.Hour, Weekday: in.Weekday,
		Quiet: in.Quiet, QuietFrom: in.QuietFrom, QuietTo: in.QuietTo, Email: in.Email}
	chosen := map[string]bool{}
	for _, w := range in.Ways {
		chosen[w] = true
	}
	for _, r := range offered() {
		set.Reasons[r] = model.Channels{Web: chosen["web:"+r], Mail: chosen["mail:"+r], Digest: chosen["digest:"+r], Push: chosen["push:"+r]}
	}
	err := s.SaveSettings(c.Context(), c.Viewer.ID(), set)
	if f := fault.From(err); err != nil && f.Kind == fault.Invalid {
		return s.showSettings(c, set, f.Fields)
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("notifications"), "Saved.")
}

// unsubscribePage asks before it does anything: mail programs and scanners
// open links by themselves.
func (s *Service) unsubscribePage(c *web.Ctx) error {
	u, err := s.parseUnsubscribe(c.Param("token"))
	if err != nil {
		return err
	}
	p := notificationview.UnsubscribeProps{Token: c.Param("token"), Settings: link.Settings("notifications"), Done: c.Query("done") != ""}
	if u.RepoID != 0 {
		// Only what the person may read is named.
		repo, _, err := repodb.FindID(c.Context(), s.DB.Directory(), u.RepoID, u.AccountID)
		if err == nil {
			p.What = repo.FullName()
			if n, err := strconv.ParseInt(u.Key, 10, 64); err == nil {
				p.What += " #" + strconv.FormatInt(n, 10)
			}
		}
	}
	p.Digest = u.Kind == "digest"
	return c.Render(web.Page{Title: "Unsubscribe", Shell: layout.Auth, Body: notificationview.Unsubscribe(p), Props: layout.Props{NoIndex: true}})
}

// unsubscribe is the one click of RFC 8058 and the page's own button.
func (s *Service) unsubscribe(c *web.Ctx) error {
	if err := s.Unsubscribe(c.Context(), c.Param("token")); err != nil {
		return err
	}
	return c.Redirect("/-/unsubscribe/" + c.Param("token") + "?done=1")
}
