package reviews_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v89/github"
)

// GitHub's Go client reviews: comments on lines, on unchanged lines, ranges
// and files, replies, votes, drafts, dismissals.
func TestGitHubClient(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("fast", "make it fast", "a.txt", lines(1, 20)+"faster\n"+lines(22, 60))
	n := b.open("fast")
	bob, ada, eve := b.hub(b.bob), b.hub(b.ada), b.hub(b.eve)
	ctx := t.Context()
	own, _, err := ada.PullRequests.CreateReview(ctx, "ada", "engine", n, &github.PullRequestReviewRequest{Event: github.Ptr("APPROVE")})
	if e := new(github.ErrorResponse); !asError(err, &e) || e.Response.StatusCode != http.StatusUnprocessableEntity {
		t.Fatalf("own approval: %v %v", own, err)
	}
	draft, _, err := bob.PullRequests.CreateReview(ctx, "ada", "engine", n, &github.PullRequestReviewRequest{Body: github.Ptr("Soon"), Comments: []*github.DraftReviewComment{
		{Path: github.Ptr("a.txt"), Line: github.Ptr(21), Side: github.Ptr("RIGHT"), Body: github.Ptr("Why?")},
		{Path: github.Ptr("a.txt"), StartLine: github.Ptr(50), Line: github.Ptr(52), Body: github.Ptr("Not changed, but look")},
		{Path: github.Ptr("a.txt"), Line: github.Ptr(21), Side: github.Ptr("LEFT"), Body: github.Ptr("Was better")}}})
	check(t, err)
	if draft.GetState() != "PENDING" {
		t.Fatalf("draft %v", draft)
	}
	if list, _, err := ada.PullRequests.ListReviews(ctx, "ada", "engine", n, nil); err != nil || len(list) != 0 {
		t.Fatalf("others see a draft: %v %v", list, err)
	}
	if list, _, err := ada.PullRequests.ListComments(ctx, "ada", "engine", n, nil); err != nil || len(list) != 0 {
		t.Fatalf("others see drafted comments: %v %v", list, err)
	}
	b.ada.Get(fmt.Sprintf("/ada/engine/pull/%d/files", n)).OK()
	done, _, err := bob.PullRequests.SubmitReview(ctx, "ada", "engine", n, draft.GetID(), &github.PullRequestReviewRequest{Event: github.Ptr("REQUEST_CHANGES"), Body: github.Ptr("Please")})
	check(t, err)
	if done.GetState() != "CHANGES_REQUESTED" || done.GetBody() != "Please" || done.SubmittedAt == nil {
		t.Fatalf("submitted %v", done)
	}
	list, _, err := ada.PullRequests.ListReviewComments(ctx, "ada", "engine", n, done.GetID(), nil)
	check(t, err)
	if len(list) != 3 || list[0].GetLine() != 21 || list[1].GetStartLine() != 50 || list[2].GetSide() != "LEFT" {
		t.Fatalf("comments %v", list)
	}
	if !strings.Contains(list[0].GetDiffHunk(), "+faster") || !strings.Contains(list[1].GetDiffHunk(), " line 52") {
		t.Errorf("hunks %q %q", list[0].GetDiffHunk(), list[1].GetDiffHunk())
	}
	reply, _, err := ada.PullRequests.CreateCommentInReplyTo(ctx, "ada", "engine", n, "Because", list[0].GetID())
	check(t, err)
	if reply.GetInReplyTo() != list[0].GetID() || reply.GetPath() != "a.txt" {
		t.Errorf("reply %v", reply)
	}
	edited, _, err := ada.PullRequests.EditComment(ctx, "ada", "engine", reply.GetID(), &github.PullRequestComment{Body: github.Ptr("Because it is slow")})
	check(t, err)
	if edited.GetBody() != "Because it is slow" {
		t.Errorf("edited %v", edited)
	}
	_, _, err = eve.Reactions.CreatePullRequestCommentReaction(ctx, "ada", "engine", reply.GetID(), "heart")
	check(t, err)
	got, _, err := ada.PullRequests.GetComment(ctx, "ada", "engine", reply.GetID())
	check(t, err)
	if got.Reactions.GetHeart() != 1 {
		t.Errorf("reactions %v", got.Reactions)
	}
	b.refuses(n, list[0].GetID())
	// A reader's vote is there, and counts for no rule.
	if r, _, err := eve.PullRequests.CreateReview(ctx, "ada", "engine", n, &github.PullRequestReviewRequest{Event: github.Ptr("APPROVE")}); err != nil || r.GetState() != "APPROVED" {
		t.Errorf("a reader's approval: %v %v", r, err)
	}
	gone, _, err := ada.PullRequests.DismissReview(ctx, "ada", "engine", n, done.GetID(), &github.PullRequestReviewDismissalRequest{Message: github.Ptr("It is done")})
	check(t, err)
	if gone.GetState() != "DISMISSED" {
		t.Errorf("dismissed %v", gone)
	}
	if _, err := ada.PullRequests.DeleteComment(ctx, "ada", "engine", list[0].GetID()); err != nil {
		t.Error(err)
	}
	if got, _, err := ada.PullRequests.GetComment(ctx, "ada", "engine", reply.GetID()); err != nil || got.GetInReplyTo() != 0 {
		t.Errorf("the answer begins the conversation: %v %v", got, err)
	}
	b.tells(n)
}

