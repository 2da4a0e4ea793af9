package issues_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/gitfor/gitfor/app/apptest"
)

var shots = flag.String("shots", "", "write screenshots of the pages into this folder")

// browser starts Chromium; each person is a tab with cookies of their own.
func browser(t *testing.T) context.Context {
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

// tab is a page in the browser; its methods fail the test.
type tab struct {
	t    *testing.T
	ctx  context.Context
	mu   sync.Mutex
	said []string
}

// person opens a tab in a profile of its own, signed in as c.
func person(t *testing.T, root context.Context, s *apptest.Server, c *apptest.Client) *tab {
	t.Helper()
	own, closeTab := chromedp.NewContext(root, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(own, 2*time.Minute)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	err := chromedp.Listen(ctx, func(ev any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			p.said = append(p.said, "exception: "+e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			p.said = append(p.said, fmt.Sprintf("console %s", e.Type))
		case *log.EventEntryAdded:
			// An edit form in place takes the focus only where nobody has it.
			if !strings.HasPrefix(e.Entry.Text, "Autofocus processing was blocked") {
				p.said = append(p.said, "log: "+e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range c.Jar.Cookies() {
		p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: s.URL})
			return err
		}))
	}
	return p
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) open(url string, width int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(url))
	p.eval("document.fonts.ready.then(() => 1)")
}

func (p *tab) eval(js string) string {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[string]("Promise.resolve("+js+").then(String)", chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// until waits, in the page, for an expression to be true.
func (p *tab) until(what, js string) {
	p.t.Helper()
	if p.eval(`new Promise((done) => { const end = Date.now() + 15000; const look = () => (`+js+`) ? done("yes") : Date.now() > end ? done("no") : setTimeout(look, 20); look(); })`) != "yes" {
		p.t.Fatalf("waited in vain: %s; the page says %.500s", what, p.eval("document.querySelector('main').innerText"))
	}
}

// typeIn types a text into a field as a person does.
func (p *tab) typeIn(sel, text string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(chromedp.CSS(sel), text))
}

func (p *tab) click(sel string) { p.t.Helper(); p.do(chromedp.Click(chromedp.CSS(sel))) }

// quiet fails the test when the page wrote to the console.
func (p *tab) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.said) > 0 {
		p.t.Errorf("console: %s", strings.Join(p.said, "; "))
	}
	p.said = nil
}

const overflow = `(() => { const wide = [...document.querySelectorAll("body *")].filter((e) => { const r = e.getBoundingClientRect(); return r.width && r.right > innerWidth + 1 && !e.closest("[class*=overflow-x-auto], .tabrow, pre, table, .menu-panel, dialog") && getComputedStyle(e).position !== "fixed"; }); return document.documentElement.scrollWidth > innerWidth + 1 ? wide.slice(0, 3).map((e) => e.outerHTML.slice(0, 120)).join("\n") || "the page" : ""; })()`

const runAxe = `axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + (n.any[0]?.message || "")).join("\n  ")).join("\n"))`

// sample fills a repository with what pages show.
func sample(t *testing.T, ada, bob *apptest.Client) {
	t.Helper()
	mk := func(in map[string]any) {
		ada.API(http.MethodPost, "/repos/ada/engine/issues", in).Want(http.StatusCreated)
	}
	ada.API(http.MethodPost, "/repos/ada/engine/milestones", map[string]any{"title": "First run", "due_on": "2030-05-01T00:00:00Z", "description": "All that the **first run** needs."}).Want(http.StatusCreated)
	mk(map[string]any{"title": "The mill stops when the barrel turns past its last stud", "labels": []string{"bug", "help wanted"}, "assignees": []string{"ada"}, "milestone": 1,
		"body": "It stops, and should not.\n\n1. turn the barrel\n2. wait\n\n```go\nfunc (b *Barrel) Turn() error { return errStud }\n```\n\n- [x] seen\n- [ ] mended\n\nSee #2 and ask @bob."})
	mk(map[string]any{"title": "Cards of more than `80` columns are cut without a word, which a very long title like this one says at length", "labels": []string{"enhancement", "good first issue", "documentation"}})
	for _, title := range []string{"Print the table of Bernoulli numbers", "Store of numbers: a thousand columns", "A quieter carriage"} {
		mk(map[string]any{"title": title, "labels": []string{"question"}})
	}
	bob.API(http.MethodPost, "/repos/ada/engine/issues/1/comments", map[string]any{"body": "It does that here too:\n\n> It stops\n\n| turn | result |\n|---|---|\n| 1 | ok |\n| 2 | stops |"}).Want(http.StatusCreated)
	bob.Post("/ada/engine/issues/1/reactions", "content", "+1").Want(http.StatusSeeOther)
	ada.API(http.MethodPatch, "/repos/ada/engine/issues/1", map[string]any{"title": "The mill stops past the last stud"}).OK()
	ada.Post("/ada/engine/issues/2/comments", "body", "Not now.", "do", "not_planned").Want(http.StatusSeeOther)
	ada.Post("/ada/engine/issues/1/children", "add", "3").Want(http.StatusSeeOther)
	ada.Post("/ada/engine/issues/4/pin", "on", "true").Want(http.StatusSeeOther)
	ada.API(http.MethodPatch, "/repos/ada/engine/issues/1", map[string]any{"state": "closed"}).OK()
	ada.API(http.MethodPatch, "/repos/ada/engine/issues/1", map[string]any{"state": "open"}).OK()
}

