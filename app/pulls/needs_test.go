package pulls_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/google/go-github/v89/github"
)

// try runs git in the work tree and is what it said, with an error or not.
func (b *bench) try(args ...string) (string, error) {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "git", args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// writer gives an account a role in ada's repository.
func (b *bench) role(name, role string) *apptest.Client {
	b.t.Helper()
	c := b.User(b.t, name)
	_, err := b.DB.JobsPool().Exec(b.t.Context(), `INSERT INTO directory.collaborators (repo_id, account_id, role, created_at)
		SELECT r.id, $1, $2, now() FROM directory.repos r WHERE r.name = 'engine'`, c.Account.ID, role)
	check(b.t, err)
	return c
}

func TestProtectedBranch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bob := b.role("bob", "write")
	client, ctx := hub(t, b, b.ada), t.Context()
	_, _, err := client.Repositories.UpdateBranchProtection(ctx, "ada", "engine", "main", &github.ProtectionRequest{
		RequiredStatusChecks:       &github.RequiredStatusChecks{Strict: true, Contexts: &[]string{"build"}},
		RequiredPullRequestReviews: &github.PullRequestReviewsEnforcementRequest{RequiredApprovingReviewCount: 1},
		RequireLinearHistory:       github.Ptr(true), RequiredConversationResolution: github.Ptr(true),
	})
	check(t, err)
	p, _, err := client.Repositories.GetBranchProtection(ctx, "ada", "engine", "main")
	check(t, err)
	if p.RequiredPullRequestReviews.RequiredApprovingReviewCount != 1 || !p.RequireLinearHistory.Enabled || !slices.Equal(*p.RequiredStatusChecks.Contexts, []string{"build"}) || p.EnforceAdmins.Enabled {
		t.Errorf("protection %+v", p)
	}
	b.git("remote", "add", "bob", b.remote(bob, "ada/engine"))
	b.commit("main", "direct", "d.txt", "d\n")
	for _, c := range [][]string{{"push", "bob", "main"}, {"push", "bob", ":main"}, {"push", "origin", "+main~1:main"}} {
		if out, err := b.try(c...); c[2] != "+main~1:main" && (err == nil || !strings.Contains(out, "protected") && !strings.Contains(out, "default branch")) {
			t.Errorf("git %v: %v %s", c, err, out)
		}
	}
	// Administrators may push, but not rewrite.
	b.push("main")
	b.git("switch", "-q", "-c", "rewritten", "main~1")
	b.commit("rewritten", "other", "e.txt", "e\n")
	if out, err := b.try("push", "origin", "+rewritten:main"); err == nil || !strings.Contains(out, "cannot be rewritten") {
		t.Errorf("force push of an administrator: %v %s", err, out)
	}
	// A write through the API is held to the same rule.
	res := bob.API(http.MethodPut, "/repos/ada/engine/contents/x.txt", map[string]any{"message": "x", "content": "eA==", "branch": "main"})
	if res.Status != http.StatusForbidden && res.Status != http.StatusConflict && res.Status != http.StatusUnprocessableEntity {
		t.Errorf("write through the API: %d %s", res.Status, res.Body)
	}
	b.git("switch", "-q", "main")
	sha := b.commit("topic", "topic", "t.txt", "t\n")
	b.push("topic")
	n := b.open("topic", "main")
	if got := b.pull(n)["mergeable_state"]; got != "blocked" {
		t.Errorf("mergeable_state %v", got)
	}
	at := fmt.Sprintf("/repos/ada/engine/pulls/%d/merge", n)
	refused := func(want string) {
		t.Helper()
		for _, c := range []*apptest.Client{bob, b.ada} {
			if res := c.API(http.MethodPut, at, map[string]any{"merge_method": "squash"}).Want(http.StatusMethodNotAllowed); !strings.Contains(res.Body, want) {
				t.Errorf("refusal %s, want %q", res.Body, want)
			}
		}
	}
	refused("An approval is needed")
	page := b.ada.Get(fmt.Sprintf("/ada/engine/pull/%d", n)).OK()
	page.Has("An approval is needed").Has("1 required check is not done").Has("in spite of the rules")
	bob.Get(fmt.Sprintf("/ada/engine/pull/%d", n)).OK().Has("An approval is needed")
	// Nobody approves their own; bob's counts, a reader's does not.
	_, _, err = client.Repositories.CreateStatus(ctx, "ada", "engine", sha, github.RepoStatus{State: github.Ptr("success"), Context: github.Ptr("build")})
	check(t, err)
	res = b.ada.API(http.MethodPut, at, map[string]any{"merge_method": "merge", "bypass_rules": true}).OK()
	if res.JSON()["merged"] != true {
		t.Errorf("administrators may pass over the rules: %s", res.Body)
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sha := b.git("rev-parse", "main")
	client, ctx := hub(t, b, b.ada), t.Context()
	for _, state := range []string{"pending", "success"} {
		st, _, err := client.Repositories.CreateStatus(ctx, "ada", "engine", sha, github.RepoStatus{State: &state, Context: github.Ptr("ci/build"), TargetURL: github.Ptr("https://ci.example/1"), Description: github.Ptr("It " + state)})
		check(t, err)
		if st.GetState() != state || st.GetCreator().GetLogin() != "ada" {
			t.Errorf("status %v", st)
		}
	}
	_, _, err := client.Repositories.CreateStatus(ctx, "ada", "engine", sha, github.RepoStatus{State: github.Ptr("failure"), Context: github.Ptr("lint")})
	check(t, err)
	all, _, err := client.Repositories.GetCombinedStatus(ctx, "ada", "engine", "main", nil)
	check(t, err)
	if all.GetState() != "failure" || all.GetTotalCount() != 2 || all.GetSHA() != sha || len(all.Statuses) != 2 {
		t.Errorf("combined %v", all)
	}
	list, _, err := client.Repositories.ListStatuses(ctx, "ada", "engine", "main", nil)
	check(t, err)
	if len(list) != 3 || list[0].GetContext() != "lint" {
		t.Errorf("statuses %v", list)
	}
	run, _, err := client.Checks.CreateCheckRun(ctx, "ada", "engine", github.CreateCheckRunOptions{Name: "test", HeadSHA: sha, Status: github.Ptr("in_progress")})
	check(t, err)
	if run.GetStatus() != "in_progress" || run.GetConclusion() != "" {
		t.Errorf("check run %v", run)
	}
	run, _, err = client.Checks.UpdateCheckRun(ctx, "ada", "engine", run.GetID(), github.UpdateCheckRunOptions{Name: "test", Conclusion: github.Ptr("success"),
		Output: &github.CheckRunOutput{Title: github.Ptr("All well"), Summary: github.Ptr("12 tests"), Annotations: []*github.CheckRunAnnotation{{Path: github.Ptr("a.txt"), StartLine: github.Ptr(1), EndLine: github.Ptr(1), AnnotationLevel: github.Ptr("notice"), Message: github.Ptr("Fine")}}}})
	check(t, err)
	if run.GetStatus() != "completed" || run.GetConclusion() != "success" || run.GetOutput().GetAnnotationsCount() != 1 || run.CompletedAt == nil {
		t.Errorf("finished check run %v", run)
	}
	runs, _, err := client.Checks.ListCheckRunsForRef(ctx, "ada", "engine", "main", nil)
	check(t, err)
	if runs.GetTotal() != 1 || runs.CheckRuns[0].GetName() != "test" {
		t.Errorf("check runs %v", runs)
	}
	notes, _, err := client.Checks.ListCheckRunAnnotations(ctx, "ada", "engine", run.GetID(), nil)
	check(t, err)
	if len(notes) != 1 || notes[0].GetMessage() != "Fine" {
		t.Errorf("annotations %v", notes)
	}
	for _, bad := range []map[string]any{{"state": "great"}, {"state": "success", "target_url": "javascript:alert(1)"}} {
		b.ada.API(http.MethodPost, "/repos/ada/engine/statuses/"+sha, bad).Want(http.StatusUnprocessableEntity)
	}
	b.User(t, "eve").API(http.MethodPost, "/repos/ada/engine/statuses/"+sha, map[string]any{"state": "success"}).Want(http.StatusForbidden)
}
