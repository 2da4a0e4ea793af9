package notifications_test

import (
	"testing"

	"github.com/gitfor/gitfor/app/apptest/browser"
)

// TestWatch tells watchers of the kinds that they chose.
func TestWatch(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.cas.Post("/ann/engine/subscription", "level", "custom").Want(422)
	f.cas.Post("/ann/engine/subscription", "level", "custom", "kinds", "bread").Want(422)
	f.cas.Post("/ann/engine/subscription", "level", "custom", "kinds", "release", "kinds", "pull").Want(303)
	f.bob.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "One"}).Want(201)
	f.settle(t)
	if rows := list(t, f.cas, ""); len(rows) != 0 {
		t.Errorf("told of an issue: %+v", rows)
	}
	f.ann.API("POST", "/repos/ann/engine/releases", map[string]any{"tag_name": "v1", "name": "First"})
	f.ann.API("PUT", "/repos/ann/engine/contents/a", map[string]any{"message": "a", "content": "YQ=="}).Want(201)
	f.ann.API("POST", "/repos/ann/engine/releases", map[string]any{"tag_name": "v2", "name": "Second"}).Want(201)
	f.settle(t)
	rows := list(t, f.cas, "")
	if len(rows) != 1 || rows[0].Subject.Type != "Release" || rows[0].Subject.Title != "Second" {
		t.Errorf("of a release: %+v", rows)
	} else {
		f.cas.Get("/notifications/" + rows[0].ID).Want(303)
		if rows = list(t, f.cas, ""); len(rows) != 0 {
			t.Error("not read by opening it")
		}
	}
	if got := f.cas.Get("/ann/engine").OK().Find("input[name=kinds][checked]").Length(); got != 2 {
		t.Errorf("%d kinds are checked", got)
	}
	f.cas.API("PUT", "/repos/ann/engine/subscription", map[string]any{"ignored": true}).OK()
	f.bob.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "Two", "body": "@cas"}).Want(201)
	f.settle(t)
	if rows := list(t, f.cas, ""); len(rows) != 0 {
		t.Errorf("told though ignored: %+v", rows)
	}
}

// TestKeys works an inbox in a browser that is open while things happen.
func TestKeys(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	tab := browser.Open(t, browser.Start(t), f.Server)
	tab.As(f.ann)
	tab.Width(1440)
	tab.Go("/notifications")
	tab.WaitText("main", "Your inbox is empty.")
	f.bob.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "It smokes", "body": "@ann"}).Want(201)
	tab.WaitText("#turns", "It smokes")
	tab.Wait(`#inbox-link[data-unread="1"]`)
	f.bob.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "It burns"}).Want(201)
	tab.WaitText("#rows", "It burns")
	press := func(key string) {
		browser.Eval[bool](tab, `(() => { (document.activeElement || document.body).dispatchEvent(new KeyboardEvent("keydown", { key: "`+key+`", bubbles: true, cancelable: true })); return true })()`)
	}
	press("j")
	tab.Wait("#turns [data-row][data-cursor]")
	press("e")
	tab.WaitText("main", "1 notification done.")
	tab.WaitURL("/notifications")
	tab.WaitText("#rows", "It burns")
	tab.Wait(`#inbox-link[data-unread="1"]`)
	press("z")
	tab.WaitText("#toasts", "as it was before")
	tab.WaitText("#turns", "It smokes")
	tab.WaitURL("/notifications")
	press("j")
	press("s")
	tab.WaitText("#turns", "Saved")
	tab.WaitURL("/notifications")
	// The palette by keys.
	press("/")
	tab.Wait("#palette[open]")
	tab.Fill("#palette input", "engi")
	tab.WaitText("#palette-options", "ann/engine")
	if said := tab.Console(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
	tab.Width(390)
	tab.Go("/notifications")
	if wide := browser.Eval[bool](tab, "document.documentElement.scrollWidth > innerWidth"); wide {
		t.Error("the page scrolls sideways on a phone")
	}
}
