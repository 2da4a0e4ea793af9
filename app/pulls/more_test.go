package pulls_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A merge that waits happens once nothing is missing, and is given up when
// somebody else pushes.
func TestAutoMerge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bob := b.role("bob", "write")
	b.ada.API(http.MethodPut, "/repos/ada/engine/branches/main/protection", map[string]any{"enforce_admins": true,
		"required_status_checks": map[string]any{"strict": false, "contexts": []string{"build"}}, "required_pull_request_reviews": nil, "restrictions": nil}).OK()
	sha := b.commit("fast", "make it fast", "a.txt", "x\n")
	b.push("fast")
	n := b.open("fast", "main")
	at := fmt.Sprintf("/ada/engine/pull/%d", n)
	bob.Get(at).OK().Has("Merge when ready")
	bob.Post(at+"/auto-merge", "method", "squash", "sha", sha, "title", "Mine (#1)").Want(http.StatusSeeOther)
	if a, _ := b.pull(n)["auto_merge"].(map[string]any); a["merge_method"] != "squash" {
		t.Fatalf("auto_merge %v", a)
	}
	b.ada.Get(at).OK().Has("Will be merged by itself")
	b.ada.API(http.MethodDelete, fmt.Sprintf("/repos/ada/engine/pulls/%d/auto-merge", n), nil).OK()
	if a := bob.API(http.MethodPut, fmt.Sprintf("/repos/ada/engine/pulls/%d/auto-merge", n), map[string]any{"merge_method": "squash"}).OK().JSON(); a["auto_merge"] == nil {
		t.Error("no auto_merge in the answer")
	}
	b.git("switch", "-q", "fast")
	again := b.commit("fast", "one more", "b.txt", "x\n")
	b.push("fast")
	b.until(n, "without auto-merge", func(p map[string]any) bool { return p["auto_merge"] == nil })
	b.ada.Get(at).OK().Has("no longer asks for this to be merged by itself")
	bob.Post(at+"/auto-merge", "method", "squash", "title", "Mine (#1)").Want(http.StatusSeeOther)
	b.ada.API(http.MethodPost, "/repos/ada/engine/statuses/"+again, map[string]any{"state": "success", "context": "build"}).Want(http.StatusCreated)
	b.ada.Get(at + "/commits").OK().Has("1 of 1 checks have succeeded")
	b.ada.Get("/ada/engine/commits/fast").OK().Has("1 of 1 checks have succeeded")
	b.ada.Get("/ada/engine/commit/" + again).OK().Has("1 of 1 checks have succeeded")
	p := b.until(n, "merged", func(p map[string]any) bool { return p["merged"] == true })
	if by, _ := p["merged_by"].(map[string]any); by["login"] != "bob" {
		t.Errorf("merged by %v", by["login"])
	}
	b.git("fetch", "-q", "origin", "main")
	if title := b.git("log", "-1", "--format=%s", "FETCH_HEAD"); title != "Mine (#1)" {
		t.Errorf("title %q", title)
	}
}

// A merged change is taken back, and picked onto another branch, by pull
// requests of their own.
func TestRevertAndPick(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"merge", "squash", "rebase"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.git("branch", "stable")
			b.push("stable")
			b.commit("fast", "one", "b.txt", "one\n")
			b.commit("fast", "two", "b.txt", "two\n", "c.txt", "c\n")
			b.git("switch", "-q", "main")
			b.commit("main", "meanwhile", "d.txt", "d\n")
			b.push("main", "fast")
			n := b.open("fast", "main", "title", "Make it fast")
			b.merge(n, map[string]any{"merge_method": method}).OK()
			at := fmt.Sprintf("/ada/engine/pull/%d", n)
			b.ada.Get(at).OK().Has("Revert")
			to := b.ada.Post(at + "/revert").Want(http.StatusSeeOther).Location()
			b.ada.Get(to).OK().Has("Revert &#34;Make it fast&#34;").Has("Reverts")
			if files := b.pull(n + 1)["changed_files"]; files != 2.0 {
				t.Errorf("the revert changes %v files", files)
			}
			b.merge(n+1, nil).OK()
			b.git("fetch", "-q", "origin", "main")
			if list := b.git("ls-tree", "--name-only", "FETCH_HEAD"); strings.Contains(list, "b.txt") || !strings.Contains(list, "d.txt") {
				t.Errorf("after the revert: %q", list)
			}
			to = b.ada.Post(at+"/cherry-pick", "onto", "stable").Want(http.StatusSeeOther).Location()
			b.ada.Get(to).OK().Has("Make it fast (stable)")
			b.merge(n+2, nil).OK()
			b.git("fetch", "-q", "origin", "stable")
			if list := b.git("ls-tree", "--name-only", "FETCH_HEAD"); !strings.Contains(list, "c.txt") || strings.Contains(list, "d.txt") {
				t.Errorf("after the pick: %q", list)
			}
			b.ada.Post(at+"/cherry-pick", "onto", "nowhere").Want(http.StatusSeeOther)
			b.ada.Get(at).OK().Has("There is no branch")
		})
	}
}