// refuses are comments that cannot be.
func (b *bench) refuses(n int, reply int64) {
	at := fmt.Sprintf("/repos/ada/engine/pulls/%d/comments", n)
	for name, in := range map[string]map[string]any{
		"no text": {"path": "a.txt", "line": 21, "body": " "}, "no line": {"path": "a.txt", "body": "x"},
		"beyond the end": {"path": "a.txt", "line": 61, "body": "x"}, "no file": {"path": "b.txt", "line": 1, "body": "x"},
		"outside": {"path": "../a.txt", "line": 1, "body": "x"}, "other commit": {"path": "a.txt", "line": 1, "body": "x", "commit_id": strings.Repeat("1", 40)},
		"backwards": {"path": "a.txt", "line": 3, "start_line": 9, "body": "x"}, "side": {"path": "a.txt", "line": 3, "side": "UP", "body": "x"}} {
		if res := b.bob.API(http.MethodPost, at, in); res.Status != http.StatusUnprocessableEntity {
			b.t.Errorf("%s: %d", name, res.Status)
		}
	}
	by := b.bob.API(http.MethodPost, at, map[string]any{"path": "a.txt", "position": 1, "body": "x"}).Want(http.StatusCreated).JSON()
	if by["line"] != 18.0 || by["side"] != "RIGHT" {
		b.t.Errorf("by position: line %v", by["line"])
	}
	b.eve.API(http.MethodPatch, fmt.Sprintf("/repos/ada/engine/pulls/comments/%d", reply), map[string]any{"body": "x"}).Want(http.StatusForbidden)
	b.Anon().API(http.MethodPost, at, map[string]any{"path": "a.txt", "line": 1, "body": "x"}).Want(http.StatusUnauthorized)
}

// tells is what the event log says of a review.
func (b *bench) tells(n int) {
	var list []map[string]any
	end := time.Now().Add(10 * time.Second)
	for len(list) < 2 && time.Now().Before(end) {
		b.ada.API(http.MethodGet, "/repos/ada/engine/event-log?per_page=200&type=review.submitted", nil).OK().Into(&list)
	}
	if len(list) != 2 {
		b.t.Fatalf("%d review.submitted", len(list))
	}
	data, _ := list[1]["data"].(map[string]any)
	if data["number"] != float64(n) || data["reviewState"] != "changes_requested" || data["comments"] != 3.0 {
		b.t.Errorf("review.submitted %v", data)
	}
	b.ada.API(http.MethodGet, "/repos/ada/engine/event-log?per_page=200&type=comment.created", nil).OK().Into(&list)
	if len(list) != 5 {
		b.t.Errorf("%d comment.created", len(list))
	}
}
