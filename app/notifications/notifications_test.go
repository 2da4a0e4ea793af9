package notifications_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

type row struct {
	ID         string `json:"id"`
	Reason     string `json:"reason"`
	Unread     bool   `json:"unread"`
	Repository struct {
		FullName string `json:"full_name"`
	} `json:"repository"`
	Subject struct {
		Title, URL, Type string
		LatestCommentURL string `json:"latest_comment_url"`
	} `json:"subject"`
}

// forge is a working instance with ann's repository engine, and its mail.
type forge struct {
	*apptest.Server
	ann, bob, cas *apptest.Client
	mail          string
}

func newForge(t *testing.T) *forge {
	t.Helper()
	f := &forge{}
	f.Server = apptest.NewWorking(t, func(c *app.Config) { f.mail = filepath.Join(c.DataDir, "mail") })
	f.ann, f.bob, f.cas = f.User(t, "ann"), f.User(t, "bob"), f.User(t, "cas")
	f.ann.API("POST", "/user/repos", map[string]any{"name": "engine"}).Want(201)
	return f
}

func list(t *testing.T, c *apptest.Client, query string) []row {
	t.Helper()
	var rows []row
	c.API("GET", "/notifications"+query, nil).OK().Into(&rows)
	return rows
}

// settle waits until everything that was published has been told.
func (f *forge) settle(t *testing.T) {
	t.Helper()
	until(t, func() bool {
		var busy int
		err := f.DB.Directory().NewRaw(`SELECT (SELECT count(*) FROM events.incoming) + (SELECT count(*) FROM jobs.river_job
			WHERE state IN ('available', 'running', 'retryable', 'pending') AND kind IN ('events.batch', 'notifications.mail', 'notifications.push', 'mail.send', 'alarms.ring'))`).Scan(t.Context(), &busy)
		return err == nil && busy == 0
	})
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			t.Fatal("not done after 30 s")
		case <-tick.C:
		}
	}
}

// letters are the mails to an address, the oldest first, their lines unfolded.
func (f *forge) letters(t *testing.T, to string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(f.mail, "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("=\r\n", "", "=3D", "=", "\r\n ", " ").Replace(string(b))
		if strings.Contains(text, "<"+to+">") {
			out = append(out, text)
		}
	}
	return out
}

func header(letter, name string) string {
	m := regexp.MustCompile(`(?mi)^` + name + `: (.*?)\r?$`).FindStringSubmatch(letter)
	if m == nil {
		return ""
	}
	return m[1]
}

