package protection_test

import (
	"net/http"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/google/go-github/v89/github"
)

// GitHub's Go client reads and changes the parts of a branch's protection, and
// rulesets.
func TestParts(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ada := s.User(t, "ada")
	ada.API(http.MethodPost, "/user/repos", map[string]any{"name": "engine", "auto_init": true}).Want(http.StatusCreated)
	client, err := github.NewClient(github.WithAuthToken(ada.Token), github.WithEnterpriseURLs(s.URL, s.URL), github.WithDisableRateLimitCheck())
	check(t, err)
	r, ctx := client.Repositories, t.Context()
	if _, _, err := r.GetPullRequestReviewEnforcement(ctx, "ada", "engine", "main"); err == nil {
		t.Error("an unprotected branch has a protection")
	}
	_, _, err = r.UpdateBranchProtection(ctx, "ada", "engine", "main", &github.ProtectionRequest{
		RequiredPullRequestReviews: &github.PullRequestReviewsEnforcementRequest{RequiredApprovingReviewCount: 1},
		RequiredStatusChecks:       &github.RequiredStatusChecks{Contexts: &[]string{"build"}},
		Restrictions:               &github.BranchRestrictionsRequest{Users: []string{"ada"}}})
	check(t, err)
	reviews, _, err := r.UpdatePullRequestReviewEnforcement(ctx, "ada", "engine", "main", &github.PullRequestReviewsEnforcementUpdate{RequiredApprovingReviewCount: 2, DismissStaleReviews: github.Ptr(true)})
	check(t, err)
	if reviews.RequiredApprovingReviewCount != 2 || !reviews.DismissStaleReviews {
		t.Errorf("reviews %v", reviews)
	}
	checks, _, err := r.UpdateRequiredStatusChecks(ctx, "ada", "engine", "main", &github.RequiredStatusChecksRequest{Strict: github.Ptr(true), Contexts: []string{"build", "test"}})
	check(t, err)
	if !checks.Strict || len(*checks.Contexts) != 2 {
		t.Errorf("checks %v", checks)
	}
	admins, _, err := r.AddAdminEnforcement(ctx, "ada", "engine", "main")
	check(t, err)
	if !admins.Enabled {
		t.Error("administrators are not held to it")
	}
	s.User(t, "bob")
	users, _, err := r.AddUserRestrictions(ctx, "ada", "engine", "main", []string{"bob"})
	check(t, err)
	if len(users) != 2 {
		t.Errorf("users %v", users)
	}
	rules := ada.API(http.MethodGet, "/repos/ada/engine/rules/branches/main", nil).OK()
	rules.Has("required_status_checks").Has("non_fast_forward").Has("pull_request")
	if _, err := r.RemovePullRequestReviewEnforcement(ctx, "ada", "engine", "main"); err != nil {
		t.Error(err)
	}
	if p, _, err := r.GetBranchProtection(ctx, "ada", "engine", "main"); err != nil || p.RequiredPullRequestReviews != nil || p.RequiredStatusChecks == nil {
		t.Errorf("protection %v %v", p, err)
	}
	made := ada.API(http.MethodPost, "/repos/ada/engine/rulesets", map[string]any{"name": "releases", "target": "branch", "enforcement": "active",
		"conditions": map[string]any{"ref_name": map[string]any{"include": []string{"refs/heads/release/*"}, "exclude": []string{}}},
		"rules":      []map[string]any{{"type": "deletion"}, {"type": "required_linear_history"}}}).Want(http.StatusCreated).JSON()
	set, _, err := r.GetRuleset(ctx, "ada", "engine", int64(made["id"].(float64)), false)
	check(t, err)
	if set.Name != "release/*" || set.Rules == nil || set.Rules.RequiredLinearHistory == nil || set.Rules.NonFastForward != nil {
		t.Errorf("ruleset %v", set)
	}
	ada.API(http.MethodPost, "/repos/ada/engine/rulesets", map[string]any{"name": "x", "rules": []map[string]any{{"type": "magic"}},
		"conditions": map[string]any{"ref_name": map[string]any{"include": []string{"~DEFAULT_BRANCH"}}}}).Want(http.StatusUnprocessableEntity)
	if _, err := r.DeleteRuleset(ctx, "ada", "engine", set.GetID()); err != nil {
		t.Error(err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
