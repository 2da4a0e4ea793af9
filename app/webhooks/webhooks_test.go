package webhooks_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/issues"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/app/webhooks"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/webhookdb"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

type opened struct {
	Number int64  `json:"number"`
	Title  string `json:"title"`
	ByJob  bool   `json:"causedByJob"`
}

func (opened) EventType() string { return "issue.opened" }

// world is an instance with a repository, its owner and a receiver.
type world struct {
	*testing.T
	a     *app.App
	owner *model.Account
	repo  *model.Repo
	got   chan received
	url   string
	// answer is what the receiver does after it noted the request.
	answer atomic.Pointer[http.HandlerFunc]
}

type received struct {
	path string
	head http.Header
	body []byte
}

func newWorld(t *testing.T, allow ...string) *world {
	t.Helper()
	d := dbtest.Open(t)
	w := &world{T: t, got: make(chan received, 1000)}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.got <- received{r.URL.Path, r.Header, b}
		if answer := w.answer.Load(); answer != nil {
			(*answer)(rw, r)
		}
	}))
	t.Cleanup(srv.Close)
	w.url = srv.URL
	if allow == nil {
		allow = []string{"127.0.0.0/8"}
	}
	a, err := app.New(t.Context(), app.Config{DataDir: t.TempDir(), URL: "http://forge.example", OutboundAllow: allow, Version: "1"},
		d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w.a, w.owner = a, dbtest.User(t, d, "ann")
	w.repo = dbtest.Repo(t, d, w.owner, "box", dbtest.RepoOpts{})
	a.Attach(events.NewSequencer(a.Events))
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Stop(context.WithoutCancel(t.Context())) })
	return w
}

func (w *world) viewer() *model.Viewer { return &model.Viewer{Account: w.owner} }

func (w *world) hook(p webhookdb.Place, format, path string, types ...string) *model.Hook {
	w.Helper()
	u, secretText := w.url+path, "s3cret"
	h, err := w.a.Webhooks.Create(w.Context(), w.viewer(), p, webhooks.Input{URL: &u, Format: &format, Events: &types, Secret: &secretText})
	if err != nil {
		w.Fatal(err)
	}
	return h
}

// deliver publishes an event and lets the subscriber handle it.
func (w *world) deliver(repo *model.Repo, p events.Payload) *model.Event {
	w.Helper()
	id, err := db.NewEventID()
	if err != nil {
		w.Fatal(err)
	}
	err = w.a.DB.InRepo(w.Context(), repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: w.viewer(), ID: id}, p)
	})
	if err != nil {
		w.Fatal(err)
	}
	var e *model.Event
	until(w.T, "the event is in the log", func() bool {
		list, err := w.a.Events.List(w.Context(), events.ListInput{RepoID: repo.ID, Limit: 1, Types: []string{p.EventType()}})
		if err != nil || len(list) == 0 || list[0].EventID != id {
			return false
		}
		e = list[0]
		return true
	})
	if err := w.a.Webhooks.Deliver(w.Context(), e); err != nil {
		w.Fatal(err)
	}
	return e
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func (w *world) next() received {
	w.Helper()
	select {
	case r := <-w.got:
		return r
	case <-time.After(20 * time.Second):
		w.Fatal("nothing arrived")
	}
	return received{}
}

func (w *world) quiet() {
	w.Helper()
	until(w.T, "the sender is idle", func() bool { return w.a.Webhooks.Sender().Queued() == 0 })
	if len(w.got) != 0 {
		w.Fatalf("%d more requests arrived: %s", len(w.got), (<-w.got).body)
	}
}

func (w *world) deliveries(p webhookdb.Place, h *model.Hook) []*model.Delivery {
	w.Helper()
	list, err := webhookdb.Deliveries(w.Context(), w.a.DB, p, h.ID, 0, "", 100)
	if err != nil {
		w.Fatal(err)
	}
	return list
}

func signature(key string, body []byte) string {
	m := hmac.New(sha256.New, []byte(key))
	m.Write(body)
	return "sha256=" + hex.EncodeToString(m.Sum(nil))
}

