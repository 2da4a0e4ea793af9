package notifications_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// TestReview asks for a review, and tells the author of it once, whatever it
// says.
func TestReview(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.ann.API("POST", "/user/repos", map[string]any{"name": "boat", "auto_init": true}).Want(201)
	sha, _ := f.ann.API("GET", "/repos/ann/boat/git/ref/heads/main", nil).OK().JSON()["object"].(map[string]any)["sha"].(string)
	f.ann.API("POST", "/repos/ann/boat/git/refs", map[string]any{"ref": "refs/heads/sail", "sha": sha}).Want(201)
	f.ann.API("PUT", "/repos/ann/boat/contents/sail.txt", map[string]any{"message": "sail", "branch": "sail",
		"content": base64.StdEncoding.EncodeToString([]byte("one\ntwo\nthree\n"))}).Want(201)
	f.ann.API("POST", "/repos/ann/boat/pulls", map[string]any{"title": "Set sail", "head": "sail", "base": "main", "body": "hoist"}).Want(201)
	f.ann.API("PUT", "/repos/ann/boat/collaborators/bob", map[string]any{"permission": "push"})
	f.acceptAll(t)
	f.ann.API("POST", "/repos/ann/boat/pulls/1/requested_reviewers", map[string]any{"reviewers": []string{"bob"}}).Want(201)
	f.settle(t)
	rows := list(t, f.bob, "")
	if len(rows) != 1 || rows[0].Reason != "review_requested" || rows[0].Subject.Type != "PullRequest" || !strings.HasSuffix(rows[0].Subject.URL, "/pulls/1") {
		t.Fatalf("%+v", rows)
	}
	if n := len(f.letters(t, "bob@example.com")); n == 0 {
		t.Error("no mail to the reviewer")
	}
	comment := func(line int, body string) map[string]any {
		return map[string]any{"path": "sail.txt", "line": line, "side": "RIGHT", "body": body}
	}
	f.bob.API("POST", "/repos/ann/boat/pulls/1/reviews", map[string]any{"event": "REQUEST_CHANGES", "body": "Not yet.",
		"comments": []any{comment(1, "first"), comment(2, "second"), comment(3, "third")}}).OK()
	f.settle(t)
	if rows = list(t, f.ann, ""); len(rows) != 1 || rows[0].Reason != "author" {
		t.Errorf("the author has %+v", rows)
	}
	mails := f.letters(t, "ann@example.com")
	last := mails[len(mails)-1]
	n := 0
	for _, m := range mails {
		if strings.Contains(header(m, "Subject"), "Set sail") {
			n++
		}
	}
	if n != 1 || !strings.Contains(last, "Not yet.") || !strings.Contains(last, "second") || !strings.Contains(last, "sail.txt") {
		t.Errorf("%d mails, the last %s", n, last)
	}
	if got := f.ann.Get("/notifications?view=turn").OK().Find("[data-row]").Length(); got != 1 {
		t.Errorf("%d rows wait for the author", got)
	}
	// The reviewer has answered; a comment of theirs alone is told by itself.
	if got := f.bob.Get("/notifications?view=turn").OK().Find("[data-row]").Length(); got != 0 {
		t.Error("the reviewer is still waited for")
	}
	f.bob.API("POST", "/repos/ann/boat/pulls/1/comments", map[string]any{"path": "sail.txt", "line": 2, "side": "RIGHT", "body": "and this",
		"commit_id": f.ann.API("GET", "/repos/ann/boat/pulls/1", nil).OK().JSON()["head"].(map[string]any)["sha"]}).Want(201)
	f.settle(t)
	if mails = f.letters(t, "ann@example.com"); !strings.Contains(mails[len(mails)-1], "and this") {
		t.Errorf("the last mail is %s", mails[len(mails)-1])
	}
	// A check of the head fails: the author is told once.
	head, _ := f.ann.API("GET", "/repos/ann/boat/pulls/1", nil).OK().JSON()["head"].(map[string]any)["sha"].(string)
	f.ann.API("PUT", "/repos/ann/boat/notifications", map[string]any{}).Want(205)
	before := len(f.letters(t, "ann@example.com"))
	for _, name := range []string{"build", "lint"} {
		f.bob.API("POST", "/repos/ann/boat/statuses/"+head, map[string]any{"state": "failure", "context": name}).Want(201)
	}
	f.settle(t)
	if rows = list(t, f.ann, ""); len(rows) != 1 || rows[0].Reason != "ci_activity" || len(f.letters(t, "ann@example.com")) != before+1 {
		t.Errorf("after failing checks: %+v, %d mails", rows, len(f.letters(t, "ann@example.com"))-before)
	}
	// Merging ends the turns and shows the state now.
	f.ann.API("PUT", "/repos/ann/boat/pulls/1/merge", nil)
	f.settle(t)
	if got := f.bob.Get("/notifications").OK().Text("main"); !strings.Contains(got, "Set sail") {
		t.Error(got)
	}
}

// acceptAll lets bob accept his invitations.
func (f *forge) acceptAll(t *testing.T) {
	t.Helper()
	var list []struct {
		ID json.Number `json:"id"`
	}
	f.bob.API("GET", "/user/repository_invitations", nil).OK().Into(&list)
	for _, i := range list {
		f.bob.API("PATCH", "/user/repository_invitations/"+string(i.ID), nil).Want(204)
	}
}
