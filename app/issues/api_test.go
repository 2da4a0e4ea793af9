package issues_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/google/go-github/v89/github"
)

// hub is an instance with ada's repository engine.
func hub(t *testing.T) (*apptest.Server, *apptest.Client) {
	t.Helper()
	s := apptest.New(t)
	ada := s.User(t, "ada")
	ada.API(http.MethodPost, "/user/repos", map[string]any{"name": "engine"}).Want(http.StatusCreated)
	return s, ada
}

// gh is GitHub's official Go client with c's token.
func gh(t *testing.T, s *apptest.Server, c *apptest.Client) *github.Client {
	t.Helper()
	client, err := github.NewClient(github.WithAuthToken(c.Token), github.WithEnterpriseURLs(s.URL, s.URL), github.WithDisableRateLimitCheck())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

var queryCount = regexp.MustCompile(`desc="(\d+) queries"`)

// queries is how many statements an answer took.
func queries(t *testing.T, h http.Header) int {
	t.Helper()
	m := queryCount.FindStringSubmatch(h.Get("Server-Timing"))
	if m == nil {
		t.Fatalf("Server-Timing %q", h.Get("Server-Timing"))
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestGitHubClient(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	client := gh(t, s, ada).Issues
	ctx := t.Context()
	i, res, err := client.Create(ctx, "ada", "engine", &github.IssueRequest{Title: ptr("Crash"), Body: ptr("It does."), Labels: &[]string{"bug", "brand new"}, Assignees: &[]string{"ada"}})
	check(t, err)
	if i.GetNumber() != 1 || i.GetUser().GetLogin() != "ada" || len(i.Labels) != 2 || i.GetAssignee().GetLogin() != "ada" || i.GetAuthorAssociation() != "OWNER" ||
		i.GetHTMLURL() != s.URL+"/ada/engine/issues/1" || res.Header.Get("Location") != i.GetURL() {
		t.Errorf("created %v", i)
	}
	_, res, err = client.Create(ctx, "ada", "engine", &github.IssueRequest{Title: ptr("Plain")})
	check(t, err)
	if n := queries(t, res.Header); n > 8 {
		t.Errorf("creating took %d queries, want at most 8", n)
	}
	_, res, err = client.Create(ctx, "ada", "engine", &github.IssueRequest{Title: ptr("Full"), Labels: &[]string{"bug"}, Assignees: &[]string{"ada"}})
	check(t, err)
	if n := queries(t, res.Header); n > 8 {
		t.Errorf("creating with labels and assignees took %d queries, want at most 8", n)
	}
	m, _, err := client.CreateMilestone(ctx, "ada", "engine", &github.Milestone{Title: ptr("v1"), DueOn: &github.Timestamp{Time: time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)}})
	check(t, err)
	i, _, err = client.Edit(ctx, "ada", "engine", 1, &github.IssueRequest{Milestone: m.Number, State: ptr("closed"), StateReason: ptr("not_planned")})
	check(t, err)
	if i.GetState() != "closed" || i.GetStateReason() != "not_planned" || i.GetClosedBy().GetLogin() != "ada" || i.GetMilestone().GetTitle() != "v1" || i.ClosedAt == nil {
		t.Errorf("edited %v", i)
	}
	i, _, err = client.RemoveMilestone(ctx, "ada", "engine", 1)
	check(t, err)
	if i.Milestone != nil {
		t.Errorf("milestone stays: %v", i.Milestone)
	}
	list, _, err := client.ListByRepo(ctx, "ada", "engine", &github.IssueListByRepoOptions{State: "all", Labels: []string{"bug"}, Assignee: "ada", Sort: "updated", Direction: "asc"})
	check(t, err)
	if len(list) != 2 || list[1].GetTitle() != "Crash" {
		t.Errorf("listed %v", list)
	}
	_, err = client.Lock(ctx, "ada", "engine", 1, &github.LockIssueOptions{LockReason: "spam"})
	check(t, err)
	i, _, err = client.Get(ctx, "ada", "engine", 1)
	check(t, err)
	if !i.GetLocked() || i.GetActiveLockReason() != "spam" {
		t.Errorf("locked %v", i)
	}
	_, err = client.Unlock(ctx, "ada", "engine", 1)
	check(t, err)
	events, _, err := client.ListIssueEvents(ctx, "ada", "engine", 1, nil)
	check(t, err)
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, e.GetEvent())
	}
	if !slices.Equal(kinds, []string{"milestoned", "closed", "demilestoned", "locked", "unlocked"}) {
		t.Errorf("events %v", kinds)
	}
	all, _, err := client.ListRepositoryEvents(ctx, "ada", "engine", nil)
	check(t, err)
	if len(all) != 5 || all[0].GetIssue().GetNumber() != 1 {
		t.Errorf("%d events of the repository", len(all))
	}
	if e, _, err := client.GetEvent(ctx, "ada", "engine", all[0].GetID()); err != nil || e.GetEvent() != "unlocked" {
		t.Errorf("event %v, %v", e, err)
	}
}

