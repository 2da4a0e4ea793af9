package notifications_test

import (
	"testing"

	"github.com/gitfor/gitfor/app/apptest/browser"
)

// TestPushInBrowser looks at the page of settings in a browser, and lets the
// worker show what a push tells.
func TestPushInBrowser(t *testing.T) {
	t.Parallel()
	f := newPushForge(t)
	one := newTaker(t)
	one.on(f.bob)
	tab := browser.Open(t, browser.Start(t), f.Server)
	tab.As(f.bob)
	tab.Go("/settings/notifications")
	tab.Wait("[data-push-on]:not([hidden])")
	for _, scheme := range []string{"light", "dark"} {
		tab.Scheme(scheme)
		for name, width := range map[string]int64{"desktop": 1440, "phone": 390} {
			tab.Width(width)
			if wide := tab.Overflow(); wide != "" {
				t.Errorf("%s: %s", name, wide)
			}
			tab.Shot("push-" + scheme + "-" + name)
		}
	}
	state := browser.Eval[string](tab, `navigator.serviceWorker.register("/-/push-worker.js").then((r) => new Promise((done) => {
		const w = r.installing || r.waiting || r.active;
		const look = () => { if (w.state === "activated" || w.state === "redundant") done(w.state); };
		w.addEventListener("statechange", look);
		look();
	}))`)
	if state != "activated" {
		t.Errorf("the worker is %s", state)
	}
	tab.Push(`{"title":"Valve (#1)","body":"ann opened this","url":"/ann/engine/issues/1","tag":"x"}`)
	shown := browser.Eval[string](tab, `(async () => {
		const r = await navigator.serviceWorker.getRegistration("/-/");
		for (;;) {
			const [n] = await r.getNotifications();
			if (n) return n.title + "|" + n.body + "|" + n.data;
			await new Promise(requestAnimationFrame);
		}
	})()`)
	if shown != "Valve (#1)|ann opened this|/ann/engine/issues/1" {
		t.Errorf("the worker shows %q", shown)
	}
	if said := tab.Console(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}
