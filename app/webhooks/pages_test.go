package webhooks_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestPages(t *testing.T) {
	t.Parallel()
	got := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("x-g1t-event")
		http.Error(w, "<b>no</b>", http.StatusTeapot)
	}))
	t.Cleanup(receiver.Close)
	s := apptest.New(t, func(c *app.Config) { c.OutboundAllow = []string{"127.0.0.1"} })
	ann := s.User(t, "ann")
	dbtest.Repo(t, s.App.DB, ann.Account, "box", dbtest.RepoOpts{})
	const base = "/ann/box/settings/hooks"
	s.User(t, "bob").Get(base).Want(http.StatusForbidden)
	ann.Get(base).OK().Has("No program is told yet")
	// A form that is refused keeps what was typed.
	bad := ann.Post(base, "url", "nonsense", "events", "push pull.opened", "format", "gitfor", "content_type", "json", "active", "true").Want(422)
	if v, _ := bad.Find("input[name=url]").Attr("value"); v != "nonsense" || !strings.Contains(bad.Find("textarea[name=events]").Text(), "push pull.opened") {
		t.Errorf("what was typed is lost: %q", v)
	}
	if bad.Find("[data-field=url] [role=alert], [data-field=url] .error, #url-note").Length() == 0 {
		t.Error("no message beside the address")
	}
	res := ann.Post(base, "url", receiver.URL+"/x", "events", "issue.*", "format", "gitfor", "content_type", "json", "secret", "s", "active", "true").Want(http.StatusSeeOther)
	hook := res.Location()
	ann.Get(base).OK().Has(receiver.URL)
	ann.Get(hook).OK().Has("Nothing was delivered yet")
	ann.Post(hook + "/pings").Want(http.StatusSeeOther)
	if event := <-got; event != "ping" {
		t.Errorf("sent %q", event)
	}
	until(t, "the attempt is recorded", func() bool { return s.App.Webhooks.Sender().Queued() == 0 })
	page := ann.Get(hook).OK().Has("Will be tried again").Has("This webhook is failing")
	dl, ok := page.Find("#deliveries a").Attr("href")
	if !ok {
		t.Fatal("no delivery is listed")
	}
	ann.Get(dl).OK().Has("&lt;b&gt;no&lt;/b&gt;").Has("x-g1t-signature-256").Has("418")
	ann.Post(dl + "/attempts").Want(http.StatusSeeOther)
	<-got
	ann.Get(hook + "?q=issue.opened").OK().Has("Nothing was delivered yet")
	// Saving without a secret keeps it; the switch turns the hook off.
	ann.Post(hook, "url", receiver.URL+"/y", "events", "*", "format", "gitfor", "content_type", "json").Want(http.StatusSeeOther)
	ann.Get(hook).OK().Has("A secret is set")
	ann.Get(base).OK().Has("Off")
	ann.Post(hook + "/delete").Want(http.StatusSeeOther)
	ann.Get(hook).Want(http.StatusNotFound)
}