// TestInbox follows one issue through the inboxes of three people.
func TestInbox(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.bob.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "It smokes", "body": "@cas please look, @bob too"}).Want(201)
	f.settle(t)
	if rows := list(t, f.bob, "?all=true"); len(rows) != 0 {
		t.Errorf("one's own action told: %+v", rows)
	}
	rows := list(t, f.ann, "")
	if len(rows) != 1 || rows[0].Reason != "subscribed" || rows[0].Subject.Title != "It smokes" || rows[0].Subject.Type != "Issue" ||
		rows[0].Repository.FullName != "ann/engine" || !strings.HasSuffix(rows[0].Subject.URL, "/repos/ann/engine/issues/1") {
		t.Fatalf("the watcher has %+v", rows)
	}
	rows = list(t, f.cas, "")
	if len(rows) != 1 || rows[0].Reason != "mention" {
		t.Fatalf("who is mentioned has %+v", rows)
	}
	if n := f.cas.Get("/-/inbox-badge").OK().Find("#inbox-link").AttrOr("data-unread", ""); n != "1" {
		t.Errorf("the badge says %q", n)
	}
	// Mentioned and assigned in one event is one notification; another event
	// in the thread is the same row.
	f.ann.API("PATCH", "/repos/ann/engine/issues/1", map[string]any{"assignees": []string{"ann"}}).OK()
	f.ann.API("POST", "/repos/ann/engine/issues/1/comments", map[string]any{"body": "on it, @cas"}).Want(201)
	f.settle(t)
	rows = list(t, f.cas, "")
	if len(rows) != 1 || !strings.Contains(rows[0].Subject.LatestCommentURL, "/issues/comments/") {
		t.Fatalf("after a comment: %+v", rows)
	}
	if rows = list(t, f.bob, ""); len(rows) != 1 || rows[0].Reason != "author" {
		t.Fatalf("the author has %+v", rows)
	}
	page := f.cas.Get("/notifications").OK()
	if got := page.Find("#turns [data-row]").Length(); got != 1 || !strings.Contains(page.Text("#turns"), "It smokes") {
		t.Errorf("%d rows under your turn in %s", got, page.Text("main"))
	}
	// Opening the thread reads it; answering ends the turn.
	f.cas.Get("/ann/engine/issues/1").OK()
	if rows = list(t, f.cas, ""); len(rows) != 0 {
		t.Errorf("unread after opening: %+v", rows)
	}
	f.cas.API("POST", "/repos/ann/engine/issues/1/comments", map[string]any{"body": "seen"}).Want(201)
	f.settle(t)
	if got := f.cas.Get("/notifications").OK().Find("#turns [data-row]").Length(); got != 0 {
		t.Error("the turn did not end")
	}
	// State now: closing brings the row up to date.
	f.ann.API("PATCH", "/repos/ann/engine/issues/1", map[string]any{"state": "closed"}).OK()
	f.settle(t)
	if got := f.cas.Get("/notifications").OK().Text("main"); !strings.Contains(got, "Closed") {
		t.Error(got)
	}
}

// TestActions does to rows what can be done, and undoes it.
func TestActions(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	for i := range 3 {
		f.bob.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "Issue " + strconv.Itoa(i)}).Want(201)
	}
	f.settle(t)
	rows := list(t, f.ann, "")
	if len(rows) != 3 {
		t.Fatalf("%+v", rows)
	}
	count := func(view string) int {
		t.Helper()
		return f.ann.Get("/notifications?view=" + view).OK().Find("[data-row]").Length()
	}
	res := f.ann.Post("/notifications", "ids", rows[0].ID, "ids", rows[1].ID, "do", "done", "back", "/notifications?view=unread").Want(303)
	if count("done") != 2 || count("inbox") != 1 || len(list(t, f.ann, "")) != 1 {
		t.Errorf("done %d, inbox %d", count("done"), count("inbox"))
	}
	back := f.ann.Get(res.Location()).OK()
	if !strings.Contains(back.Text("main"), "2 notifications done.") {
		t.Error(back.Text("main"))
	}
	f.ann.Post("/notifications/undo", "undo", back.Find("input[name=undo]").AttrOr("value", ""), "back", "/notifications").Want(303)
	if count("done") != 0 || len(list(t, f.ann, "")) != 3 {
		t.Error("not undone")
	}
	f.ann.Post("/notifications", "one", "save:"+rows[0].ID).Want(303)
	f.ann.Post("/notifications", "one", "snooze-3:"+rows[1].ID).Want(303)
	if count("saved") != 1 || count("snoozed") != 1 || count("inbox") != 2 {
		t.Errorf("saved %d, snoozed %d, inbox %d", count("saved"), count("snoozed"), count("inbox"))
	}
	// Done stays done until something that concerns the person happens.
	f.ann.API("DELETE", "/notifications/threads/"+rows[2].ID, nil).Want(204)
	f.ann.API("PATCH", "/notifications/threads/"+rows[0].ID, nil).Want(205)
	if n := len(list(t, f.ann, "")); n != 0 {
		t.Errorf("%d unread", n)
	}
	f.bob.API("POST", "/repos/ann/engine/issues/3/comments", map[string]any{"body": "more"}).Want(201)
	f.bob.API("POST", "/repos/ann/engine/issues/2/comments", map[string]any{"body": "more"}).Want(201)
	f.bob.API("POST", "/repos/ann/engine/issues/1/comments", map[string]any{"body": "more"}).Want(201)
	f.settle(t)
	if n := len(list(t, f.ann, "")); n != 3 {
		t.Errorf("%d unread after comments", n)
	}
	// Muting a thread: only a later mention would not come through either.
	f.ann.Post("/notifications", "one", "unsubscribe:"+rows[0].ID).Want(303)
	f.bob.API("POST", "/repos/ann/engine/issues/3/comments", map[string]any{"body": "@ann"}).Want(201)
	f.settle(t)
	if n := len(list(t, f.ann, "")); n != 2 {
		t.Errorf("%d unread after muting", n)
	}
	var sub struct{ Ignored, Subscribed bool }
	f.ann.API("GET", "/notifications/threads/"+rows[0].ID+"/subscription", nil).OK().Into(&sub)
	if !sub.Ignored || sub.Subscribed {
		t.Errorf("%+v", sub)
	}
	f.ann.API("PUT", "/repos/ann/engine/notifications", map[string]any{}).Want(205)
	if n := len(list(t, f.ann, "")); n != 0 {
		t.Errorf("%d unread after marking all", n)
	}
	// Nobody reaches another's rows.
	f.bob.API("GET", "/notifications/threads/"+rows[0].ID, nil).Want(404)
	f.bob.Post("/notifications", "one", "done:"+rows[0].ID).Want(303)
	f.Anon().API("GET", "/notifications", nil).Want(401)
}