// Conflicts are resolved in the browser.
func TestConflicts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("clash", "mine", "README.md", "# Motor\n", "a.txt", "-")
	b.git("switch", "-q", "main")
	b.commit("main", "theirs", "README.md", "# Engine No. 1\n", "a.txt", lines(1, 59)+"last\n", "other.txt", "x\n")
	b.push("main", "clash")
	n := b.open("clash", "main")
	at := fmt.Sprintf("/ada/engine/pull/%d", n)
	b.ada.Get(at).OK().Has("There are conflicts with main.").Has("Resolve here")
	page := b.ada.Get(at + "/conflicts").OK().Has("&lt;&lt;&lt;&lt;&lt;&lt;&lt;").Has("Deleted, as on clash")
	in := form(page, at+"/conflicts")
	paths := in["path"]
	if len(paths) != 2 || paths[0] != "README.md" || paths[1] != "a.txt" {
		t.Fatalf("conflicts in %v", paths)
	}
	in.Set("how-0", "text")
	in.Set("how-1", "theirs")
	b.ada.PostForm(at+"/conflicts", in).Want(http.StatusUnprocessableEntity).Has("There are still marks of the conflict")
	in.Set("text-0", "# Motor No. 1\r\n")
	in.Set("message", "Both names")
	b.ada.PostForm(at+"/conflicts", in).Want(http.StatusSeeOther)
	if got := b.show("clash", "README.md"); got != "# Motor No. 1" {
		t.Errorf("README.md %q", got)
	}
	if got := b.show("clash", "a.txt"); !strings.HasSuffix(got, "last") {
		t.Errorf("a.txt ends %q", got[len(got)-10:])
	}
	p := b.pull(n)
	if p["mergeable"] != true || p["commits"] != 2.0 {
		t.Errorf("mergeable %v, %v commits", p["mergeable"], p["commits"])
	}
	if got := b.git("log", "-1", "--format=%s %P", "FETCH_HEAD"); !strings.HasPrefix(got, "Both names ") || len(strings.Fields(got)) != 4 {
		t.Errorf("merge %q", got)
	}
}

// Pull requests that stand on each other are shown together; each stays
// fetchable by its number.
func TestStack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.commit("one", "one", "1.txt", "1\n")
	b.commit("two", "two", "2.txt", "2\n")
	b.commit("three", "three", "3.txt", "3\n")
	b.push("one", "two", "three")
	first, second, third := b.open("one", "main"), b.open("two", "one"), b.open("three", "two")
	for _, n := range []int{first, second, third} {
		b.ada.Get(fmt.Sprintf("/ada/engine/pull/%d", n)).OK().Has("3 pull requests in this stack").Has("Merge one").Has("Merge two").Has("Merge three")
	}
	b.git("fetch", "-q", "origin", fmt.Sprintf("refs/pull/%d/head", second))
	if got := b.git("rev-parse", "FETCH_HEAD"); got != b.git("rev-parse", "two") {
		t.Errorf("refs/pull/%d/head is %s", second, got)
	}
	// Merged and its branch deleted: the next stands on main.
	b.merge(first, nil).OK()
	b.ada.Post(fmt.Sprintf("/ada/engine/pull/%d/branch/delete", first)).Want(http.StatusSeeOther)
	b.until(second, "based on main", func(p map[string]any) bool { return p["base"].(map[string]any)["ref"] == "main" })
	// Merged from the command line, too.
	b.git("fetch", "-q", "origin", "main")
	b.git("switch", "-q", "-C", "main", "FETCH_HEAD")
	b.git("merge", "-q", "--no-ff", "-m", "by hand", "two")
	b.push("main", ":two")
	b.until(second, "merged", func(p map[string]any) bool { return p["merged"] == true })
	b.until(third, "based on main", func(p map[string]any) bool { return p["base"].(map[string]any)["ref"] == "main" })
}
