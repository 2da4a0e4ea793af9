package issues_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
)

func post(c *apptest.Client, title, body string) *apptest.Response {
	return c.Post("/ada/engine/issues/new", "title", title, "body", body)
}

func TestPages(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	bob, anon := s.User(t, "bob"), s.Anon()
	anon.Get("/ada/engine/issues").OK().Has("There are no issues yet.")
	ada.Get("/ada/engine/issues/new").OK()
	if r := anon.Get("/ada/engine/issues/new"); r.Status != http.StatusSeeOther || !strings.HasPrefix(r.Location(), "/login") {
		t.Errorf("a stranger's new issue: %d to %s", r.Status, r.Location())
	}
	r := post(ada, "Crash <b>now</b>", "It *does*.\n\n- [ ] fix\n\n@bob")
	if r.Status != http.StatusSeeOther || r.Location() != "/ada/engine/issues/1" {
		t.Fatalf("opened: %d to %s", r.Status, r.Location())
	}
	bob.Get("/ada/engine/issues/1").OK()
	page := bob.Get("/ada/engine/issues/1").OK()
	if got := page.Text("h1"); got != "Crash <b>now</b> #1" {
		t.Errorf("title %q", got)
	}
	page.Has(`<em>does</em>`).Has(`href="/bob"`).Has(`data-live-topic="thread:`)
	if page.Find("#reply-form").Length() != 1 || page.Find("[data-tasks]").Length() != 0 {
		t.Error("a reader's page")
	}
	if n := queries(t, page.Header); n > 6 {
		t.Errorf("the page took %d queries", n)
	}
	r = bob.Post("/ada/engine/issues/1/comments", "body", "Me too", "do", "comment")
	if !strings.HasPrefix(r.Location(), "/ada/engine/issues/1#comment-") {
		t.Errorf("commented: %d to %s", r.Status, r.Location())
	}
	part := ada.HTMX("/ada/engine/issues/1", "timeline").OK().Has("Me too")
	if strings.Contains(part.Body, "<html") || part.Find("#timeline").Length() != 1 {
		t.Error("the part is no part")
	}
	ada.Post("/ada/engine/issues/1/comments", "body", "Done", "do", "close").Want(http.StatusSeeOther)
	ada.Get("/ada/engine/issues/1").OK().Has("closed this as completed").Has("Reopen")
	list := ada.Get("/ada/engine/issues?q=is%3Aclosed").OK().Has("Crash &lt;b&gt;now&lt;/b&gt;")
	if n := queries(t, list.Header); n > 6 {
		t.Errorf("the list took %d queries", n)
	}
	ada.Get("/ada/engine/issues/99").Want(http.StatusNotFound)
	ada.Get("/ada/engine/issues/0").Want(http.StatusNotFound)
}

// Every form keeps what was typed and says what is wrong.
func TestRefused(t *testing.T) {
	t.Parallel()
	_, ada := hub(t)
	long := strings.Repeat("y", 65_537)
	r := post(ada, "", "kept text").Want(http.StatusUnprocessableEntity)
	if r.Find("textarea[name=body]").Text() != "kept text" || r.Find("[name=title]").AttrOr("aria-invalid", "") != "true" {
		t.Errorf("new issue: %s", r.Text("form"))
	}
	r = post(ada, "kept title", long).Want(http.StatusUnprocessableEntity)
	if r.Find("[name=title]").AttrOr("value", "") != "kept title" || r.Find("textarea[name=body]").Text() != long {
		t.Error("the long text is lost")
	}
	post(ada, "x", "y").Want(http.StatusSeeOther)
	for _, body := range []string{"", "  ", long} {
		r = ada.Post("/ada/engine/issues/1/comments", "body", body).Want(http.StatusUnprocessableEntity)
		if strings.TrimSpace(r.Find("#reply-form textarea").Text()) != strings.TrimSpace(body) || r.Find("#reply-form [aria-invalid]").Length() != 1 {
			t.Errorf("comment of %d characters", len(body))
		}
	}
	ada.Post("/ada/engine/issues/1/title", "title", " ", "version", "1").Want(http.StatusUnprocessableEntity).Has("A title is needed")
	r = ada.Post("/ada/engine/issues/1/edit", "body", "mine", "version", "1")
	if r.Status != http.StatusSeeOther {
		t.Fatal(r.Status)
	}
	r = ada.Post("/ada/engine/issues/1/edit", "body", "late", "version", "1").Want(http.StatusConflict)
	if r.Find("textarea[name=body]").Text() != "late" || r.Find("textarea[name=theirs]").Text() != "mine" || r.Find("[name=version]").AttrOr("value", "") != "2" {
		t.Error("the conflict view lacks a text")
	}
	ada.Post("/ada/engine/labels", "name", "", "color", "#000000").Want(http.StatusUnprocessableEntity)
	ada.Post("/ada/engine/labels", "name", "bug", "color", "#000000", "description", "kept").Want(http.StatusUnprocessableEntity).Has(`value="kept"`)
	ada.Post("/ada/engine/milestones", "title", "", "description", "kept").Want(http.StatusUnprocessableEntity).Has("kept")
	ada.Post("/ada/engine/milestones", "title", "v1", "due_on", "soon").Want(http.StatusUnprocessableEntity).Has("v1")
	ada.Post("/ada/engine/issues/1/transfer", "to", "no/where").Want(http.StatusUnprocessableEntity).Has("no/where")
}

