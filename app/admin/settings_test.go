package admin_test

import (
	"net/http"
	"testing"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
)

// TestSettings changes settings on the page and sees them act.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, func(c *app.Config) {
		c.Env = func(name string) (string, bool) { return "7", name == "GITFOR_STATE_SLEEP_DAYS" }
	})
	admin, bob := s.User(t, "ann"), s.User(t, "bob")
	bob.Get("/admin/settings").Want(http.StatusNotFound)
	bob.Post("/admin/settings", "section", "Limits", "limits.hourly_requests", "60").Want(http.StatusNotFound)
	page := admin.Get("/admin/settings").OK().Has("GITFOR_STATE_SLEEP_DAYS").Has("Nothing was changed yet")
	if _, fixed := page.Find("[name='state.sleep_days']").Attr("disabled"); !fixed {
		t.Error("what the environment sets can be changed")
	}
	admin.Post("/admin/settings", "section", "Limits", "limits.hourly_requests", "lots").Want(http.StatusUnprocessableEntity).
		Has("Type a whole number.").Has(`value="lots"`)
	admin.Post("/admin/settings", "section", "Limits", "limits.hourly_requests", "77").Want(http.StatusSeeOther)
	admin.Get("/admin/settings").OK().Has("Set by ann").Has("15000")
	if got := bob.API(http.MethodGet, "/user", nil).Header.Get("X-RateLimit-Limit"); got != "77" {
		t.Errorf("limit %q", got)
	}
	admin.Post("/admin/settings/reset", "key", "limits.hourly_requests").Want(http.StatusSeeOther)
	if got := bob.API(http.MethodGet, "/user", nil).Header.Get("X-RateLimit-Limit"); got != "15000" {
		t.Errorf("limit after the reset %q", got)
	}
	admin.Post("/admin/settings", "section", "Announcement", "site.announcement", "Down at <six>").Want(http.StatusSeeOther)
	s.Anon().Get("/explore").OK().Has("Down at &lt;six&gt;")
	s.Anon().Get("/signup").OK()
	admin.Post("/admin/settings", "section", "Sign-up", "signup.mode", "closed").Want(http.StatusSeeOther)
	s.Anon().Get("/signup").Want(http.StatusForbidden)
	s.Anon().Post("/signup", "username", "eve", "email", "eve@example.com").Want(http.StatusForbidden)
}