func TestOwnFormat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	place := webhookdb.OfRepo(w.repo.ID)
	h := w.hook(place, "gitfor", "/own", "issue.*")
	w.hook(place, "gitfor", "/other", "pull.*")
	e := w.deliver(w.repo, opened{7, "a <b> & ü", true})
	r := w.next()
	if r.path != "/own" || r.head.Get("x-g1t-event") != "issue.opened" || r.head.Get("x-g1t-hook") != fmt.Sprint(h.ID) ||
		r.head.Get("Content-Type") != "application/json" {
		t.Errorf("request to %s: %v", r.path, r.head)
	}
	if got := r.head.Get("x-g1t-signature-256"); got != signature("s3cret", r.body) {
		t.Errorf("signature %q", got)
	}
	want := fmt.Sprintf(`{"id":%q,"type":"issue.opened","time":%q,"workspace":{"id":%d,"username":"ann"},`+
		`"repository":{"id":%d,"full_name":"ann/box"},"actor":{"id":%d,"username":"ann"},`+
		`"data":{"caused_by_job":true,"number":7,"title":"a <b> & ü"}}`,
		e.EventID, e.Time.UTC().Format(time.RFC3339Nano), w.owner.ID, w.repo.ID, w.owner.ID)
	if string(r.body) != want {
		t.Errorf("body\n%s\nwant\n%s", r.body, want)
	}
	w.quiet()
	list := w.deliveries(place, h)
	if len(list) != 1 || list[0].State != model.DeliveryDone || fmt.Sprint(list[0].ID) != r.head.Get("x-g1t-delivery") {
		t.Fatalf("deliveries %+v", list)
	}
	// The same event again: recorded once, sent once.
	if err := w.a.Webhooks.Deliver(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	w.quiet()
	// The sealed secret is not the text.
	kept, err := webhookdb.Hook(t.Context(), w.a.DB, place, h.ID)
	if err != nil || bytes.Contains(kept.Secret, []byte("s3cret")) {
		t.Fatal("the secret is kept as it is")
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook(webhookdb.OfAccount(w.owner.ID), "gitfor", "/account", "*")
	w.hook(webhookdb.OfInstance(), "gitfor", "/instance", "*")
	repoHook := w.hook(webhookdb.OfRepo(w.repo.ID), "gitfor", "/repo", "*")
	other := dbtest.Repo(t, w.a.DB, w.owner, "other", dbtest.RepoOpts{})
	w.deliver(other, opened{1, "x", false})
	paths := []string{w.next().path, w.next().path}
	if slices.Sort(paths); paths[0] != "/account" || paths[1] != "/instance" {
		t.Errorf("an event of another repository went to %v", paths)
	}
	w.quiet()
	// A hook that is switched off or gone gets nothing.
	off := false
	if err := w.a.Webhooks.Change(t.Context(), webhookdb.OfRepo(w.repo.ID), repoHook, webhooks.Input{Active: &off}); err != nil {
		t.Fatal(err)
	}
	w.deliver(w.repo, opened{2, "x", false})
	w.next()
	w.next()
	w.quiet()
}

// TestRetries drives the clock: a delivery that fails is tried six times in
// all, at the times of the contract, with the same id, and then given up.
func TestRetries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fail := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "no", 500) })
	w.answer.Store(&fail)
	place := webhookdb.OfRepo(w.repo.ID)
	h := w.hook(place, "gitfor", "/fails", "issue.opened")
	w.deliver(w.repo, opened{1, "x", false})
	ids := map[string]bool{}
	for i, gap := range []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 0} {
		ids[w.next().head.Get("x-g1t-delivery")] = true
		w.quiet()
		dl := w.deliveries(place, h)[0]
		if dl.Attempt != i+1 || len(dl.Attempts) != i+1 || dl.LastTry().Status != 500 || dl.Response.Body != "no\n" {
			t.Fatalf("after attempt %d: %+v", i+1, dl)
		}
		if gap == 0 {
			if dl.State != model.DeliveryFailed || dl.NextAt != nil {
				t.Fatalf("after the last attempt: %+v", dl)
			}
			break
		}
		if late := dl.NextAt.Sub(dl.LastTry().At) - gap; dl.State != model.DeliveryPending || late < 0 || late > 5*time.Second {
			t.Fatalf("attempt %d is %s after the one before", i+2, gap+late)
		}
		w.bring(place)
	}
	if len(ids) != 1 {
		t.Errorf("delivery ids %v", ids)
	}
	w.bring(place)
	w.quiet()
	kept, err := webhookdb.Hook(t.Context(), w.a.DB, place, h.ID)
	if err != nil || kept.Failures != 6 || kept.FailingSince == nil {
		t.Fatalf("hook %+v, %v", kept, err)
	}
	// Redelivery: a delivery of its own, which heals the hook.
	w.answer.Store(nil)
	if err := w.a.Webhooks.Redeliver(t.Context(), place, kept, w.deliveries(place, h)[0]); err != nil {
		t.Fatal(err)
	}
	r := w.next()
	w.quiet()
	kept, err = webhookdb.Hook(t.Context(), w.a.DB, place, h.ID)
	if ids[r.head.Get("x-g1t-delivery")] || r.head.Get("x-g1t-signature-256") != signature("s3cret", r.body) || err != nil || kept.Failures != 0 {
		t.Fatalf("redelivery %v, hook %+v, %v", r.head, kept, err)
	}
}

