package reviews_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

type selection = goquery.Selection

func asError[T error](err error, into *T) bool { return errors.As(err, into) }

// A whole review in a browser without JavaScript.
func TestPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("fast", "make it fast", "a.txt", lines(1, 20)+"faster\n"+lines(22, 60))
	n := b.open("fast")
	at := fmt.Sprintf("/ada/engine/pull/%d", n)
	b.bob.Get(at + "/files").OK().Has("Review changes")
	b.bob.Get(at + "/review-comments/new?path=a.txt").OK().Has("Say which line")
	b.bob.Get(at + "/review-comments/new?path=a.txt&at=R21").OK().Has("faster")
	bad := b.bob.Post(at+"/review-comments", "path", "a.txt", "side", "RIGHT", "line", "400", "body", "My words", "do", "now").Want(http.StatusUnprocessableEntity)
	bad.Has("My words").Has("The file has 60 lines.")
	b.bob.Post(at+"/review-comments", "path", "a.txt", "side", "RIGHT", "line", "21", "body", "Is it *really*?", "do", "review").Want(http.StatusSeeOther)
	b.bob.Get(at + "/files").OK().Has("Finish review").Has("<em>really</em>").Has("Pending")
	if strings.Contains(b.ada.Get(at+"/files").OK().Body, "really") {
		t.Error("a draft is seen by others")
	}
	b.bob.Post(at+"/reviews/draft", "body", "A draft of the whole").Want(http.StatusNoContent)
	b.bob.Get(at + "/files").OK().Has("A draft of the whole")
	refused := b.ada.Post(at+"/reviews", "event", "comment", "body", "").Want(http.StatusUnprocessableEntity)
	refused.Has("Write what you think")
	to := b.bob.Post(at+"/reviews", "event", "request_changes", "body", "Please look").Want(http.StatusSeeOther).Location()
	if !strings.Contains(to, "#review-") {
		t.Errorf("submitted to %s", to)
	}
	page := b.ada.Get(at).OK().Has("asked for changes").Has("Please look").Has("<em>really</em>").Has("Changes were asked for.")
	action, _ := page.Find(`form[action$="/reply"]`).First().Attr("action")
	b.ada.Post(action, "body", "Yes").Want(http.StatusSeeOther)
	b.bob.Get(at + "/files").OK().Has("Yes")
	b.ada.Post(strings.Replace(action, "/reply", "/reply", 1), "body", " ").Want(http.StatusUnprocessableEntity).Has("Write something first.")
	resolve := strings.Replace(action, "/reply", "/resolve", 1)
	b.eve.Post(resolve, "on", "true").Want(http.StatusForbidden)
	b.ada.Post(resolve, "on", "true").Want(http.StatusSeeOther)
	b.eve.Get(at).OK().Has("Resolved")
	b.ada.Post(resolve, "on", "false").Want(http.StatusSeeOther)
	edit := strings.Replace(action, "/reply", "/edit", 1)
	b.bob.Get(edit).OK().Has("Is it *really*?")
	b.bob.Post(edit, "body", "Is it?", "version", "1").Want(http.StatusSeeOther)
	b.bob.Post(edit, "body", "Is it so?", "version", "1").Want(http.StatusConflict).Has("Is it so?").Has("Somebody else has changed this text")
	b.eve.Get(edit).Want(http.StatusForbidden)
	b.bob.Post(strings.Replace(action, "/reply", "/reactions", 1), "content", "heart").Want(http.StatusSeeOther)
	b.ada.Get(to + "").OK()
	id := to[strings.Index(to, "#review-")+8:]
	b.ada.Get(at + "/reviews/" + id + "/dismiss").OK().Has("Dismiss the review of bob?")
	b.ada.Post(at+"/reviews/"+id+"/dismiss", "message", "").Want(http.StatusUnprocessableEntity).Has("Say why")
	b.ada.Post(at+"/reviews/"+id+"/dismiss", "message", "Done").Want(http.StatusSeeOther)
	b.ada.Get(at).OK().Has("dismissed the review of").Has("because: Done")
	b.bob.Get(at + "/reviews/" + id + "/edit").OK().Has("Please look")
	b.bob.Post(at+"/reviews/"+id+"/edit", "body", "Please look again").Want(http.StatusSeeOther)
	b.ada.Get(at).OK().Has("Please look again")
	b.bob.Get(strings.Replace(action, "/reply", "/delete", 1)).OK().Has("Delete this comment?")
	b.bob.Post(strings.Replace(action, "/reply", "/delete", 1)).Want(http.StatusSeeOther)
	b.bob.Get(at + "/threads").OK().Has("Yes")
}

// A file stays marked as viewed until its own change is another one.
func TestViewed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("fast", "make it fast", "a.txt", lines(1, 20)+"faster\n"+lines(22, 60), "other.txt", "1\ntwo\nthree\n")
	n := b.open("fast")
	at := fmt.Sprintf("/ada/engine/pull/%d/files", n)
	mark := func() {
		page := b.bob.Get(at).OK()
		page.Find("[data-review-viewed]").Each(func(_ int, s *selection) {
			path, _ := s.Find("[name=path]").Attr("value")
			m, _ := s.Find("[name=mark]").Attr("value")
			b.bob.Post(fmt.Sprintf("/ada/engine/pull/%d/viewed", n), "path", path, "mark", m, "on", "true").Want(http.StatusSeeOther)
		})
	}
	viewed := func() string { return b.bob.Get(at).OK().Text("[data-review-viewed-count]") }
	if viewed() != "0" {
		t.Errorf("viewed %q at first", viewed())
	}
	if mark(); viewed() != "2" {
		t.Errorf("viewed %q of 2", viewed())
	}
	// The base moves below both, the branch is rebased: the changes are the same.
	b.git("switch", "-q", "main")
	b.commit("main", "more", "a.txt", lines(101, 103)+lines(1, 60))
	b.git("switch", "-q", "fast")
	b.git("rebase", "-q", "main")
	b.git("push", "-q", "-f", "origin", "main", "fast")
	b.synced(n, b.git("rev-parse", "fast"))
	if viewed() != "2" {
		t.Errorf("viewed %q after a rebase", viewed())
	}
	b.commit("fast", "another", "other.txt", "1\n2\nthree\n")
	b.git("push", "-q", "origin", "fast")
	b.synced(n, b.git("rev-parse", "fast"))
	if viewed() != "1" {
		t.Errorf("viewed %q after one file changed", viewed())
	}
}
