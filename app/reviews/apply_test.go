package reviews_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Suggestions: one by the button below it, several as one commit, credited;
// a file's line ends stay (PUB-07).
func TestSuggestions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	crlf := strings.ReplaceAll(lines(1, 30), "\n", "\r\n")
	b.commit("main", "windows", "win.txt", crlf)
	b.git("push", "-q", "origin", "main")
	b.commit("fast", "make it fast", "a.txt", lines(1, 20)+"faster\n"+lines(22, 60), "win.txt", strings.Replace(crlf, "line 3\r\n", "third\r\n", 1))
	n := b.open("fast")
	at := fmt.Sprintf("/repos/ada/engine/pulls/%d/comments", n)
	say := func(path string, start, line int, text string) int64 {
		t.Helper()
		in := map[string]any{"path": path, "line": line, "body": "Rather:\n```suggestion\n" + text + "```\nso."}
		if start > 0 {
			in["start_line"] = start
		}
		id, _ := b.bob.API(http.MethodPost, at, in).Want(http.StatusCreated).JSON()["id"].(float64)
		return int64(id)
	}
	one := say("a.txt", 0, 21, "fastest\n")
	two := say("win.txt", 3, 4, "3\nand\n4\n")
	three := say("a.txt", 0, 50, "")
	clash := say("a.txt", 49, 51, "none\n")
	page := fmt.Sprintf("/ada/engine/pull/%d", n)
	b.ada.Get(page + "/files").OK().Has("Suggested change").Has("fastest").Has("Apply")
	if strings.Contains(b.eve.Get(page+"/files").OK().Body, "/apply") {
		t.Error("a reader is offered to apply")
	}
	b.eve.Post(fmt.Sprintf("%s/review-comments/%d/apply", page, one)).Want(http.StatusForbidden)
	b.ada.Post(fmt.Sprintf("%s/review-comments/%d/apply", page, one)).Want(http.StatusSeeOther)
	b.git("fetch", "-q", "origin", "fast")
	message := b.git("log", "-1", "--format=%B%n%an", "FETCH_HEAD")
	if !strings.Contains(message, "Co-authored-by: bob <") || !strings.HasSuffix(message, "ada") {
		t.Errorf("message %q", message)
	}
	if got := b.git("show", "FETCH_HEAD:a.txt"); !strings.Contains(got, "line 20\nfastest\nline 22\n") {
		t.Errorf("a.txt %q", got[100:200])
	}
	b.ada.Get(page + "/suggestions").OK().Has("win.txt").Has("Commit the chosen ones")
	ids := func(list ...int64) map[string][]string {
		v := map[string][]string{}
		for _, id := range list {
			v["ids"] = append(v["ids"], fmt.Sprint(id))
		}
		return v
	}
	b.ada.PostForm(page+"/suggestions", ids(three, clash)).Want(http.StatusUnprocessableEntity).Has("change the same lines")
	b.ada.PostForm(page+"/suggestions", ids(two, three)).Want(http.StatusSeeOther)
	b.git("fetch", "-q", "origin", "fast")
	if got := b.git("show", "FETCH_HEAD:win.txt"); !strings.Contains(got, "line 2\r\n3\r\nand\r\n4\r\nline 5\r\n") || strings.Count(got, "\n") != strings.Count(got, "\r\n")+0 {
		t.Errorf("win.txt %q", got[:60])
	}
	if got := b.git("show", "FETCH_HEAD:a.txt"); strings.Contains(got, "line 50\n") {
		t.Error("line 50 is still there")
	}
	b.ada.Get(page).OK().Has("Resolved")
	if b.pull(n)["commits"] != 3.0 {
		t.Errorf("%v commits", b.pull(n)["commits"])
	}
}
