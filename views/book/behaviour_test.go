package book_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/coder/websocket"
	"github.com/gitfor/gitfor/views/book"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
)

// tab is a page in the browser with a time limit; its methods fail the test.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func open(t *testing.T, root context.Context, url string) tab {
	t.Helper()
	own, closeTab := chromedp.NewContext(root)
	t.Cleanup(closeTab)
	p := tab{t, own}
	p.do(chromedp.EmulateViewport(1200, 900), chromedp.Navigate(url))
	return p
}

func (p tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// keys presses keys as a keyboard does: the letter is part of the key's going
// down, so that a script which takes the key also takes the letter.
func (p tab) keys(keys string) {
	p.t.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		if len(events) == 3 {
			events[0].Text, events[0].UnmodifiedText = events[1].Text, events[1].UnmodifiedText
			events = []*input.DispatchKeyEventParams{events[0], events[2]}
		}
		for _, ev := range events {
			p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
				_, err := cdp.Call(ctx, t, input.DispatchKeyEvent, *ev)
				return err
			}))
		}
	}
}

func (p tab) click(sel string) { p.t.Helper(); p.do(chromedp.Click(chromedp.CSS(sel))) }

func (p tab) eval(js string) string {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[string]("String("+js+")"))
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// until waits, in the page, for an expression to be true; ten seconds at most.
func (p tab) until(js string) {
	p.t.Helper()
	script := fmt.Sprintf(`new Promise((done) => {
		const end = performance.now() + 10000;
		const look = () => { if (%s) done(true); else if (performance.now() > end) done(false); else requestAnimationFrame(look); };
		look();
	})`, js)
	ok, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](script, chromedp.EvalAwaitPromise))
	for range 5 { // a page that goes away takes the script with it: ask the next one
		if err == nil || !strings.Contains(err.Error(), "navigated or closed") {
			break
		}
		ok, err = chromedp.Run(p.ctx, chromedp.Evaluate[bool](script, chromedp.EvalAwaitPromise))
	}
	if err != nil {
		p.t.Fatal(err)
	}
	if !ok {
		p.t.Fatalf("never true: %s (at %s)", js, p.eval("location.href"))
	}
}

func (p tab) want(js, want string) {
	p.t.Helper()
	if got := p.eval(js); got != want {
		p.t.Errorf("%s is %q, want %q", js, got, want)
	}
}

// shot writes a picture of the window when -shots asks for pictures.
func (p tab) shot(name string) {
	p.t.Helper()
	if *shots == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o644)
	}
	if err != nil {
		p.t.Error(err)
	}
}

const activeText = `document.activeElement.textContent.trim()`

