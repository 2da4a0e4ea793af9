package book_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"
	"github.com/gitfor/gitfor/views/book"
	"github.com/gitfor/gitfor/views/link"
)

var shots = flag.String("shots", "", "write screenshots of every page into this folder")

// browser starts Chromium; each page is a tab of it.
func browser(t *testing.T) context.Context {
	t.Helper()
	opts := []chromedp.ExecAllocatorOption{
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-sync", true), chromedp.UserDataDir(t.TempDir()),
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

type visit struct {
	name, url string
	width     int64
}

func visits(base string) []visit {
	var out []visit
	for _, width := range []int64{1440, 390} {
		for _, theme := range []string{"light", "dark", "contrast"} {
			out = append(out, visit{fmt.Sprintf("book-%s-%d", theme, width), base + link.Book() + "?theme=" + theme, width})
		}
		out = append(out, visit{fmt.Sprintf("book-cb-%d", width), base + link.Book() + "?theme=dark&diff=cb", width})
		for _, f := range book.Frames() {
			theme := "light"
			if f == "repo" || f == "settings" {
				theme = "dark"
			}
			out = append(out, visit{fmt.Sprintf("frame-%s-%d", f, width), base + link.Book() + "?frame=" + f + "&theme=" + theme, width})
		}
	}
	return out
}

// Every page of the book, in each theme and at both widths: nothing overflows
// sideways, nothing is written to the console, and axe finds no serious fault.
func TestPagesInBrowser(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("../../node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v (npm ci installs it)", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", book.Server())
	mux.HandleFunc("GET "+link.Live(), func(w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, nil); err == nil {
			<-c.CloseRead(r.Context()).Done()
		}
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	root := browser(t)
	for _, v := range visits(srv.URL) {
		t.Run(v.name, func(t *testing.T) { check(t, root, v, string(axe)) })
	}
}

func check(t *testing.T, root context.Context, v visit, axe string) {
	tab, closeTab := chromedp.NewContext(root)
	defer closeTab()
	var mu sync.Mutex
	var said []string
	if err := chromedp.Listen(tab, func(ev any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			said = append(said, fmt.Sprintf("exception: %s", e.ExceptionDetails.Text))
		case *runtime.EventConsoleAPICalled:
			said = append(said, fmt.Sprintf("console %s", e.Type))
		case *log.EventEntryAdded:
			// The page of an error is itself an error to the browser's log.
			if !strings.Contains(e.Entry.Text, "the server responded with a status of") || !strings.Contains(v.url, "frame="+fmt.Sprint(statusIn(e.Entry.Text))) {
				said = append(said, "log: "+e.Entry.Text)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tab, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(v.width, 900), chromedp.Navigate(v.url)); err != nil {
		t.Fatal(err)
	}
	await := chromedp.EvalAwaitPromise
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.fonts.ready.then(() => true)`, await)); err != nil {
		t.Fatal(err)
	}
	wide, err := chromedp.Run(ctx, chromedp.Evaluate[string](overflow))
	if err != nil {
		t.Fatal(err)
	}
	if wide != "" {
		t.Errorf("wider than the window: %s", wide)
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](axe)); err != nil {
		t.Fatal(err)
	}
	faults, err := chromedp.Run(ctx, chromedp.Evaluate[string](runAxe, await))
	if err != nil {
		t.Fatal(err)
	}
	if faults != "" {
		t.Errorf("axe:\n%s", faults)
	}
	if *shots != "" {
		png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err == nil {
			err = os.WriteFile(filepath.Join(*shots, url.PathEscape(v.name)+".png"), png, 0o644)
		}
		if err != nil {
			t.Error(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(said) > 0 {
		t.Errorf("console: %s", strings.Join(said, "; "))
	}
}

func statusIn(text string) int {
	var n int
	_, _ = fmt.Sscanf(text[strings.LastIndex(text, "of ")+3:], "%d", &n)
	return n
}

const overflow = `(() => {
  const w = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= w) return "";
  return [...document.body.querySelectorAll("*")]
    .filter((el) => el.checkVisibility({ contentVisibilityAuto: true }) && el.getBoundingClientRect().right > w + 1 && !el.closest(".overflow-x-auto, .tabrow, .codescroll, pre"))
    .slice(0, 5)
    .map((el) => el.tagName + "." + el.className).join(" | ") || "document";
})()`

const runAxe = `axe.run(document, { resultTypes: ["violations"] }).then((r) =>
  r.violations.filter((v) => v.impact === "serious" || v.impact === "critical")
    .map((v) => v.id + ": " + v.nodes.slice(0, 4).map((n) => n.html.slice(0, 160) + " // " + (n.any[0]?.message || "")).join("\n    "))
    .join("\n"))`