func TestGitHubClientComments(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	bob := s.User(t, "bob")
	client, his := gh(t, s, ada), gh(t, s, bob)
	ctx := t.Context()
	_, _, err := client.Issues.Create(ctx, "ada", "engine", &github.IssueRequest{Title: ptr("x")})
	check(t, err)
	// The first request of a token looks it up.
	_, _, err = his.Issues.Get(ctx, "ada", "engine", 1)
	check(t, err)
	c, res, err := his.Issues.CreateComment(ctx, "ada", "engine", 1, &github.IssueComment{Body: ptr("mine")})
	check(t, err)
	if c.GetUser().GetLogin() != "bob" || c.GetAuthorAssociation() != "NONE" || c.GetIssueURL() != s.URL+"/api/v3/repos/ada/engine/issues/1" {
		t.Errorf("comment %v", c)
	}
	if n := queries(t, res.Header); n > 9 {
		t.Errorf("commenting took %d queries", n)
	}
	c, _, err = client.Issues.EditComment(ctx, "ada", "engine", c.GetID(), &github.IssueComment{Body: ptr("hers")})
	check(t, err)
	if c.GetBody() != "hers" {
		t.Errorf("edited %v", c)
	}
	r, res, err := his.Reactions.CreateIssueCommentReaction(ctx, "ada", "engine", c.GetID(), "rocket")
	check(t, err)
	if _, again, err := his.Reactions.CreateIssueCommentReaction(ctx, "ada", "engine", c.GetID(), "rocket"); err != nil || res.StatusCode != http.StatusCreated || again.StatusCode != http.StatusOK {
		t.Errorf("reacted with %d, then %v, %v", res.StatusCode, again, err)
	}
	c, _, err = his.Issues.GetComment(ctx, "ada", "engine", c.GetID())
	check(t, err)
	if c.GetReactions().GetRocket() != 1 {
		t.Errorf("reactions %v", c.Reactions)
	}
	_, err = his.Reactions.DeleteIssueCommentReaction(ctx, "ada", "engine", c.GetID(), r.GetID())
	check(t, err)
	_, _, err = his.Reactions.CreateIssueReaction(ctx, "ada", "engine", 1, "+1")
	check(t, err)
	timeline, _, err := client.Issues.ListIssueTimeline(ctx, "ada", "engine", 1, nil)
	check(t, err)
	if len(timeline) != 1 || timeline[0].GetEvent() != "commented" || timeline[0].GetBody() != "hers" {
		t.Errorf("timeline %v", timeline)
	}
	for n := range 4 {
		_, _, err = his.Issues.CreateComment(ctx, "ada", "engine", 1, &github.IssueComment{Body: ptr(fmt.Sprint(n))})
		check(t, err)
	}
	page, res, err := client.Issues.ListComments(ctx, "ada", "engine", 1, &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 2, Page: 2}})
	check(t, err)
	if len(page) != 2 || res.NextPage != 3 || res.PrevPage != 1 {
		t.Errorf("page of %d, next %d, previous %d", len(page), res.NextPage, res.PrevPage)
	}
	_, err = his.Issues.DeleteComment(ctx, "ada", "engine", page[0].GetID())
	check(t, err)
	// What one may not do, and what is not there.
	var answer *github.ErrorResponse
	if _, _, err = his.Issues.Edit(ctx, "ada", "engine", 1, &github.IssueRequest{Title: ptr("his")}); !errors.As(err, &answer) || answer.Response.StatusCode != http.StatusForbidden {
		t.Errorf("edited another's: %v", err)
	}
	if _, _, err = his.Issues.Get(ctx, "ada", "engine", 99); !errors.As(err, &answer) || answer.Response.StatusCode != http.StatusNotFound {
		t.Errorf("got what is not there: %v", err)
	}
	for _, body := range []string{"", strings.Repeat("x", 65_537)} {
		if _, _, err = his.Issues.CreateComment(ctx, "ada", "engine", 1, &github.IssueComment{Body: &body}); !errors.As(err, &answer) ||
			answer.Response.StatusCode != http.StatusUnprocessableEntity || answer.Errors[0].Field != "body" {
			t.Errorf("%d characters: %v", len(body), err)
		}
	}
}