// TestAccessLost shows and counts nothing of a repository that became private.
func TestAccessLost(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.ann.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "A secret of @cas", "body": "@cas"}).Want(201)
	f.settle(t)
	if len(list(t, f.cas, "")) != 1 {
		t.Fatal("not told")
	}
	f.ann.API("PATCH", "/repos/ann/engine", map[string]any{"private": true}).OK()
	if page := f.cas.Get("/notifications").OK(); strings.Contains(page.Text("body"), "secret") || page.Find("#inbox-link").AttrOr("data-unread", "") != "0" {
		t.Error(page.Text("body"))
	}
	if n := len(list(t, f.cas, "?all=true")); n != 0 {
		t.Errorf("%d rows", n)
	}
	// What happens there tells only who may read it.
	f.ann.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "Another", "body": "@cas"}).Want(201)
	f.settle(t)
	if n := len(list(t, f.cas, "?all=true")); n != 0 {
		t.Errorf("%d rows", n)
	}
}

// TestExpire forgets what nobody took in for months, and nothing newer.
func TestExpire(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.bob.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "It smokes"}).Want(201)
	f.settle(t)
	waiting := func() (n int) {
		t.Helper()
		if err := f.DB.Directory().NewRaw("SELECT count(*) FROM cell.deliveries").Scan(t.Context(), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := waiting()
	if err := f.App.Notifications.Expire(t.Context(), time.Now().Add(89*24*time.Hour)); err != nil || before == 0 || waiting() != before {
		t.Fatalf("%d of %d wait, %v", waiting(), before, err)
	}
	if err := f.App.Notifications.Expire(t.Context(), time.Now().Add(91*24*time.Hour)); err != nil || waiting() != 0 {
		t.Fatalf("%d still wait, %v", waiting(), err)
	}
}

// TestThreadMail is the mails of one issue: one thread, one subject, each with
// its way out.
func TestThreadMail(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.bob.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "It smokes\r\nBcc: x", "body": "**badly**, see #1"}).Want(201)
	f.bob.API("POST", "/repos/ann/engine/issues/1/comments", map[string]any{"body": "still"}).Want(201)
	f.bob.API("PATCH", "/repos/ann/engine/issues/1", map[string]any{"title": "It burns"}).OK()
	f.bob.API("PATCH", "/repos/ann/engine/issues/1", map[string]any{"state": "closed"}).OK()
	f.settle(t)
	mails := f.letters(t, "ann@example.com")
	if len(mails) != 3 {
		t.Fatalf("%d mails", len(mails))
	}
	if got := f.letters(t, "bob@example.com"); len(got) != 0 {
		t.Errorf("one's own actions were mailed: %q", got)
	}
	// They may go out in any order.
	slices.SortStableFunc(mails, func(a, b string) int { return len(header(a, "In-Reply-To")) - len(header(b, "In-Reply-To")) })
	root := header(mails[0], "Message-ID")
	for i, m := range mails {
		subject := header(m, "Subject")
		if i == 0 && (header(m, "In-Reply-To") != "" || !strings.HasPrefix(subject, "[ann/engine] It smokes")) {
			t.Errorf("the first: %q", subject)
		}
		if i > 0 && (header(m, "In-Reply-To") != root || header(m, "References") != root || !strings.HasPrefix(subject, "Re: [ann/engine] It smokes")) {
			t.Errorf("mail %d: %q in reply to %q, not %q", i, subject, header(m, "In-Reply-To"), root)
		}
		if header(m, "Bcc") != "" || header(m, "List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" || header(m, "List-ID") == "" {
			t.Errorf("headers of %s", m)
		}
	}
	if !strings.Contains(mails[0], "<strong>badly</strong>") || !strings.Contains(mails[0], f.URL+"/ann/engine/issues/1") {
		t.Error(mails[0])
	}
	// One click, from the mail program: no cookie, no page.
	out := strings.Trim(header(mails[1], "List-Unsubscribe"), "<>")
	path := strings.TrimPrefix(out, f.URL)
	f.Anon().Get(path).OK().Has("ann/engine #1")
	f.Anon().Do("POST", path, strings.NewReader("List-Unsubscribe=One-Click"), "Content-Type", "application/x-www-form-urlencoded").Want(303)
	f.Anon().Do("POST", path+"x", strings.NewReader("List-Unsubscribe=One-Click"), "Content-Type", "application/x-www-form-urlencoded").Want(404)
	f.bob.API("POST", "/repos/ann/engine/issues/1/comments", map[string]any{"body": "again"}).Want(201)
	f.settle(t)
	if n := len(f.letters(t, "ann@example.com")); n != 3 {
		t.Errorf("%d mails after unsubscribing", n)
	}
}