// bring makes what is due later due now and rings the place's alarm.
func (w *world) bring(p webhookdb.Place) {
	w.Helper()
	err := p.In(w.Context(), w.a.DB, func(ctx context.Context, tx webhookdb.Tx) error {
		_, err := tx.Q.NewRaw("UPDATE ?scope.deliveries SET next_at = ? WHERE next_at IS NOT NULL", tx.Now().Add(-time.Second)).Exec(ctx)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	for _, task := range w.a.Alarms.Tasks() {
		if task.Name == "webhooks" && task.Kind == p.Kind {
			if _, err := task.Run(w.Context(), p.ID, time.Now()); err != nil {
				w.Fatal(err)
			}
		}
	}
}

// TestLostAttempt is a process that dies between recording and sending.
func TestLostAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	place := webhookdb.OfRepo(w.repo.ID)
	h := w.hook(place, "gitfor", "/lost", "issue.opened")
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.a.Webhooks.Sender().Stop(short); err != nil { // nothing is sent any more
		t.Fatal(err)
	}
	w.deliver(w.repo, opened{1, "x", false})
	w.quiet()
	if dl := w.deliveries(place, h); len(dl) != 1 || dl[0].State != model.DeliveryPending {
		t.Fatalf("deliveries %+v", dl)
	}
	if err := w.a.Webhooks.Sender().Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.bring(place)
	w.next()
	w.quiet()
	if dl := w.deliveries(place, h); dl[0].State != model.DeliveryDone || dl[0].Attempt != 2 {
		t.Fatalf("delivery %+v", dl[0])
	}
}

// TestTargets is PUB-11: what must not be reached is not, a redirect is a
// failure, and the log shows nothing of the inside.
func TestTargets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "127.0.0.9") // everything of the test's server is inside
	place := webhookdb.OfRepo(w.repo.ID)
	port := w.url[strings.LastIndex(w.url, ":"):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0x7f000001", "169.254.169.254", "10.0.0.5"} {
		u := "http://" + host + port + "/in"
		types := []string{"issue.opened"}
		h, err := w.a.Webhooks.Create(t.Context(), w.viewer(), place, webhooks.Input{URL: &u, Events: &types})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			dl := w.deliveries(place, h)
			if len(dl) != 1 || dl[0].State != model.DeliveryPending || dl[0].LastTry().Error == "" || dl[0].Response != nil {
				t.Errorf("%s: %+v", u, dl)
			}
		}()
	}
	w.deliver(w.repo, opened{1, "x", false})
	w.quiet()
	for _, bad := range []string{"ftp://x/", "http://", "http://u:p@example.com/", "javascript:alert(1)"} {
		if _, err := w.a.Webhooks.Create(t.Context(), w.viewer(), place, webhooks.Input{URL: &bad}); err == nil {
			t.Errorf("a hook to %s was taken", bad)
		}
	}
}

func TestRedirectIsFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	redirect := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, w.url+"/inside", http.StatusTemporaryRedirect)
	})
	w.answer.Store(&redirect)
	place := webhookdb.OfRepo(w.repo.ID)
	h := w.hook(place, "gitfor", "/x", "*")
	w.deliver(w.repo, opened{1, "x", false})
	w.next()
	w.quiet()
	if dl := w.deliveries(place, h)[0]; dl.State != model.DeliveryPending || dl.LastTry().Status != 307 {
		t.Errorf("delivery %+v", dl)
	}
}