// A double click makes one.
func TestDoubleClick(t *testing.T) {
	t.Parallel()
	_, ada := hub(t)
	for range 2 {
		r := ada.Post("/ada/engine/issues/new", "title", "once", "idempotency_key", "k1")
		if r.Location() != "/ada/engine/issues/1" {
			t.Errorf("%d to %s", r.Status, r.Location())
		}
	}
	for range 2 {
		ada.Post("/ada/engine/issues/1/comments", "body", "once", "idempotency_key", "k2").Want(http.StatusSeeOther)
	}
	if n := ada.Get("/ada/engine/issues/1").OK().Find("[id^=comment-]").Filter("article").Length(); n != 1 {
		t.Errorf("%d comments", n)
	}
}

func TestEditInPlace(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	bob := s.User(t, "bob")
	post(ada, "x", "first").Want(http.StatusSeeOther)
	bob.Post("/ada/engine/issues/1/comments", "body", "a comment").Want(http.StatusSeeOther)
	id := strings.TrimPrefix(ada.Get("/ada/engine/issues/1").OK().Find("article[id^=comment-]").AttrOr("id", ""), "comment-")
	at := "/ada/engine/issues/1/comments/" + id
	form := ada.HTMX(at+"/edit", "comment-"+id+"-body").OK()
	if form.Find("textarea").Text() != "a comment" || form.Find("html").Length() > 0 && strings.Contains(form.Body, "<html") {
		t.Errorf("form %s", form.Body)
	}
	ada.Get(at + "/edit").OK().Has("a comment")
	r := ada.Do(http.MethodPost, at+"/edit", strings.NewReader("body=**new**&version=1"), "Content-Type", "application/x-www-form-urlencoded",
		"HX-Request", "true", "HX-Target", "comment-"+id+"-body", "Sec-Fetch-Site", "same-origin")
	r.OK().Has("<strong>new</strong>")
	ada.Get(at + "/history").OK().Has("a comment").Has("**new**")
	bob.Get("/ada/engine/issues/1/edit").Want(http.StatusForbidden)
	ada.Get(at + "/delete").OK()
	bob.Post(at+"/reactions", "content", "heart").Want(http.StatusSeeOther)
	ada.Get("/ada/engine/issues/1").OK().Has("1 reaction: heart")
	bob.Post(at+"/reactions", "content", "heart").Want(http.StatusSeeOther)
	if strings.Contains(ada.Get("/ada/engine/issues/1").OK().Body, "reaction: heart") {
		t.Error("the reaction stays")
	}
	ada.Get(at + "/hidden").OK().Has("Hide this comment?")
	ada.Post(at+"/hidden", "reason", "spam").Want(http.StatusSeeOther)
	ada.Get("/ada/engine/issues/1").OK().Has("Hidden as spam")
	ada.Post(at + "/delete").Want(http.StatusSeeOther)
	ada.Get(at + "/edit").Want(http.StatusNotFound)
	post(ada, "tasks", "- [ ] one\n- [ ] two").Want(http.StatusSeeOther)
	ada.Post("/ada/engine/issues/2/task", "index", "1", "checked", "true", "text", "two").Want(http.StatusNoContent)
	ada.Post("/ada/engine/issues/2/task", "index", "1", "checked", "true", "text", "gone").Want(http.StatusConflict)
	ada.Get("/ada/engine/issues").OK().Has("1 of 2 tasks")
}