func TestGitHubClientLabels(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	client := gh(t, s, ada).Issues
	ctx := t.Context()
	labels, _, err := client.ListLabels(ctx, "ada", "engine", nil)
	check(t, err)
	if len(labels) != 9 || labels[0].GetName() != "bug" {
		t.Errorf("default labels %v", labels)
	}
	l, _, err := client.CreateLabel(ctx, "ada", "engine", &github.Label{Name: ptr("kind/a b"), Color: ptr("AABBCC"), Description: ptr("Sort of")})
	check(t, err)
	if l.GetColor() != "aabbcc" || l.GetDescription() != "Sort of" || l.GetDefault() {
		t.Errorf("label %v", l)
	}
	got, _, err := client.GetLabel(ctx, "ada", "engine", "kind/a b")
	check(t, err)
	if got.GetID() != l.GetID() || got.GetNodeID() == "" {
		t.Errorf("got %v", got)
	}
	_, _, err = client.Create(ctx, "ada", "engine", &github.IssueRequest{Title: ptr("x"), Labels: &[]string{"kind/a b"}})
	check(t, err)
	on, _, err := client.AddLabelsToIssue(ctx, "ada", "engine", 1, []string{"bug", "question"})
	check(t, err)
	if len(on) != 3 {
		t.Errorf("labels %v", on)
	}
	_, err = client.RemoveLabelForIssue(ctx, "ada", "engine", 1, "kind/a b")
	check(t, err)
	var answer *github.ErrorResponse
	if _, err = client.RemoveLabelForIssue(ctx, "ada", "engine", 1, "kind/a b"); !errors.As(err, &answer) || answer.Response.StatusCode != http.StatusNotFound {
		t.Errorf("removed again: %v", err)
	}
	on, _, err = client.ReplaceLabelsForIssue(ctx, "ada", "engine", 1, []string{"invalid"})
	check(t, err)
	if len(on) != 1 || on[0].GetName() != "invalid" {
		t.Errorf("replaced by %v", on)
	}
	_, err = client.RemoveLabelsForIssue(ctx, "ada", "engine", 1)
	check(t, err)
	_, _, err = client.EditLabel(ctx, "ada", "engine", "kind/a b", &github.Label{Color: ptr("000000")})
	check(t, err)
	_, err = client.DeleteLabel(ctx, "ada", "engine", "kind/a b")
	check(t, err)
	for name, bad := range map[string]*github.Label{"taken": {Name: ptr("Bug")}, "long": {Name: ptr(strings.Repeat("x", 51))}, "colour": {Name: ptr("x"), Color: ptr("red")}} {
		if _, _, err = client.CreateLabel(ctx, "ada", "engine", bad); !errors.As(err, &answer) || answer.Response.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: %v", name, err)
		}
	}
	people, _, err := client.ListAssignees(ctx, "ada", "engine", nil)
	check(t, err)
	if len(people) != 1 {
		t.Errorf("assignees %v", people)
	}
	if ok, _, err := client.IsAssignee(ctx, "ada", "engine", "nobody"); ok || err != nil {
		t.Errorf("nobody is assignable: %v, %v", ok, err)
	}
	i, _, err := client.AddAssignees(ctx, "ada", "engine", 1, []string{"ada"})
	check(t, err)
	if len(i.Assignees) != 1 {
		t.Errorf("assigned %v", i.Assignees)
	}
	if i, _, err = client.RemoveAssignees(ctx, "ada", "engine", 1, []string{"ada"}); err != nil || len(i.Assignees) != 0 {
		t.Errorf("unassigned %v, %v", i, err)
	}
}

