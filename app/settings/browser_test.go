package settings_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/apptest/browser"
)

// Every page at both widths and in both schemes: nothing is wider than the
// window, and nothing is written to the console.
func TestPagesInBrowser(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	s.User(t, "bob").API(http.MethodPut, "/user/following/ann", nil).Want(204)
	ann.Post("/settings/profile", "display_name", "Ann Example", "bio", "Builds bridges between old and new.", "website", "https://example.com/a/rather/long/address",
		"location", "Hamburg", "company", "Acme", "public_email", "ann@example.com").Want(303)
	ann.API(http.MethodPost, "/user/repos", map[string]any{"name": "bridge", "description": "A bridge from here to there"}).Want(201)
	ann.API(http.MethodPost, "/user/repos", map[string]any{"name": "notes", "private": true}).Want(201)
	ann.Post("/settings/keys/ssh", "key", edKey(t)+" ann@laptop").Want(303)
	ann.Post("/settings/emails", "email", "a.much.longer.address.than.usual@subdomain.example.com").Want(303)
	ann.Post("/organizations/new", "name", "acme", "display_name", "Acme Inc").Want(303)
	s.As(t, ann.Account)
	b := browser.Open(t, browser.Start(t), s)
	b.Key(nil)
	strangers := []string{"/signup", "/login", "/login/recovery"}
	for _, page := range strangers {
		look(t, b, page)
	}
	b.As(ann)
	for _, page := range pages {
		look(t, b, "/settings/"+page)
	}
	for _, page := range []string{"/ann", "/ann?tab=followers", "/acme", "/orgs/acme/people", "/organizations/new", "/logout"} {
		look(t, b, page)
	}
}

func look(t *testing.T, b *browser.Tab, page string) {
	t.Helper()
	for _, width := range []int64{1440, 390} {
		b.Width(width)
		for _, scheme := range []string{"light", "dark"} {
			b.Scheme(scheme)
			b.Go(page)
			if wide := b.Overflow(); wide != "" {
				t.Errorf("%s at %d: wider than the window: %s", page, width, wide)
			}
			name := strings.Trim(strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(page), "-")
			b.Shot(fmt.Sprintf("%s-%d-%s", name, width, scheme))
		}
	}
	if faults := b.Axe("../../node_modules/axe-core/axe.min.js"); faults != "" {
		t.Errorf("%s: axe:\n%s", page, faults)
	}
	if said := b.Console(); len(said) > 0 {
		t.Errorf("%s: console: %q", page, said)
	}
}