func TestSidebar(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	bob := s.User(t, "bob")
	post(ada, "x", "").Want(http.StatusSeeOther)
	post(ada, "y", "").Want(http.StatusSeeOther)
	ada.Post("/ada/engine/milestones", "title", "v1", "due_on", "2030-01-02").Want(http.StatusSeeOther)
	at := "/ada/engine/issues/1"
	form := Form("labels", "bug", "labels", "question", "labels", "")
	ada.PostForm(at+"/labels", form).Want(http.StatusSeeOther)
	ada.Post(at+"/assignees", "assignees", "@ada").Want(http.StatusSeeOther)
	ada.Post(at+"/milestone", "milestone", "1").Want(http.StatusSeeOther)
	ada.Post(at+"/pin", "on", "true").Want(http.StatusSeeOther)
	ada.Post(at+"/lock", "on", "true", "reason", "spam").Want(http.StatusSeeOther)
	ada.Post(at+"/children", "add", "#2").Want(http.StatusSeeOther)
	ada.Post(at+"/blockers", "add", "2").Want(http.StatusSeeOther)
	ada.Post(at+"/confidential", "on", "true").Want(http.StatusSeeOther)
	page := ada.Get(at).OK().Has("locked this conversation as").Has("made this confidential").Has("added this to the milestone").Has("took this on").
		Has("added the sub-issue").Has("noted that this waits for").Has("pinned this")
	if got := page.Text("#sidebar"); !strings.Contains(got, "bug") || !strings.Contains(got, "v1") || !strings.Contains(got, "Sub-issues") {
		t.Errorf("sidebar %s", got)
	}
	bob.Get(at).Want(http.StatusNotFound)
	ada.Post(at+"/confidential", "on", "false").Want(http.StatusSeeOther)
	bob.Get(at).OK().Has("This conversation is locked")
	bob.Post(at+"/labels", "labels", "bug").Want(http.StatusForbidden)
	bob.Post(at+"/subscription", "state", "subscribed").Want(http.StatusSeeOther)
	bob.Get(at).OK().Has("because you asked for it")
	ada.Get("/ada/engine/issues").OK().Has("Pinned").Has("1 sub-issue")
	ada.Get("/ada/engine/milestones").OK().Has("v1")
	ada.Get("/ada/engine/milestone/1").OK().Has("2 Jan 2030")
	ada.Get("/ada/engine/labels").OK().Has("bug")
	ada.Get("/ada/engine/labels?q=zzz").OK().Has("No label matches")
	r := ada.Do(http.MethodPost, at+"/assignees", strings.NewReader("assignees=nobody"), "Content-Type", "application/x-www-form-urlencoded",
		"HX-Request", "true", "HX-Target", "sidebar", "Sec-Fetch-Site", "same-origin")
	r.Want(http.StatusUnprocessableEntity).Has("There is no user named nobody.")
	if got := ada.Get(at + "/people?q=ad").OK().Body; !strings.Contains(got, `"ada"`) {
		t.Errorf("people %s", got)
	}
}

func Form(pairs ...string) map[string][]string { return apptest.Form(pairs...) }