// TestDigest gathers what the settings say, and mails it once though the alarm
// rings twice.
func TestDigest(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	page := f.ann.Get("/settings/notifications").OK()
	if got := page.Find("input[name=ways][checked]").Length(); got == 0 {
		t.Error("nothing is on by default")
	}
	f.ann.Post("/settings/notifications", "ways", "web:subscribed", "ways", "digest:subscribed", "digest", "daily", "hour", "99", "quiet_from", "22", "quiet_to", "7").Want(422).Has("hour of the day")
	f.ann.Post("/settings/notifications", "ways", "web:subscribed", "ways", "digest:subscribed", "digest", "daily", "hour", "8", "quiet_from", "22", "quiet_to", "7").Want(303)
	f.bob.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "First"}).Want(201)
	f.bob.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "Second"}).Want(201)
	f.settle(t)
	if got := f.letters(t, "ann@example.com"); len(got) != 0 {
		t.Fatalf("mailed at once: %q", got)
	}
	var due time.Time
	if err := f.DB.Directory().NewRaw("SELECT due_at FROM cell.alarms WHERE scope = ?", "account_"+strconv.FormatInt(f.ann.Account.ID, 10)).Scan(t.Context(), &due); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := f.App.Notifications.Due(t.Context(), f.ann.Account.ID, time.Now().Add(25*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	f.settle(t)
	mails := f.letters(t, "ann@example.com")
	if len(mails) != 1 || header(mails[0], "Subject") != "2 threads with news for you" || !strings.Contains(mails[0], "First") || !strings.Contains(mails[0], "Second") {
		t.Fatalf("%q", mails)
	}
	if rows := list(t, f.ann, ""); len(rows) != 2 {
		t.Errorf("%+v", rows)
	}
}