func TestBehaviours(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(book.Server())
	t.Cleanup(srv.Close)
	root := browser(t)
	page := func(t *testing.T) tab {
		p := open(t, root, srv.URL+link.Book()+"?theme=light")
		p.eval(`document.activeElement.blur()`) // the first field at fault has the focus
		return p
	}

	t.Run("menu by keyboard", func(t *testing.T) {
		p := page(t)
		p.eval(`document.querySelector('#navigation summary[aria-label="More"]').focus()`)
		p.keys(kb.ArrowDown)
		p.until(`document.activeElement.textContent.trim() === "Copy link"`)
		p.keys(kb.ArrowDown)
		p.want(activeText, "Quote reply")
		p.keys("d")
		p.want(activeText, "Delete")
		p.keys(kb.Escape)
		p.want(`document.activeElement.getAttribute("aria-label")`, "More")
		p.want(`document.querySelectorAll("details[data-menu][open]").length`, "0")
	})

	t.Run("menu filter and a click outside", func(t *testing.T) {
		p := page(t)
		p.keys("w") // the branch menu's own key
		p.until(`document.activeElement.matches("[data-menu-filter]")`)
		p.shot("open-menu")
		p.click("h1")
		p.want(`document.querySelectorAll("details[data-menu][open]").length`, "0")
	})

	t.Run("menus of the top bar", func(t *testing.T) {
		p := page(t)
		p.click(`summary[aria-label="Account menu of ada"]`)
		p.until(`document.querySelectorAll("details[data-menu][open]").length === 1`)
		p.shot("open-account")
		p.do(chromedp.EmulateViewport(390, 800))
		p.keys(kb.Escape)
		p.click(`summary[aria-label="Menu"]`)
		p.until(`document.querySelectorAll("details[data-menu][open]").length === 1`)
		p.shot("open-folded")
		p.want(`document.documentElement.scrollWidth <= 390`, "true")
	})

	t.Run("list by keyboard", func(t *testing.T) {
		p := page(t)
		p.keys("j")
		p.keys("j")
		p.keys("x")
		p.want(`[...document.querySelectorAll("[data-row]")].findIndex((r) => r.dataset.cursor !== undefined)`, "1")
		p.want(`document.querySelectorAll("[data-row] > input:checked").length`, "1")
		p.keys("k")
		p.want(activeText, "Unread Mill stops when the barrel turns past its last stud")
	})

	t.Run("keys are listed", func(t *testing.T) {
		p := page(t)
		p.keys("?")
		p.until(`document.getElementById("keys").open`)
		p.until(`document.querySelector("[data-keys-list]").textContent.includes("Next row")`)
		p.shot("open-keys")
		p.keys(kb.Escape)
		p.until(`!document.getElementById("keys").open`)
	})

	t.Run("palette", func(t *testing.T) {
		p := page(t)
		p.keys("/")
		p.until(`document.getElementById("palette").open && document.querySelectorAll("#palette-options [role=option]").length === 2`)
		p.keys("mill")
		p.until(`document.querySelector("#palette-options").textContent.includes("mill")`)
		p.keys(kb.ArrowDown)
		p.shot("open-palette")
		p.want(`document.querySelector("#palette-options [aria-selected=true]").textContent.includes("mill")`, "true")
		p.keys(kb.Enter)
		p.until(`location.pathname === "/explore"`)
		p.want(`location.pathname + location.search`, "/explore?q=mill")
	})

	t.Run("composer", func(t *testing.T) {
		p := page(t)
		p.do(chromedp.Focus(chromedp.CSS("#comment")))
		p.keys("- one")
		p.keys(kb.Enter)
		p.keys("two")
		p.want(`document.querySelector("#comment").value`, "- one\n- two")
		p.eval(`document.querySelector("#comment").setSelectionRange(2, 5)`)
		p.click(`[data-composer="/-/preview"] [data-md=bold]`)
		p.want(`document.querySelector("#comment").value`, "- **one**\n- two")
		p.click("#comment-preview")
		p.until(`document.querySelector("#comment-shown").textContent.includes("**one**")`)
		p.click("#comment-write")
		p.want(`document.activeElement.id`, "comment")
	})

	t.Run("draft survives a reload", func(t *testing.T) {
		own := httptest.NewServer(book.Server()) // an origin without the other tests' drafts
		t.Cleanup(own.Close)
		p := open(t, root, own.URL+link.Book())
		p.do(chromedp.Focus(chromedp.CSS("#comment")))
		p.keys("half a thought")
		p.do(chromedp.Navigate(own.URL + link.Book()))
		p.until(`document.querySelector("#comment").value === "half a thought"`)
	})

	t.Run("lines are selected", func(t *testing.T) {
		p := page(t)
		p.click(`#L5 .num a`)
		p.want(`location.hash + " " + document.querySelectorAll("[data-lines] .selected").length`, "#L5 1")
		p.eval(`document.querySelector("#L2 .num a").dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, shiftKey: true }))`)
		p.want(`location.hash + " " + document.querySelectorAll("[data-lines] .selected").length`, "#L2-L5 4")
		p.eval(`location.hash = "#L7-L99999999"`)
		p.until(`document.querySelectorAll("[data-lines] .selected").length === 3`)
		p.eval(`location.hash = "#%E0%A4%A"`)
		p.until(`document.querySelectorAll("[data-lines] .selected").length === 0`)
	})

	t.Run("dialog and typed confirmation", func(t *testing.T) {
		p := page(t)
		p.click(`[data-dialog-open="book-dialog"]`)
		p.until(`document.getElementById("book-dialog").open`)
		p.shot("open-dialog")
		p.click(`#book-dialog [data-dialog-close]`)
		p.until(`!document.getElementById("book-dialog").open`)
		id := "danger-delete-this-repository"
		p.want(`(document.getElementById("`+id+`").value = "ada/other", document.getElementById("`+id+`").checkValidity())`, "false")
		p.want(`(document.getElementById("`+id+`").value = "ada/engine", document.getElementById("`+id+`").checkValidity())`, "true")
	})
}

