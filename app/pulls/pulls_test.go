package pulls_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-github/v89/github"
)

func TestOpenShowMerge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ada.API(http.MethodPost, "/repos/ada/engine/issues", map[string]any{"title": "Slow"}).Want(http.StatusCreated)
	b.commit("fast", "make it fast\n\nFixes #1", "a.txt", lines(1, 59)+"faster\n", "b.txt", "new\n")
	b.push("fast")
	client, ctx := hub(t, b, b.ada), t.Context()
	p, res, err := client.PullRequests.Create(ctx, "ada", "engine", &github.NewPullRequest{Title: github.Ptr("Fast"), Head: github.Ptr("fast"), Base: github.Ptr("main"), Body: github.Ptr("It is.")})
	check(t, err)
	if p.GetNumber() != 2 || !p.GetMergeable() || p.GetMergeableState() != "clean" || p.GetChangedFiles() != 2 || p.GetCommits() != 1 ||
		p.GetAdditions() != 2 || p.GetDeletions() != 1 || p.GetHead().GetLabel() != "ada:fast" || p.GetBase().GetRepo().GetFullName() != "ada/engine" {
		t.Errorf("opened %+v", p)
	}
	if loc := res.Header.Get("Location"); loc != p.GetURL() {
		t.Errorf("location %q, url %q", loc, p.GetURL())
	}
	files, _, err := client.PullRequests.ListFiles(ctx, "ada", "engine", 2, nil)
	check(t, err)
	if len(files) != 2 || files[0].GetFilename() != "a.txt" || files[0].GetStatus() != "modified" || files[1].GetStatus() != "added" ||
		!strings.HasPrefix(files[0].GetPatch(), "@@ -57,4 +57,4 @@") || files[1].GetPatch() != "@@ -0,0 +1 @@\n+new" {
		t.Errorf("files %v", files)
	}
	commits, _, err := client.PullRequests.ListCommits(ctx, "ada", "engine", 2, nil)
	check(t, err)
	if len(commits) != 1 || commits[0].GetCommit().GetMessage() != "make it fast\n\nFixes #1" || commits[0].GetAuthor().GetLogin() != "ada" {
		t.Errorf("commits %v", commits)
	}
	if merged, _, err := client.PullRequests.IsMerged(ctx, "ada", "engine", 2); merged || err != nil {
		t.Errorf("merged already: %v %v", merged, err)
	}
	diff, _, err := client.PullRequests.GetRaw(ctx, "ada", "engine", 2, github.RawOptions{Type: github.Diff})
	check(t, err)
	if !strings.Contains(diff, "+faster") {
		t.Errorf("diff %q", diff)
	}
	b.merge(2, map[string]any{"sha": strings.Repeat("0", 40)}).Want(http.StatusConflict)
	done, _, err := client.PullRequests.Merge(ctx, "ada", "engine", 2, "", &github.PullRequestOptions{SHA: p.GetHead().GetSHA()})
	check(t, err)
	if !done.GetMerged() || done.GetSHA() != b.remoteTip("refs/heads/main") {
		t.Errorf("merged %v, main is %s", done, b.remoteTip("refs/heads/main"))
	}
	b.merge(2, nil).Want(http.StatusMethodNotAllowed)
	p, _, err = client.PullRequests.Get(ctx, "ada", "engine", 2)
	check(t, err)
	if !p.GetMerged() || p.GetState() != "closed" || p.GetMergedBy().GetLogin() != "ada" || p.GetMergeCommitSHA() != done.GetSHA() {
		t.Errorf("after the merge %+v", p)
	}
	if i := b.ada.API(http.MethodGet, "/repos/ada/engine/issues/1", nil).OK().JSON(); i["state"] != "closed" {
		t.Errorf("the issue that it fixes is %v", i["state"])
	}
	if got := b.show("main", "b.txt"); got != "new" {
		t.Errorf("b.txt on main: %q", got)
	}
	b.git("fetch", "-q", "origin", "main")
	if got := b.git("log", "-1", "--format=%an|%s|%b|%P", "FETCH_HEAD"); !strings.HasPrefix(got, "ada|Merge pull request #2 from ada/fast|Fast") {
		t.Errorf("merge commit %q", got)
	}
	for kind, want := range map[string]int{"pull.opened": 1, "pull.merged": 1, "pull.closed": 0, "git.push": 3} {
		if n := b.events(kind); n != want {
			t.Errorf("%d events %s, want %d", n, kind, want)
		}
	}
}