func TestBulkAndViews(t *testing.T) {
	t.Parallel()
	_, ada := hub(t)
	for n := range 3 {
		post(ada, fmt.Sprint("issue ", n), "").Want(http.StatusSeeOther)
	}
	r := ada.PostForm("/ada/engine/issues/bulk", Form("numbers", "1", "numbers", "2", "do", "not_planned", "q", "is:open")).Want(http.StatusSeeOther)
	list := ada.Get(r.Location()).OK().Has("2 closed as not planned.")
	token := list.Find("[name=token]").AttrOr("value", "")
	ada.Post("/ada/engine/issues/bulk/undo", "token", token).Want(http.StatusSeeOther)
	if n := ada.Get("/ada/engine/issues").OK().Find("[data-row]").Length(); n != 3 {
		t.Errorf("%d open ones after undoing", n)
	}
	r = ada.PostForm("/ada/engine/issues/bulk", Form("numbers", "1", "numbers", "3", "do", "label:bug")).Want(http.StatusSeeOther)
	ada.Get(r.Location()).OK().Has("2 labelled bug.")
	ada.Post("/ada/engine/issues/views", "name", "My bugs", "query", "is:open label:bug", "shared", "true").Want(http.StatusSeeOther)
	ada.Get("/ada/engine/issues").OK().Has("My bugs")
	if n := ada.Get("/ada/engine/issues?q=is%3Aopen+label%3Abug").OK().Find("[data-row]").Length(); n != 2 {
		t.Errorf("%d bugs", n)
	}
	if n := ada.Get("/ada/engine/issues?label=bug").OK().Find("[data-row]").Length(); n != 2 {
		t.Errorf("%d bugs by the old address", n)
	}
}

func TestTransfer(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	ada.API(http.MethodPost, "/user/repos", map[string]any{"name": "mill"}).Want(http.StatusCreated)
	post(ada, "in the mill", "body").Want(http.StatusSeeOther)
	ada.Post("/ada/engine/issues/1/labels", "labels", "bug").Want(http.StatusSeeOther)
	ada.Post("/ada/engine/issues/1/comments", "body", "a comment").Want(http.StatusSeeOther)
	r := ada.Post("/ada/engine/issues/1/transfer", "to", "ada/mill").Want(http.StatusSeeOther)
	if r.Location() != "/ada/mill/issues/1" {
		t.Fatalf("moved to %s", r.Location())
	}
	ada.Get("/ada/mill/issues/1").OK().Has("a comment").Has("in the mill").Has("bug").Has("moved this here from")
	if r := s.Anon().Get("/ada/engine/issues/1"); r.Status != http.StatusMovedPermanently || r.Location() != "/ada/mill/issues/1" {
		t.Errorf("the old address: %d to %s", r.Status, r.Location())
	}
	if r := ada.API(http.MethodGet, "/repos/ada/engine/issues/1", nil); r.Status != http.StatusMovedPermanently {
		t.Errorf("the old address in the API: %d", r.Status)
	}
	post(ada, "next", "").Want(http.StatusSeeOther)
	ada.Get("/ada/engine/issues/2").OK()
	ada.Get("/ada/engine/issues/2/delete").OK()
	ada.Post("/ada/engine/issues/2/delete").Want(http.StatusSeeOther)
	ada.Get("/ada/engine/issues/2").Want(http.StatusNotFound)
}

func TestLongThread(t *testing.T) {
	t.Parallel()
	_, ada := hub(t)
	post(ada, "long", "see #1").Want(http.StatusSeeOther)
	for n := range 50 {
		ada.API(http.MethodPost, "/repos/ada/engine/issues/1/comments", map[string]any{"body": fmt.Sprint("comment number ", n, " by @ada about #1")}).Want(http.StatusCreated)
	}
	page := ada.Get("/ada/engine/issues/1").OK().Has("comment number 49")
	if n := queries(t, page.Header); n > 6 {
		t.Errorf("50 comments took %d queries", n)
	}
	for n := range 90 {
		ada.API(http.MethodPost, "/repos/ada/engine/issues/1/comments", map[string]any{"body": fmt.Sprint("later ", n)}).Want(http.StatusCreated)
	}
	page = ada.Get("/ada/engine/issues/1").OK().Has("Show 20 hidden items")
	if n := page.Find("article").Length(); n != 121 {
		t.Errorf("%d cards", n)
	}
	if n := ada.Get("/ada/engine/issues/1?all=1").OK().Find("article").Length(); n != 141 {
		t.Errorf("%d cards of all", n)
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	ada.Post("/-/preview", "text", "**a** @ada <script>x</script>", "context", "ada/engine").OK().Has("<strong>a</strong>").Has(`href="/ada"`)
	if r := ada.Post("/-/preview", "text", "<script>x</script>", "context", ""); strings.Contains(r.Body, "<script") {
		t.Error("a script runs in the preview")
	}
	if r := s.Anon().Post("/-/preview", "text", "x"); r.Status == http.StatusOK {
		t.Error("strangers have previews")
	}
}
