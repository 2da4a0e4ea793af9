package browser

import (
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"
)

// Push gives the page's service worker a push, as a push service would, and
// lets it show notifications.
func (b *Tab) Push(data string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{Origin: b.base,
		Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"}, Setting: cdpbrowser.PermissionSettingGranted}); err != nil {
		b.t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, serviceworker.Enable, cdp.Empty{}); err != nil {
		b.t.Fatal(err)
	}
	var id serviceworker.RegistrationID
	select {
	case id = <-b.workers:
	case <-time.After(wait):
		b.t.Fatal("the page has no service worker")
	}
	if _, err := chromedp.Call(b.ctx, serviceworker.DeliverPushMessage,
		serviceworker.DeliverPushMessageParams{Origin: b.base, RegistrationID: id, Data: data}); err != nil {
		b.t.Fatal(err)
	}
}