// Every page, light and dark, wide and on a phone: nothing overflows, nothing
// is written to the console, and axe finds no serious fault.
func TestPagesInBrowser(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	bob := s.User(t, "bob")
	sample(t, ada, bob)
	p := person(t, browser(t), s, ada)
	look(t, s, p, "issues", "issues?q=is%3Aclosed+zzz", "issues/1", "issues/2", "issues/new", "labels", "milestones", "milestone/1", "milestones/new",
		"issues/1/transfer", "issues/1/edit", "issues/1/delete")
}

// The same of releases and of what a person keeps for writing.
func TestMorePagesInBrowser(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	at := "/repos/ada/engine/releases"
	ada.API(http.MethodPut, "/repos/ada/engine/contents/README.md", map[string]any{"message": "start", "content": "IyBFbmdpbmUK"}).Want(http.StatusCreated)
	one := ada.API(http.MethodPost, at, map[string]any{"tag_name": "v1.0.0", "name": "The first that runs", "body": "## What changed\n* It **runs** by @ada\n\n| a | b |\n|---|---|\n| 1 | 2 |"}).Want(http.StatusCreated).JSON()
	ada.API(http.MethodPost, at, map[string]any{"tag_name": "v1.1.0-a-very-long-name-for-a-pre-release-that-nobody-should-choose", "prerelease": true}).Want(http.StatusCreated)
	ada.API(http.MethodPost, at, map[string]any{"tag_name": "v2.0.0", "draft": true, "name": "The next"}).Want(http.StatusCreated)
	up := ada.Do(http.MethodPost, fmt.Sprintf("/api/uploads/repos/ada/engine/releases/%v/assets?name=engine-linux-amd64.tar.gz", one["id"]), strings.NewReader("steam"),
		"Authorization", "Bearer "+ada.Token, "Content-Type", "application/gzip")
	up.Want(http.StatusCreated)
	ada.Post("/settings/replies", "title", "Thanks", "body", "Thank you!").Want(http.StatusSeeOther)
	p := person(t, browser(t), s, ada)
	look(t, s, p, "releases", "releases?q=nothing", "releases/tag/v1.0.0", "releases/new", fmt.Sprintf("releases/%v/edit", one["id"]), "tags", "../../settings/replies")

	// The menu of replies is fetched when it is opened.
	ada.API(http.MethodPost, "/repos/ada/engine/issues", map[string]any{"title": "One"}).Want(http.StatusCreated)
	p.open(s.URL+"/ada/engine/issues/1", 1280)
	p.eval(`[...document.querySelectorAll("summary")].find((el) => el.textContent.includes("Saved replies")).click()`)
	p.until("the menu", `!!document.querySelector("[data-insert]")`)
	p.eval(`document.querySelector("[data-insert]").click()`)
	p.until("the reply", `document.getElementById("reply-body").value === "Thank you!"`)
}

// look opens pages of ada's repository in every way that they are read.
func look(t *testing.T, s *apptest.Server, p *tab, paths ...string) {
	t.Helper()
	axe, err := os.ReadFile("../../node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v (npm ci installs it)", err)
	}
	for _, path := range paths {
		for _, width := range []int64{1440, 390} {
			for _, theme := range []string{"light", "dark"} {
				name := fmt.Sprintf("%s-%d-%s", path, width, theme)
				p.open(s.URL+"/ada/engine/"+path, width)
				p.eval(fmt.Sprintf("document.documentElement.dataset.theme = %q", theme))
				p.eval("Promise.all(document.getAnimations().map((a) => a.finished)).then(() => 1)")
				if wide := p.eval(overflow); wide != "" {
					t.Errorf("%s is wider than the window: %s", name, wide)
				}
				if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[chromedp.Void](string(axe))); err != nil {
					t.Fatal(err)
				}
				if faults := p.eval(runAxe); faults != "" {
					t.Errorf("%s: axe: %s", name, faults)
				}
				if *shots != "" {
					png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
					if err == nil {
						err = os.WriteFile(filepath.Join(*shots, url.PathEscape(name)+".png"), png, 0o644)
					}
					check(t, err)
				}
			}
		}
		p.quiet()
	}
}