func TestMergeMethods(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i, method := range []string{"squash", "rebase"} {
		b.git("switch", "-q", "main")
		b.git("pull", "-q", "origin", "main")
		file := method + ".txt"
		b.commit(method, "one of "+method, file, "one\n")
		b.git("-c", "user.name=Bo", "-c", "user.email=bo@example.com", "commit", "-q", "--allow-empty", "--author=Bo <bo@example.com>", "-m", "nothing of "+method)
		b.commit(method, "two of "+method, file, "one\ntwo\n")
		b.git("switch", "-q", "main")
		b.commit("main", "meanwhile "+method, "other-"+method+".txt", "x\n")
		b.push("main", method)
		n := b.open(method, "main")
		res := b.merge(n, map[string]any{"merge_method": method}).OK().JSON()
		b.git("fetch", "-q", "origin", "main")
		if tip := b.git("rev-parse", "FETCH_HEAD"); tip != res["sha"] {
			t.Errorf("%s: main is %s, answered %v", method, tip, res["sha"])
		}
		if got := b.show("main", file); got != "one\ntwo" {
			t.Errorf("%s: file %q", method, got)
		}
		subjects := strings.Split(b.git("log", "--format=%s", "FETCH_HEAD", "-3"), "\n")
		want := [][]string{
			{"Merge squash (#1)", "meanwhile squash", "start"},
			{"two of rebase", "one of rebase", "meanwhile rebase"},
		}[i]
		if !slices.Equal(subjects, want) {
			t.Errorf("%s: history %q, want %q", method, subjects, want)
		}
	}
	b.git("fetch", "-q", "origin", "main")
	body := b.git("log", "--format=%b", "--grep=Merge squash", "FETCH_HEAD")
	if !strings.Contains(body, "* one of squash") || !strings.Contains(body, "Co-authored-by: Bo <bo@example.com>") || strings.Contains(body, "Co-authored-by: Ada") {
		t.Errorf("squashed message %q", body)
	}
}

func TestConflictIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("left", "left", "a.txt", "left\n"+lines(2, 60))
	b.git("switch", "-q", "main")
	b.commit("main", "right", "a.txt", "right\n"+lines(2, 60))
	b.push("main", "left")
	n := b.open("left", "main")
	if p := b.pull(n); p["mergeable"] != false || p["mergeable_state"] != "dirty" {
		t.Errorf("mergeable %v %v", p["mergeable"], p["mergeable_state"])
	}
	if res := b.merge(n, nil).Want(http.StatusMethodNotAllowed).JSON(); !strings.Contains(res["message"].(string), "a.txt") {
		t.Errorf("refusal %v", res["message"])
	}
	// Resolved in the branch it goes through.
	b.git("switch", "-q", "left")
	b.git("merge", "-q", "-X", "ours", "main")
	b.push("left")
	b.until(n, "mergeable", func(p map[string]any) bool { return p["mergeable"] == true })
	b.merge(n, nil).OK()
}

func TestRounds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.commit("topic", "one", "b.txt", "one\n")
	b.push("topic")
	n := b.open("topic", "main")
	second := b.commit("topic", "two", "b.txt", "one\ntwo\n")
	b.push("topic")
	b.until(n, "at the second commit", func(p map[string]any) bool { return p["head"].(map[string]any)["sha"] == second })
	b.git("reset", "-q", "--hard", "main")
	third := b.commit("topic", "anew", "c.txt", "other\n")
	b.push("+topic")
	p := b.until(n, "at the third commit", func(p map[string]any) bool { return p["head"].(map[string]any)["sha"] == third })
	if p["commits"] != 1.0 || p["changed_files"] != 1.0 {
		t.Errorf("after the force push %v commits, %v files", p["commits"], p["changed_files"])
	}
	if n := b.events("pull.synchronized"); n != 2 {
		t.Errorf("%d synchronized events", n)
	}
	// Old rounds can be fetched by id though no branch has them; the head is
	// advertised by its number, the refs that keep the rounds are not.
	b.git("fetch", "-q", "origin", first, second)
	if refs := b.git("ls-remote", "origin"); strings.Contains(refs, "refs/gitfor") || !strings.Contains(refs, third+"\trefs/pull/1/head") {
		t.Errorf("advertised %q", refs)
	}
}

func TestFoundMerged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("topic", "one", "b.txt", "one\n")
	b.push("topic")
	n := b.open("topic", "main")
	b.git("switch", "-q", "main")
	b.git("merge", "-q", "--no-ff", "-m", "by hand", "topic")
	b.push("main")
	p := b.until(n, "merged", func(p map[string]any) bool { return p["merged"] == true })
	if p["merge_commit_sha"] != b.git("rev-parse", "main") || p["merged_by"].(map[string]any)["login"] != "ada" {
		t.Errorf("merged as %v by %v", p["merge_commit_sha"], p["merged_by"])
	}
	if n := b.events("pull.merged"); n != 1 {
		t.Errorf("%d merged events", n)
	}
	// A head that is set back to what the base has is no merge.
	b.commit("back", "two", "c.txt", "two\n")
	b.push("back")
	n = b.open("back", "main")
	b.push("+main:back")
	p = b.until(n, "empty", func(p map[string]any) bool { return p["commits"] == 0.0 })
	if p["merged"] != false || p["state"] != "open" {
		t.Errorf("set back: merged %v, %v", p["merged"], p["state"])
	}
}

