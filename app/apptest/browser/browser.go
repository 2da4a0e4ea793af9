// Package browser drives a real Chromium against an apptest server: with a
// virtual passkey, two tabs, or for pictures of pages.
package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/gitfor/gitfor/app/apptest"
)

// wait bounds every step of a tab.
const wait = 30 * time.Second

// Start starts a Chromium that ends with the test. Tabs of it share cookies.
func Start(t testing.TB) context.Context {
	t.Helper()
	opts := []chromedp.ExecAllocatorOption{
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-sync", true),
		chromedp.UserDataDir(t.TempDir()),
	}
	if path, err := filepath.EvalSymlinks("/usr/bin/chromium"); err == nil {
		opts = append(opts, chromedp.ExecPath(path))
	}
	alloc, stop := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(stop)
	ctx, done := chromedp.NewContext(alloc)
	t.Cleanup(done)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	return ctx
}

// Tab is one tab. Its methods fail the test when a step does not succeed.
type Tab struct {
	t    testing.TB
	ctx  context.Context
	base string

	mu   sync.Mutex
	said []string
	key  webauthn.AuthenticatorID
	// workers has the registration of the page's service worker once there
	// is one.
	workers chan serviceworker.RegistrationID
}

// Open opens a tab of the browser at the server.
func Open(t testing.TB, browser context.Context, s *apptest.Server) *Tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	tab := &Tab{t: t, ctx: ctx, base: s.URL, workers: make(chan serviceworker.RegistrationID, 1)}
	if err := chromedp.Listen(ctx, tab.listen); err != nil {
		t.Fatal(err)
	}
	tab.do(chromedp.EmulateViewport(1440, 900))
	return tab
}

func (b *Tab) listen(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, "exception: "+e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case *runtime.EventConsoleAPICalled:
		b.said = append(b.said, fmt.Sprintf("console %s", e.Type))
	case *serviceworker.EventWorkerRegistrationUpdated:
		for _, r := range e.Registrations {
			select {
			case b.workers <- r.RegistrationID:
			default:
			}
		}
	case *log.EventEntryAdded:
		b.said = append(b.said, "log: "+e.Entry.Text+" "+e.Entry.URL)
	}
}

// Console is what pages wrote to the console since the last call: errors,
// refused requests and violations of the policy among it.
func (b *Tab) Console() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.said
	b.said = nil
	return out
}

// Do runs steps of chromedp.
func (b *Tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := b.try(steps...); err != nil {
		b.t.Fatalf("%v at %s\n%s", err, b.URL(), b.html())
	}
}

func (b *Tab) try(steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(b.ctx, wait)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

func (b *Tab) html() string {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("main")?.innerText || document.body.innerText`))
	return text
}

// URL is the address of the page shown.
func (b *Tab) URL() string {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	url, _ := chromedp.Run(ctx, chromedp.Location())
	return strings.TrimPrefix(url, b.base)
}

// Go opens a page of the server, or a whole address.
func (b *Tab) Go(path string) {
	b.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.base + path
	}
	b.do(chromedp.Navigate(path))
}

// Fill types text into the field that the selector finds, after emptying it.
func (b *Tab) Fill(selector, text string) {
	b.t.Helper()
	sel := chromedp.CSS(selector)
	b.do(chromedp.WaitVisible(sel), chromedp.Focus(sel))
	Eval[bool](b, fmt.Sprintf(`(document.querySelector(%q).value = "", true)`, selector))
	b.do(chromedp.SendKeys(sel, text))
}

// Click clicks what the selector finds.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	sel := chromedp.CSS(selector)
	b.do(chromedp.WaitVisible(sel), chromedp.Click(sel))
}

// Wait waits until the selector finds something visible.
func (b *Tab) Wait(selector string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(selector)))
}

// WaitText waits until what the selector finds holds the text.
func (b *Tab) WaitText(selector, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((el) => el.innerText.includes(%q))`, selector, text))
}

// WaitURL waits until the tab shows the page of this path, whatever its query.
func (b *Tab) WaitURL(path string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.readyState === "complete" && location.pathname === %q`, path))
}

// until waits for an expression of the page to be true.
func (b *Tab) until(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, wait)
	defer cancel()
	for {
		// A page that is going away refuses to answer.
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		if err == nil && ok {
			return
		}
		select {
		case <-ctx.Done():
			b.t.Fatalf("never true at %s: %s (%v)\n%s", b.URL(), expression, err, b.html())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Text is the visible text of what the selector finds first.
func (b *Tab) Text(selector string) string {
	b.t.Helper()
	return Eval[string](b, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector))
}

// Eval evaluates an expression, a promise too, in the page.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, wait)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// As signs the tab in as the client.
func (b *Tab) As(c *apptest.Client) {
	b.t.Helper()
	for name, value := range c.Jar.Cookies() {
		_, err := chromedp.Call(b.ctx, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: b.base, HTTPOnly: new(true)})
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

// Scheme makes the tab prefer dark or light colours.
func (b *Tab) Scheme(name string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// Width makes the window this wide.
func (b *Tab) Width(pixels int64) { b.t.Helper(); b.do(chromedp.EmulateViewport(pixels, 900)) }

// Shot writes a picture of the whole page into the folder that the
// environment names in GITFOR_SHOTS; without it, nothing.
func (b *Tab) Shot(name string) {
	b.t.Helper()
	dir := os.Getenv("GITFOR_SHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, wait)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// Overflow names what is wider than the window, "" for nothing.
func (b *Tab) Overflow() string {
	b.t.Helper()
	return Eval[string](b, `(() => {
		const w = document.documentElement.clientWidth;
		if (document.documentElement.scrollWidth <= w) return "";
		return [...document.body.querySelectorAll("*")].filter((el) => el.getBoundingClientRect().right > w + 1)
			.slice(0, 5).map((el) => el.tagName + "." + el.className).join(" | ") || "document";
	})()`)
}

// Axe names what axe-core finds seriously wrong for people with disabilities
// on the page, "" for nothing. script is where npm put it.
func (b *Tab) Axe(script string) string {
	b.t.Helper()
	axe, err := os.ReadFile(script) //nolint:gosec // a file of the project
	if err != nil {
		b.t.Fatalf("%v (npm ci installs it)", err)
	}
	Eval[bool](b, string(axe)+"; true")
	return Eval[string](b, `axe.run(document, { resultTypes: ["violations"] }).then((r) =>
		r.violations.filter((v) => v.impact === "serious" || v.impact === "critical")
			.map((v) => v.id + ": " + v.nodes.slice(0, 4).map((n) => n.html.slice(0, 160) + " // " + (n.any[0]?.message || "")).join("\n    "))
			.join("\n"))`)
}