// What is being written survives the browser: another profile of the same
// person goes on with it, and once it is sent nobody does.
func TestDraftElsewhere(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	post(ada, "x", "y").Want(http.StatusSeeOther)
	root, page := browser(t), s.URL+"/ada/engine/issues/1"
	one := person(t, root, s, ada)
	one.open(page, 1200)
	one.typeIn("#reply-body", "half a thought")
	one.until("the draft on the server", `(window.asked = window.asked || setInterval(() => fetch("/-/drafts?key=" + encodeURIComponent(document.querySelector("#reply-form").dataset.draft)).then((r) => { window.kept = r.status === 200; }), 200)) && window.kept`)
	two := person(t, root, s, ada)
	two.open(page, 1200)
	two.until("the draft elsewhere", `document.querySelector("#reply-body").value === "half a thought"`)
	two.typeIn("#reply-body", ", whole")
	two.click("#reply-form .btn.primary")
	two.until("the comment", `document.querySelector("#timeline").innerText.includes("whole")`)
	two.until("an empty field", `document.querySelector("#reply-body").value === ""`)
	two.until("no draft on the server", `(window.asked = window.asked || setInterval(() => fetch("/-/drafts?key=" + encodeURIComponent(document.querySelector("#reply-form").dataset.draft)).then((r) => { window.gone = r.status === 204; }), 200)) && window.gone`)
	three := person(t, root, s, ada)
	three.open(page, 1200)
	three.until("the page", `document.querySelector("#reply-form").dataset.drafted !== undefined`)
	if got := three.eval(`new Promise((done) => setTimeout(() => done(document.querySelector("#reply-body").value), 500))`); got != "" {
		t.Errorf("what was sent comes back: %q", got)
	}
	one.quiet()
	two.quiet()
}

// What the first writes appears in the second's page by itself, and what the
// second is typing stays.
func TestTwoBrowsers(t *testing.T) {
	t.Parallel()
	s := apptest.NewWorking(t)
	ada, bob := s.User(t, "ada"), s.User(t, "bob")
	ada.API(http.MethodPost, "/user/repos", map[string]any{"name": "engine"}).Want(http.StatusCreated)
	post(ada, "x", "- [ ] one\n- [ ] two").Want(http.StatusSeeOther)
	root := browser(t)
	one, two := person(t, root, s, ada), person(t, root, s, bob)
	page := s.URL + "/ada/engine/issues/1"
	one.open(page, 1200)
	two.open(page, 1200)
	two.typeIn("#reply-body", "what bob is typing")
	one.typeIn("#reply-body", "hello from ada")
	one.click("#reply-form .btn.primary")
	one.until("ada's own comment", `document.querySelector("#timeline")?.innerText.includes("hello from ada")`)
	if got := one.eval(`document.querySelector("#reply-body").value`); got != "" {
		t.Errorf("the field still holds %q", got)
	}
	two.until("ada's comment at bob's", `document.querySelector("#timeline").innerText.includes("hello from ada")`)
	if got := two.eval(`document.querySelector("#reply-body").value`); got != "what bob is typing" {
		t.Errorf("bob's text became %q", got)
	}
	// Ada ticks a box; bob sees it ticked.
	one.click("#post-body input[data-task='1']")
	two.until("the tick", `document.querySelector("#post-body input[data-task='1']").checked`)
	// Bob has a comment open for editing while ada closes the issue.
	two.click("#reply-form .btn.primary")
	two.until("bob's comment", `document.querySelectorAll("#timeline article").length === 3`)
	two.eval(`document.querySelector("#timeline article:last-of-type") && htmx.trigger([...document.querySelectorAll("#timeline a.menu-item")].filter((a) => a.href.endsWith("/edit")).pop(), "click")`)
	two.until("the form", `document.querySelector("#timeline textarea")`)
	two.typeIn("#timeline textarea", " and more")
	one.eval(`fetch("/ada/engine/issues/1/comments", { method: "POST", body: new URLSearchParams({ do: "close" }) }).then((r) => r.status)`)
	two.until("the line", `document.querySelector("#timeline").innerText.includes("closed this as completed")`)
	two.until("the state", `document.querySelector("#thread-head").innerText.includes("Closed")`)
	if got := two.eval(`document.querySelector("#timeline textarea").value`); !strings.Contains(got, "and more") {
		t.Errorf("the form's text became %q", got)
	}
	one.quiet()
	two.quiet()
}
