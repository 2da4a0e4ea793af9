package reviews_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-github/v89/github"
)

// Reviews that a rule asks for: by writers, of the newest round, by the owners
// of the files, with all conversations resolved.
func TestRequiredReviews(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("main", "owners", "CODEOWNERS", "a.txt @bob\n")
	b.git("push", "-q", "origin", "main")
	_, _, err := b.hub(b.ada).Repositories.UpdateBranchProtection(t.Context(), "ada", "engine", "main", &github.ProtectionRequest{
		RequiredPullRequestReviews:     &github.PullRequestReviewsEnforcementRequest{RequiredApprovingReviewCount: 1, DismissStaleReviews: true, RequireCodeOwnerReviews: true},
		RequiredConversationResolution: github.Ptr(true), EnforceAdmins: true})
	check(t, err)
	b.commit("fast", "make it fast", "a.txt", lines(1, 20)+"faster\n"+lines(22, 60))
	n := b.open("fast")
	if asked := b.asked(n); !slices.Equal(asked, []string{"bob"}) {
		t.Errorf("asked %v", asked)
	}
	merge := func(want int) {
		t.Helper()
		b.ada.API(http.MethodPut, fmt.Sprintf("/repos/ada/engine/pulls/%d/merge", n), nil).Want(want)
	}
	vote := func(who *github.Client, event string) *github.PullRequestReview {
		t.Helper()
		r, _, err := who.PullRequests.CreateReview(t.Context(), "ada", "engine", n, &github.PullRequestReviewRequest{Event: &event, Body: github.Ptr("x")})
		check(t, err)
		return r
	}
	merge(http.StatusMethodNotAllowed)
	vote(b.hub(b.eve), "APPROVE")
	merge(http.StatusMethodNotAllowed)
	first := vote(b.hub(b.bob), "APPROVE")
	if asked := b.asked(n); len(asked) != 0 {
		t.Errorf("still asked: %v", asked)
	}
	comment := b.eve.API(http.MethodPost, fmt.Sprintf("/repos/ada/engine/pulls/%d/comments", n), map[string]any{"path": "a.txt", "line": 21, "body": "?"}).Want(http.StatusCreated).JSON()
	merge(http.StatusMethodNotAllowed)
	b.ada.Get(fmt.Sprintf("/ada/engine/pull/%d", n)).OK().Has("A conversation is not resolved.")
	b.ada.API(http.MethodPut, fmt.Sprintf("/repos/ada/engine/pulls/comments/%v/resolution", comment["id"]), nil).Want(http.StatusNoContent)
	b.commit("fast", "one more", "a.txt", lines(1, 20)+"fastest\n"+lines(22, 60))
	b.git("push", "-q", "origin", "fast")
	b.synced(n, b.git("rev-parse", "fast"))
	merge(http.StatusMethodNotAllowed)
	end := time.Now().Add(10 * time.Second)
	for {
		r, _, err := b.hub(b.ada).PullRequests.GetReview(t.Context(), "ada", "engine", n, first.GetID())
		check(t, err)
		if r.GetState() == "DISMISSED" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the stale approval is %s", r.GetState())
		}
		time.Sleep(20 * time.Millisecond)
	}
	_, _, err = b.hub(b.ada).PullRequests.RequestReviewers(t.Context(), "ada", "engine", n, github.ReviewersRequest{Reviewers: []string{"bob"}})
	check(t, err)
	vote(b.hub(b.bob), "REQUEST_CHANGES")
	merge(http.StatusMethodNotAllowed)
	b.ada.Get(fmt.Sprintf("/ada/engine/pull/%d", n)).OK().Has("Changes were asked for.").Has("bob")
	vote(b.hub(b.bob), "APPROVE")
	merge(http.StatusOK)
}

// asked are those whom the API says are asked for a review.
func (b *bench) asked(n int) []string {
	b.t.Helper()
	list, _, err := b.hub(b.ada).PullRequests.ListReviewers(b.t.Context(), "ada", "engine", n)
	check(b.t, err)
	var out []string
	for _, u := range list.Users {
		out = append(out, u.GetLogin())
	}
	return out
}

// Asking for reviews: by page and API, again after a review, and who may not.
func TestReviewers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("fast", "make it fast", "a.txt", "x\n")
	n := b.open("fast")
	at := fmt.Sprintf("/repos/ada/engine/pulls/%d/requested_reviewers", n)
	b.ada.API(http.MethodPost, at, map[string]any{"reviewers": []string{"ada"}}).Want(http.StatusUnprocessableEntity)
	b.ada.API(http.MethodPost, at, map[string]any{"reviewers": []string{"nobody"}}).Want(http.StatusUnprocessableEntity)
	b.eve.API(http.MethodPost, at, map[string]any{"reviewers": []string{"bob"}}).Want(http.StatusForbidden)
	got := b.ada.API(http.MethodPost, at, map[string]any{"reviewers": []string{"bob", "eve"}}).Want(http.StatusCreated).JSON()
	if list, _ := got["requested_reviewers"].([]any); len(list) != 2 {
		t.Errorf("asked %v", list)
	}
	page := fmt.Sprintf("/ada/engine/pull/%d", n)
	b.ada.Get(page).OK().Has("Asked for a review").Has("for a review")
	b.ada.Post(page+"/reviewers", "remove", "eve").Want(http.StatusSeeOther)
	b.ada.API(http.MethodDelete, at, map[string]any{"reviewers": []string{"bob"}}).OK()
	if asked := b.asked(n); len(asked) != 0 {
		t.Errorf("asked %v", asked)
	}
	b.ada.Post(page+"/reviewers", "reviewers", "bob").Want(http.StatusSeeOther)
	if asked := b.asked(n); !slices.Equal(asked, []string{"bob"}) {
		t.Errorf("asked %v", asked)
	}
	b.ada.Post(page+"/reviewers", "reviewers", "nobody").Want(http.StatusSeeOther)
	b.ada.Get(page).OK().Has("There is nobody named nobody.")
}
