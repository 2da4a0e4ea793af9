package reviews_test

import (
	"fmt"
	"testing"

	"github.com/gitfor/gitfor/app/apptest/browser"
)

// Two people at one pull request: one comments on a line, the other sees it
// without reloading and answers; the first reviews by the keyboard.
func TestTwoPeople(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("fast", "make it fast", "a.txt", lines(1, 20)+"faster\n"+lines(22, 60), "count.go", "package count\n\n// Count counts words.\nfunc Count(s string) int {\n\treturn len(s)\n}\n")
	n := b.open("fast")
	// A browser each: tabs of one share their cookies.
	bob, ada := browser.Open(t, browser.Start(t), b.Server), browser.Open(t, browser.Start(t), b.Server)
	bob.As(b.bob)
	ada.As(b.ada)
	files := fmt.Sprintf("/ada/engine/pull/%d/files", n)
	for _, tab := range []*browser.Tab{bob, ada} {
		tab.Width(1440)
		tab.Go(files)
		tab.Wait("#review-files")
	}
	press := func(keys string) {
		browser.Eval[bool](bob, `(() => { document.dispatchEvent(new KeyboardEvent("keydown", { key: "`+keys+`", bubbles: true })); return true })()`)
	}
	bob.Wait(`html[data-js]`)
	press("h")
	bob.Wait("tr.current")
	press("c")
	bob.Wait("[data-review-form] textarea")
	bob.Shot("review-form-1440")
	bob.Fill("[data-review-form] textarea", "Why this?")
	bob.Click(`[data-review-form] button[value=now]`)
	bob.WaitText("[data-thread]", "Why this?")
	ada.WaitText("[data-thread]", "Why this?")
	ada.Click("[data-thread] [data-reply-to]")
	ada.Fill("[data-thread] details[open] textarea", "Because it is slow")
	ada.Click(`[data-thread] details[open] button[value=now]`)
	bob.WaitText("[data-thread]", "Because it is slow")
	// What somebody types stays while others write.
	bob.Click("[data-thread] [data-reply-to]")
	bob.Fill("[data-thread] details[open] textarea", "I am typing")
	ada.Click(`[data-thread] form[action*="/resolve"] button`)
	ada.Wait("[data-thread][data-resolved]")
	if got := browser.Eval[string](bob, `document.querySelector("[data-thread] details[open] textarea").value`); got != "I am typing" {
		t.Errorf("typed text became %q", got)
	}
	press("]")
	press("v")
	bob.WaitText("[data-review-viewed-count]", "1")
	press("R")
	bob.Wait("#review-menu[open]")
	bob.Fill("#review-body", "Good work")
	bob.Shot("review-menu-1440")
	bob.Click(`#review-menu input[value=approve]`)
	bob.Click(`#review-form button[data-default]`)
	bob.WaitURL(fmt.Sprintf("/ada/engine/pull/%d", n))
	bob.WaitText("#timeline", "approved these changes")
	ada.Go(fmt.Sprintf("/ada/engine/pull/%d", n))
	ada.WaitText("#timeline", "Good work")
	for _, scheme := range []string{"light", "dark"} {
		ada.Scheme(scheme)
		for _, width := range []int64{1440, 390} {
			ada.Width(width)
			for name, path := range map[string]string{"conversation": fmt.Sprintf("/ada/engine/pull/%d", n), "files": files, "split": files + "?diff=split",
				"new": fmt.Sprintf("/ada/engine/pull/%d/review-comments/new?path=a.txt&at=R21", n)} {
				ada.Go(path)
				if wide := ada.Overflow(); wide != "" {
					t.Errorf("%s at %d: %s", name, width, wide)
				}
				ada.Shot(fmt.Sprintf("review-%s-%d-%s", name, width, scheme))
			}
		}
	}
	for _, tab := range []*browser.Tab{bob, ada} {
		if said := tab.Console(); len(said) > 0 {
			t.Errorf("console %q", said)
		}
	}
}