func TestGitHubClientRelations(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	client := gh(t, s, ada)
	ctx := t.Context()
	var made []*github.Issue
	for _, title := range []string{"whole", "part", "other"} {
		i, _, err := client.Issues.Create(ctx, "ada", "engine", &github.IssueRequest{Title: &title, Body: ptr("searching zebras")})
		check(t, err)
		made = append(made, i)
	}
	_, _, err := client.SubIssue.Add(ctx, "ada", "engine", 1, github.SubIssueRequest{SubIssueID: made[1].GetID()})
	check(t, err)
	parts, _, err := client.SubIssue.ListByIssue(ctx, "ada", "engine", 1, nil)
	check(t, err)
	if len(parts) != 1 || *parts[0].Number != 2 {
		t.Errorf("parts %v", parts)
	}
	_, _, err = client.Issues.AddBlockedBy(ctx, "ada", "engine", 1, github.IssueDependencyRequest{IssueID: made[2].GetID()})
	check(t, err)
	waits, _, err := client.Issues.ListBlockedBy(ctx, "ada", "engine", 1, nil)
	check(t, err)
	if len(waits) != 1 || waits[0].GetNumber() != 3 {
		t.Errorf("waits for %v", waits)
	}
	_, _, err = client.Issues.RemoveBlockedBy(ctx, "ada", "engine", 1, made[2].GetID())
	check(t, err)
	found, _, err := client.Search.Issues(ctx, "repo:ada/engine zebras is:open in:body", nil)
	check(t, err)
	if found.GetTotal() != 3 {
		t.Errorf("found %d", found.GetTotal())
	}
}

// What the world holds that no client sends.
func TestAPIOdd(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	issue := "/repos/ada/engine/issues"
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"no title":     {`{}`, 422},
		"null title":   {`{"title": null}`, 422},
		"number":       {`{"title": 12}`, 201},
		"NUL":          {`{"title": "a\u0000b"}`, 422},
		"lone half":    {`{"title": "\ud800"}`, 201},
		"label object": {`{"title": "x", "labels": [{"name": "bug"}]}`, 201},
		"bad label":    {`{"title": "x", "labels": [7]}`, 422},
		"milestone":    {`{"title": "x", "milestone": "seven"}`, 422},
		"null rest":    {`{"title": "x", "body": null, "labels": null, "assignees": null, "milestone": null}`, 201},
		"not JSON":     {`{"title": `, 400},
		"array":        {`[]`, 422},
	} {
		r := ada.Do(http.MethodPost, "/api/v3"+issue, strings.NewReader(c.body), "Authorization", "Bearer "+ada.Token, "Content-Type", "application/json")
		if r.Status != c.status {
			t.Errorf("%s: %d, want %d: %s", name, r.Status, c.status, r.Body)
		}
	}
	for path, status := range map[string]int{
		issue + "/0": 404, issue + "/x": 404, issue + "/99999999999999999999": 404, issue + "?state=odd": 422,
		issue + "?since=yesterday": 422, issue + "?milestone=9": 422, issue + "?assignee=nobody": 200,
		issue + "?page=100000&per_page=1000": 200, issue + "/comments/1": 404, "/search/issues?q=x": 422,
	} {
		if r := ada.API(http.MethodGet, path, nil); r.Status != status {
			t.Errorf("%s: %d, want %d: %s", path, r.Status, status, r.Body)
		}
	}
	anon := s.Anon()
	anon.API(http.MethodGet, issue, nil).OK()
	anon.API(http.MethodPost, issue, map[string]any{"title": "x"}).Want(http.StatusUnauthorized)
	// All keys are there, null where GitHub sends null.
	got := ada.API(http.MethodGet, issue+"/1", nil).OK().JSON()
	for _, key := range []string{"body", "closed_at", "assignee", "milestone", "type", "active_lock_reason", "closed_by", "performed_via_github_app", "state_reason"} {
		if v, ok := got[key]; !ok || v != nil && key != "body" {
			t.Errorf("%s is %v, there: %v", key, v, ok)
		}
	}
}

// Pages of issues without gaps, with the budget of queries.
func TestAPIPaging(t *testing.T) {
	t.Parallel()
	_, ada := hub(t)
	for n := range 31 {
		ada.API(http.MethodPost, "/repos/ada/engine/issues", map[string]any{"title": fmt.Sprint(n), "labels": []string{"bug"}}).Want(http.StatusCreated)
	}
	first := ada.API(http.MethodGet, "/repos/ada/engine/issues?labels=bug", nil).OK()
	if n := queries(t, first.Header); n > 6 {
		t.Errorf("a list took %d queries", n)
	}
	if link := first.Header.Get("Link"); !strings.Contains(link, `page=2>; rel="next"`) || !strings.Contains(link, `rel="last"`) {
		t.Errorf("Link %q", link)
	}
	var page []map[string]any
	ada.API(http.MethodGet, "/repos/ada/engine/issues?labels=bug&page=2", nil).OK().Into(&page)
	if len(page) != 1 || page[0]["number"] != 1.0 {
		t.Errorf("second page %v", page)
	}
}
