package reviews_test

import (
	"fmt"
	"net/http"
	"testing"
)

// PUB-03: the author rewrites the branch while somebody reviews it.
func TestForcePushDuringReview(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	viewed := b.commit("fast", "make it fast", "a.txt", lines(1, 39)+"forty\n"+lines(41, 60), "other.txt", "one\n2\nthree\n")
	n := b.open("fast")
	at := fmt.Sprintf("/repos/ada/engine/pulls/%d/comments", n)
	untouched := b.bob.API(http.MethodPost, at, map[string]any{"path": "other.txt", "line": 2, "body": "stays", "commit_id": viewed}).Want(http.StatusCreated).JSON()
	changed := b.bob.API(http.MethodPost, at, map[string]any{"path": "a.txt", "line": 60, "body": "goes", "commit_id": viewed}).Want(http.StatusCreated).JSON()
	b.git("switch", "-q", "main")
	b.commit("main", "fifteen more", "a.txt", lines(101, 115)+lines(1, 60))
	b.git("switch", "-q", "fast")
	b.git("reset", "-q", "--hard", "main")
	now := b.commit("fast", "make it fast again", "a.txt", lines(101, 115)+lines(1, 39)+"forty\n"+lines(41, 59)+"sixty\n", "other.txt", "one\n2\nthree\n")
	b.git("push", "-q", "-f", "origin", "main", "fast")
	b.synced(n, now)
	// Who had the page open sends the form that belongs to what they saw.
	res := b.bob.Post(fmt.Sprintf("/ada/engine/pull/%d/review-comments", n), "path", "a.txt", "side", "RIGHT", "line", "40", "start_line", "40",
		"sha", viewed, "body", "on forty", "do", "now").Want(http.StatusSeeOther)
	_ = res
	var list []map[string]any
	b.bob.API(http.MethodGet, at, nil).OK().Into(&list)
	if len(list) != 3 {
		t.Fatalf("%d comments", len(list))
	}
	late := list[2]
	if late["line"] != 55.0 || late["original_line"] != 40.0 || late["original_commit_id"] != viewed || late["commit_id"] != now {
		t.Errorf("late comment: line %v, original %v at %v", late["line"], late["original_line"], late["original_commit_id"])
	}
	for _, c := range list[:2] {
		switch c["id"] {
		case untouched["id"]:
			if c["line"] != 2.0 {
				t.Errorf("in an untouched file: line %v", c["line"])
			}
		case changed["id"]:
			if c["line"] != nil || c["original_line"] != 60.0 {
				t.Errorf("on a changed line: line %v", c["line"])
			}
		}
	}
	page := b.bob.Get(fmt.Sprintf("/ada/engine/pull/%d/files", n)).OK()
	page.Has("1 outdated conversation").Has("on forty")
	b.bob.Get(fmt.Sprintf("/ada/engine/pull/%d/files?round=1", n)).OK().Has("goes")
	b.bob.Get(fmt.Sprintf("/ada/engine/pull/%d", n)).OK().Has("Outdated").Has("on forty").Has("goes")
	// The form for a review says so too.
	sent := b.bob.Post(fmt.Sprintf("/ada/engine/pull/%d/reviews", n), "event", "approve", "body", "Fine", "sha", viewed).Want(http.StatusSeeOther)
	b.bob.Get(sent.Location()).OK()
}

// Comments on the state before the change follow it to another base.
func TestOtherBase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("older", "older", "other.txt", "zero\none\ntwo\nthree\n")
	b.git("push", "-q", "origin", "older")
	b.git("switch", "-q", "older")
	b.commit("fast", "make it fast", "other.txt", "zero\none\n2\nthree\n")
	n := b.open("fast")
	at := fmt.Sprintf("/repos/ada/engine/pulls/%d", n)
	c := b.bob.API(http.MethodPost, at+"/comments", map[string]any{"path": "other.txt", "line": 2, "side": "LEFT", "body": "was better"}).Want(http.StatusCreated).JSON()
	b.ada.API(http.MethodPatch, at, map[string]any{"base": "older"}).OK()
	b.bob.Get(fmt.Sprintf("/ada/engine/pull/%d/files", n)).OK().Has("was better")
	got := b.bob.API(http.MethodGet, fmt.Sprintf("/repos/ada/engine/pulls/comments/%v", c["id"]), nil).OK().JSON()
	if got["line"] != 3.0 || got["original_line"] != 2.0 {
		t.Errorf("line %v, original %v", got["line"], got["original_line"])
	}
}
