package activity_test

import (
	"encoding/xml"
	"net/http"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestActivity(t *testing.T) {
	t.Parallel()
	s := apptest.NewWorking(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	ann.API(http.MethodPost, "/user/repos", map[string]any{"name": "box", "auto_init": true}).Want(http.StatusCreated)
	ann.API(http.MethodPut, "/repos/ann/box/contents/a.txt", map[string]any{"message": "add a <b>", "content": "YQo="}).Want(http.StatusCreated)
	ann.API(http.MethodPost, "/repos/ann/box/issues", map[string]any{"title": "Jam & cream"}).Want(http.StatusCreated)
	bob.API(http.MethodPost, "/repos/ann/box/issues/1/comments", map[string]any{"body": "seen"}).Want(http.StatusCreated)
	ann.API(http.MethodPatch, "/repos/ann/box/issues/1", map[string]any{"state": "closed"}).OK()
	settle(t, s)

	page := s.Anon().Get("/ann/box/activity").OK().Has("closed issue").Has("Jam &amp; cream #1").Has("commented on").Has("add a &lt;b&gt;").Has("pushed to")
	if href, _ := page.Find("#activity li a:contains('Jam')").First().Attr("href"); href != "/ann/box/issues/1" {
		t.Errorf("an issue is at %q", href)
	}
	if n := s.Anon().Get("/ann/box/activity?kind=pushes").OK().Find("#activity li:contains('issue')").Length(); n != 0 {
		t.Errorf("%d lines about issues among the pushes", n)
	}
	if n := s.Anon().Get("/ann/box/activity?actor=bob").OK().Find("#activity > div > ul > li, #activity section > ul > li").Length(); n > 1 {
		t.Errorf("bob did %d things", n)
	}
	s.Anon().Get("/ann/box/activity?actor=nobody-there").OK().Has("Nobody has this name.").Has("Nothing of this kind")

	var feed struct {
		Entries []struct {
			Title string `xml:"title"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal([]byte(s.Anon().Get("/ann/box/activity.atom").OK().Body), &feed); err != nil || len(feed.Entries) < 5 || feed.Entries[0].Title != "ann closed issue Jam & cream #1" {
		t.Errorf("feed %+v %v", feed, err)
	}
	pushes := ann.API(http.MethodGet, "/repos/ann/box/activity?actor=ann", nil).OK()
	pushes.Has(`"activity_type":"push"`).Has(`"activity_type":"branch_creation"`).Has(`"ref":"refs/heads/main"`)
	ann.API(http.MethodGet, "/repos/ann/box/activity?activity_type=force_push", nil).OK().Has("[]")

	// What is confidential stays so, and a private repository is not there.
	ann.API(http.MethodPatch, "/repos/ann/box", map[string]any{"private": true}).OK()
	bob.Get("/ann/box/activity").Want(http.StatusNotFound)
	bob.Get("/ann/box/activity.atom").Want(http.StatusNotFound)
}

// settle waits until the log has all that was published.
func settle(t *testing.T, s *apptest.Server) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var n int
		if err := s.DB.JobsPool().QueryRow(t.Context(), "SELECT count(*) FROM events.incoming").Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("events are still on their way")
		}
	}
}