func TestUnrelatedHistories(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("switch", "-q", "--orphan", "island")
	b.commit("island", "another root", "island.txt", "sand\n")
	b.push("island")
	n := b.open("island", "main")
	p := b.pull(n)
	if p["mergeable"] != false || p["commits"] != 1.0 || p["changed_files"] != 1.0 {
		t.Errorf("mergeable %v, commits %v, files %v", p["mergeable"], p["commits"], p["changed_files"])
	}
	for _, method := range []string{"merge", "squash", "rebase"} {
		res := b.merge(n, map[string]any{"merge_method": method}).Want(http.StatusMethodNotAllowed).JSON()
		if !strings.Contains(res["message"].(string), "no common history") {
			t.Errorf("%s: %v", method, res["message"])
		}
	}
}

func TestParallelMerges(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const count = 100
	var refs []string
	for i := range count {
		name := "p" + strings.Repeat("x", i%3) + string(rune('a'+i%26)) + string(rune('a'+i/26))
		b.git("switch", "-q", "main")
		b.commit(name, name, name+".txt", name+"\n")
		refs = append(refs, name)
	}
	b.push(refs...)
	var numbers []int
	for _, name := range refs {
		numbers = append(numbers, b.open(name, "main"))
	}
	var wg sync.WaitGroup
	for _, n := range numbers {
		wg.Go(func() {
			if res := b.merge(n, nil); res.Status != http.StatusOK {
				t.Errorf("merge of %d: %d %s", n, res.Status, res.Body)
			}
		})
	}
	wg.Wait()
	b.git("fetch", "-q", "origin", "main")
	if got := len(strings.Fields(b.git("ls-tree", "--name-only", "FETCH_HEAD"))); got != count+2 {
		t.Errorf("%d files on main, want %d", got, count+2)
	}
	if n := b.eventsOf("pull.merged", count); n != count {
		t.Errorf("%d merged events, want %d", n, count)
	}
}

// Several requests to merge one pull request make one merge.
func TestMergeOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("topic", "one", "b.txt", "one\n")
	b.push("topic")
	n := b.open("topic", "main")
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for range 8 {
		wg.Go(func() {
			res := b.merge(n, nil)
			mu.Lock()
			defer mu.Unlock()
			statuses[res.Status]++
		})
	}
	wg.Wait()
	if statuses[http.StatusOK] != 1 || statuses[http.StatusMethodNotAllowed] != 7 {
		t.Errorf("answers %v", statuses)
	}
	if n := b.eventsOf("pull.merged", 1); n != 1 {
		t.Errorf("%d merged events", n)
	}
}

func TestStackIsRetargeted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("lower", "lower", "l.txt", "l\n")
	b.commit("upper", "upper", "u.txt", "u\n")
	b.push("lower", "upper")
	lower, upper := b.open("lower", "main"), b.open("upper", "lower")
	b.merge(lower, nil).OK()
	b.push(":lower")
	p := b.until(upper, "based on main", func(p map[string]any) bool { return p["base"].(map[string]any)["ref"] == "main" })
	if p["commits"] != 1.0 || p["mergeable"] != true {
		t.Errorf("commits %v, mergeable %v", p["commits"], p["mergeable"])
	}
	b.merge(upper, nil).OK()
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("topic", "one", "b.txt", "one\n")
	b.push("topic")
	n := b.open("topic", "main", "draft", true)
	open := func(head, base string) int {
		return b.ada.API(http.MethodPost, "/repos/ada/engine/pulls", map[string]any{"title": "x", "head": head, "base": base}).Status
	}
	for _, c := range [][2]string{{"topic", "main"}, {"main", "main"}, {"nope", "main"}, {"topic", "nope"}, {"", "main"}, {"main", "topic"}, {"bob:topic", "main"}} {
		if got := open(c[0], c[1]); got != http.StatusUnprocessableEntity {
			t.Errorf("opening %q into %q: %d", c[0], c[1], got)
		}
	}
	b.merge(n, nil).Want(http.StatusMethodNotAllowed).Has("draft")
	bob := b.User(t, "bob")
	bob.API(http.MethodPut, "/repos/ada/engine/pulls/1/merge", nil).Want(http.StatusForbidden)
	bob.API(http.MethodPatch, "/repos/ada/engine/pulls/1", map[string]any{"title": "Mine"}).Want(http.StatusForbidden)
	b.Anon().API(http.MethodGet, "/repos/ada/engine/pulls/1", nil).OK()
	b.Anon().API(http.MethodGet, "/repos/ada/engine/pulls/99", nil).Want(http.StatusNotFound)
	// Closing and reopening.
	b.ada.API(http.MethodPatch, "/repos/ada/engine/pulls/1", map[string]any{"state": "closed"}).OK()
	b.merge(n, nil).Want(http.StatusMethodNotAllowed)
	b.ada.API(http.MethodPatch, "/repos/ada/engine/pulls/1", map[string]any{"state": "open"}).OK()
	b.push(":topic")
	b.until(n, "closed", func(p map[string]any) bool { return p["state"] == "closed" })
	b.ada.API(http.MethodPatch, "/repos/ada/engine/pulls/1", map[string]any{"state": "open"}).Want(http.StatusConflict)
}
