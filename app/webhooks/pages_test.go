package webhooks_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/webhooks"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/webhookdb"
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

// TestPlacesOfPages keeps hooks of an organisation and of the instance on their
// own pages, for their owners only.
func TestPlacesOfPages(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	ann.Post("/organizations/new", "name", "guild").Want(http.StatusSeeOther)
	dbtest.Exec(t, s.App.DB, "UPDATE directory.users SET admin = (account_id = ?)", ann.Account.ID)
	for base, stranger := range map[string]int{"/organizations/guild/settings/hooks": http.StatusForbidden, "/admin/hooks": http.StatusNotFound} {
		bob.Get(base).Want(stranger)
		bob.Post(base, "url", "https://example.com/", "events", "*", "format", "gitfor", "content_type", "json").Want(stranger)
		ann.Get(base).OK().Has("No program is told yet")
		ann.Get(base + "/new").OK()
		hook := ann.Post(base, "url", "https://example.com/"+base, "events", "*", "format", "gitfor", "content_type", "json").Want(http.StatusSeeOther).Location()
		if !strings.HasPrefix(hook, base+"/") {
			t.Fatalf("made at %q", hook)
		}
		ann.Get(base).OK().Has("https://example.com/" + base)
		if at, _ := ann.Get(hook).OK().Find("#hook").Attr("action"); at != hook {
			t.Errorf("the form of %s goes to %q", hook, at)
		}
		ann.Post(hook + "/delete").Want(http.StatusSeeOther)
		ann.Get(base).OK().Has("No program is told yet")
	}
	ann.Get("/organizations/ann/settings/hooks").Want(http.StatusNotFound)
	ann.Get("/organizations/guild/settings/audit").OK().Has("hook.create").Has("hook.destroy")
}

// TestWarning mails the owners of a hook that has failed for an hour, once
// until it works again.
func TestWarning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	place := webhookdb.OfRepo(w.repo.ID)
	h := w.hook(place, "gitfor", "/x", "issue.*")
	answer := func(status int) {
		fn := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(status) })
		w.answer.Store(&fn)
	}
	jobs := func() (n int) {
		t.Helper()
		if err := w.a.DB.JobsPool().QueryRow(t.Context(), "SELECT count(*) FROM jobs.river_job WHERE kind = 'webhooks.warn'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	send := func(n int) {
		t.Helper()
		for i := range n {
			w.deliver(w.repo, opened{int64(i), "x", false})
			w.next()
			w.quiet()
		}
	}
	answer(http.StatusInternalServerError)
	send(6)
	if n := jobs(); n != 0 {
		t.Fatalf("%d warnings within the first hour", n)
	}
	hourAgo := func() {
		dbtest.Exec(t, w.a.DB, "UPDATE repo_1.hooks SET failing_since = failing_since - interval '61 minutes'")
	}
	hourAgo()
	send(3)
	if n := jobs(); n != 1 {
		t.Fatalf("%d warnings after an hour", n)
	}
	if err := w.a.Webhooks.WarnNow(t.Context(), webhooks.WarnArgs{Place: db.RepoKind, ID: w.repo.ID, Hook: h.ID}); err != nil {
		t.Fatal(err)
	}
	var mails int
	if err := w.a.DB.JobsPool().QueryRow(t.Context(), "SELECT count(*) FROM jobs.river_job WHERE kind = 'mail.send'").Scan(&mails); err != nil || mails != 1 {
		t.Errorf("%d mails, %v", mails, err)
	}
	answer(http.StatusOK)
	send(1)
	answer(http.StatusInternalServerError)
	send(5)
	hourAgo()
	send(1)
	if n := jobs(); n != 2 {
		t.Errorf("%d warnings after it failed anew", n)
	}
}