// livePage shows one element that fetches itself anew when its topic changes,
// and holds a field that somebody types in.
func livePage(version *atomic.Int64) http.Handler {
	part := func() templ.Component {
		return templ.Raw(fmt.Sprintf(`<div id="part" data-live-topic="thread:1:5" hx-get="/part" hx-trigger="live:changed" hx-target="this" hx-swap="keep">`+
			`<p id="version">%d</p><input id="field" value="server %d"><textarea id="area">server</textarea><details id="more"><summary>More</summary>x</details></div>`, version.Load(), version.Load()))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", book.Policy)
		_ = layout.Site(layout.Props{Title: "Live"}, part()).Render(r.Context(), w)
	})
	mux.HandleFunc("GET /part", func(w http.ResponseWriter, r *http.Request) { _ = part().Render(r.Context(), w) })
	mux.Handle("/-/static/", book.Server())
	return mux
}

// A change told over the WebSocket reaches the page, and what the reader is
// typing, has typed and has opened stays as it is. The line is taken up again
// when it breaks.
func TestLiveKeepsWhatIsTyped(t *testing.T) {
	t.Parallel()
	var version atomic.Int64
	mux := http.NewServeMux()
	conns := make(chan *websocket.Conn, 4)
	mux.HandleFunc("GET "+link.Live(), func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		_, msg, err := c.Read(r.Context())
		if err != nil || !strings.HasPrefix(string(msg), `{"subscribe":["thread:1:5"]`) {
			t.Errorf("the page said %s (%v)", msg, err)
		}
		conns <- c
		<-c.CloseRead(r.Context()).Done()
	})
	mux.Handle("/", livePage(&version))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)

	p := open(t, browser(t), srv.URL+"/page")
	conn := receive(t, conns)
	p.do(chromedp.SendKeys(chromedp.CSS("#area"), "typed "), chromedp.Click(chromedp.CSS("#more summary")))
	p.do(chromedp.SendKeys(chromedp.CSS("#field"), "mine "))
	kept := p.eval(`document.querySelector("#field").value + "|" + document.querySelector("#area").value`)

	version.Store(1)
	tell(t, conn, `{"topic":"thread:1:5","seq":7,"kind":"comment.created"}`)
	p.until(`document.querySelector("#version").textContent === "1"`)
	p.want(`document.querySelector("#field").value + "|" + document.querySelector("#area").value`, kept)
	p.want(`document.activeElement.id`, "field")
	p.want(`document.querySelector("#more").open`, "true")

	version.Store(2) // an older message changes nothing
	tell(t, conn, `{"topic":"thread:1:5","seq":6,"kind":"comment.created"}`)
	tell(t, conn, `{"topic":"thread:1:9","seq":8,"kind":"comment.created"}`)
	version.Store(3)
	tell(t, conn, `{"topic":"thread:1:5","seq":9,"kind":"comment.created"}`)
	p.until(`document.querySelector("#version").textContent === "3"`)

	version.Store(4) // what was missed while the line was down is fetched
	_ = conn.CloseNow()
	receive(t, conns)
	p.until(`document.querySelector("#version").textContent === "4"`)
	p.want(`document.querySelector("#field").value + "|" + document.querySelector("#area").value`, kept)
}

func receive(t *testing.T, conns <-chan *websocket.Conn) *websocket.Conn {
	t.Helper()
	select {
	case c := <-conns:
		return c
	case <-time.After(30 * time.Second):
		t.Fatal("the page did not connect")
		return nil
	}
}

func tell(t *testing.T, c *websocket.Conn, msg string) {
	t.Helper()
	if err := c.Write(t.Context(), websocket.MessageText, []byte(msg)); err != nil {
		t.Fatal(err)
	}
}