// TestSlowReceiver shows that a receiver which does not answer delays no
// other host's deliveries.
func TestSlowReceiver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "127.0.0.0/8", "slow.example")
	release := make(chan struct{})
	var once sync.Once
	t.Cleanup(func() { once.Do(func() { close(release) }) })
	hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-release
		}
	})
	w.answer.Store(&hang)
	place := webhookdb.OfRepo(w.repo.ID)
	slow := strings.Replace(w.url, "127.0.0.1", "localhost", 1) + "/slow"
	types := []string{"*"}
	if _, err := w.a.Webhooks.Create(t.Context(), w.viewer(), place, webhooks.Input{URL: &slow, Events: &types}); err != nil {
		t.Fatal(err)
	}
	w.hook(place, "gitfor", "/fast", "*")
	fast := 0
	for i := range 12 {
		w.deliver(w.repo, opened{int64(i), "x", false})
	}
	for fast < 12 {
		if w.next().path == "/fast" {
			fast++
		}
	}
	once.Do(func() { close(release) })
}

func TestGitHubFormat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	place := webhookdb.OfRepo(w.repo.ID)
	h := w.hook(place, "github", "/gh", "push", "create")
	ping := w.next()
	if ping.head.Get("X-GitHub-Event") != "ping" || ping.head.Get("X-GitHub-Hook-ID") != fmt.Sprint(h.ID) ||
		ping.head.Get("X-Hub-Signature-256") != signature("s3cret", ping.body) || ping.head.Get("X-GitHub-Delivery") == "" {
		t.Errorf("ping %v", ping.head)
	}
	var doc map[string]any
	if err := json.Unmarshal(ping.body, &doc); err != nil || doc["hook_id"] != float64(h.ID) || doc["zen"] == "" || doc["repository"] == nil {
		t.Errorf("ping %s", ping.body)
	}
	zero, one := strings.Repeat("0", 40), strings.Repeat("1", 40)
	w.deliver(w.repo, repos.Pushed{RefsTotal: 1, Refs: []repos.PushedRef{{Ref: "refs/heads/new", Before: zero, After: one, Created: true}},
		Commits: []repos.PushCommit{{ID: one, Message: "first", Timestamp: "2026-01-02T03:04:05Z"}}})
	byEvent := map[string]map[string]any{}
	for range 2 {
		r := w.next()
		var doc map[string]any
		if err := json.Unmarshal(r.body, &doc); err != nil {
			t.Fatal(err)
		}
		byEvent[r.head.Get("X-GitHub-Event")] = doc
	}
	w.quiet()
	if c := byEvent["create"]; c["ref"] != "new" || c["ref_type"] != "branch" || c["master_branch"] != "main" {
		t.Errorf("create %v", c)
	}
	p := byEvent["push"]
	for _, key := range []string{"ref", "before", "after", "created", "deleted", "forced", "base_ref", "compare", "commits",
		"head_commit", "pusher", "repository", "sender"} {
		if _, ok := p[key]; !ok {
			t.Errorf("push has no %s", key)
		}
	}
	if p["repository"].(map[string]any)["full_name"] != "ann/box" || p["sender"].(map[string]any)["login"] != "ann" {
		t.Errorf("push %v", p)
	}
	// Events that GitHub does not have are not sent.
	w.deliver(w.repo, opened{1, "x", false})
	w.quiet()
}

// TestGitHubIssues is what GitHub's receivers get when people open an issue,
// change it and talk.
func TestGitHubIssues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	place := webhookdb.OfRepo(w.repo.ID)
	w.hook(place, "github", "/gh", "issues", "issue_comment")
	w.next() // the ping
	p := threads.Place{Viewer: w.viewer(), Repo: w.repo, Role: model.RoleAdmin}
	var in issues.CreateInput
	if err := json.Unmarshal([]byte(`{"title":"It breaks","body":"Here."}`), &in); err != nil {
		t.Fatal(err)
	}
	opened, err := w.a.Issues.Create(t.Context(), p, in)
	if err != nil {
		t.Fatal(err)
	}
	number := opened.Number
	if _, err := w.a.Threads.Comment(t.Context(), p, number, threads.CommentInput{Body: "Me too"}); err != nil {
		t.Fatal(err)
	}
	var list []*model.Event
	until(t, "both events are in the log", func() bool {
		list, err = w.a.Events.List(t.Context(), events.ListInput{RepoID: w.repo.ID, Limit: 9})
		return err == nil && len(list) == 2
	})
	for _, e := range list {
		if err := w.a.Webhooks.Deliver(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]map[string]any{}
	for range 2 {
		m := w.next()
		var doc map[string]any
		if err := json.Unmarshal(m.body, &doc); err != nil {
			t.Fatal(err)
		}
		got[m.head.Get("X-GitHub-Event")] = doc
	}
	w.quiet()
	issue, _ := got["issues"]["issue"].(map[string]any)
	if got["issues"]["action"] != "opened" || issue["title"] != "It breaks" || issue["number"] != float64(number) ||
		issue["url"] != fmt.Sprintf("http://forge.example/api/v3/repos/ann/box/issues/%d", number) {
		t.Errorf("issues: %v", got["issues"])
	}
	comment, _ := got["issue_comment"]["comment"].(map[string]any)
	if got["issue_comment"]["action"] != "created" || comment["body"] != "Me too" || got["issue_comment"]["issue"] == nil {
		t.Errorf("issue_comment: %v", got["issue_comment"])
	}
}

func TestAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var viewer atomic.Pointer[model.Viewer]
	w.a.Kit.SetAuth(func(*web.Ctx) (*model.Viewer, error) { return viewer.Load(), nil })
	handler := w.a.Handler()
	call := func(method, path, body string, want int) map[string]any {
		t.Helper()
		rec := httptest.NewRecorder()
		req := httptest.NewRequest(method, "http://forge.example/api/v3"+path, strings.NewReader(body))
		handler.ServeHTTP(rec, req)
		if rec.Code != want {
			t.Fatalf("%s %s: %d, want %d: %s", method, path, rec.Code, want, rec.Body)
		}
		var doc map[string]any
		if strings.HasPrefix(rec.Body.String(), "[") {
			var list []map[string]any
			if err := json.Unmarshal(rec.Body.Bytes(), &list); err != nil {
				t.Fatal(err)
			}
			doc = map[string]any{"list": list}
		} else if rec.Body.Len() > 0 {
			if err := json.Unmarshal(rec.Body.Bytes(), &doc); err != nil {
				t.Fatal(err)
			}
		}
		return doc
	}
	hooks := "/repos/ann/box/hooks"
	create := fmt.Sprintf(`{"name":"web","events":["issue.opened"],"config":{"url":%q,"secret":"x","insecure_ssl":"1"}}`, w.url+"/api")
	call("POST", hooks, create, 401)
	viewer.Store(&model.Viewer{Account: dbtest.User(t, w.a.DB, "bob")})
	call("GET", hooks, "", 403)
	viewer.Store(w.viewer())
	h := call("POST", hooks, create, 201)
	cfg := h["config"].(map[string]any)
	if h["type"] != "Repository" || cfg["secret"] != "********" || cfg["format"] != "gitfor" || cfg["insecure_ssl"] != "0" {
		t.Errorf("hook %v", h)
	}
	call("POST", hooks, create, 422)
	call("POST", hooks, `{"events":["push"],"config":{"url":"http://example.com"}}`, 422)
	call("POST", hooks, `{"config":{"url":"nonsense"}}`, 422)
	one := fmt.Sprintf("%s/%.0f", hooks, h["id"])
	if got := call("PATCH", one, `{"add_events":["pull.*"],"active":true}`, 200); fmt.Sprint(got["events"]) != "[issue.opened pull.*]" {
		t.Errorf("events %v", got["events"])
	}
	call("POST", one+"/pings", "", 204)
	if r := w.next(); r.head.Get("x-g1t-event") != "ping" || r.head.Get("x-g1t-signature-256") != signature("x", r.body) {
		t.Errorf("ping %v %s", r.head, r.body)
	}
	w.quiet()
	list := call("GET", one+"/deliveries", "", 200)["list"].([]map[string]any)
	if len(list) != 1 || list[0]["status_code"] != 200.0 || list[0]["status"] != "OK" || list[0]["event"] != "ping" {
		t.Fatalf("deliveries %v", list)
	}
	dl := fmt.Sprintf("%s/deliveries/%.0f", one, list[0]["id"])
	full := call("GET", dl, "", 200)
	if full["request"].(map[string]any)["payload"].(map[string]any)["type"] != "ping" {
		t.Errorf("delivery %v", full)
	}
	call("POST", dl+"/attempts", "", 202)
	w.next()
	w.quiet()
	call("GET", fmt.Sprintf("%s/999", hooks), "", 404)
	call("DELETE", one, "", 204)
	call("GET", one, "", 404)
	call("GET", one+"/deliveries", "", 404)
}
