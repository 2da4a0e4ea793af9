package jobs

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/webhooks"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/webhookdb"
)

// percentiles reports the middle and the 99th of a hundred.
func percentiles(b *testing.B, what string, list []time.Duration) {
	slices.Sort(list)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(list[len(list)/2]), what+"-p50-ms")
	b.ReportMetric(ms(list[len(list)*99/100]), what+"-p99-ms")
}

// bench is an instance with a repository, a hook and an open page.
type bench struct {
	*testing.B
	a     *app.App
	repo  *model.Repo
	hooks chan time.Time
	pages chan time.Time
}

func newBench(b *testing.B) *bench {
	d := dbtest.OpenWith(b, db.Options{MaxConns: 16})
	a := appOver(b, d)
	owner := dbtest.User(b, d, "ann")
	w := &bench{B: b, a: a, repo: dbtest.Repo(b, d, owner, "box", dbtest.RepoOpts{}),
		hooks: make(chan time.Time, 1<<16), pages: make(chan time.Time, 1<<16)}
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { w.hooks <- time.Now() }))
	b.Cleanup(receiver.Close)
	if err := Attach(a, b.TempDir(), discard()); err != nil {
		b.Fatal(err)
	}
	if err := a.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { a.Stop(context.WithoutCancel(b.Context())) })
	types := []string{"issue.*"}
	_, err := a.Webhooks.Create(b.Context(), &model.Viewer{Account: owner}, webhookdb.OfRepo(w.repo.ID),
		webhooks.Input{URL: &receiver.URL, Events: &types})
	if err != nil {
		b.Fatal(err)
	}
	w.page()
	return w
}

// page follows the repository as an open page does.
func (w *bench) page() {
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.a.Live.Hub.Serve(rw, r, nil) }))
	w.Cleanup(srv.Close)
	ws, _, err := websocket.Dial(w.Context(), srv.URL, nil)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = ws.CloseNow() })
	if err := ws.Write(w.Context(), websocket.MessageText, []byte(`{"subscribe":["repo:1"]}`)); err != nil {
		w.Fatal(err)
	}
	go func() {
		for {
			if _, _, err := ws.Read(w.Context()); err != nil {
				return
			}
			w.pages <- time.Now()
		}
	}()
	for !w.a.Live.Hub.Followed("repo:1") {
		time.Sleep(time.Millisecond)
	}
}

func (w *bench) publish(number int64) time.Time {
	err := w.a.DB.InRepo(w.Context(), w.repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		return events.Emit(ctx, tx, events.About{Repo: w.repo}, opened{number})
	})
	if err != nil {
		w.Fatal(err)
	}
	return time.Now()
}

// BenchmarkIdleLatency is one event at a time: from its commit to the webhook's
// receiver, to another's open page and to a follower.
func BenchmarkIdleLatency(b *testing.B) {
	w := newBench(b)
	var hook, page, follow []time.Duration
	last, err := eventdb.Last(b.Context(), w.a.DB.Events())
	if err != nil {
		b.Fatal(err)
	}
	after := ""
	for b.Loop() {
		type heard struct {
			at time.Time
			id string
		}
		followed := make(chan heard, 1)
		ready := make(chan struct{})
		go func() {
			close(ready)
			list, err := w.a.Events.List(b.Context(), events.ListInput{RepoID: w.repo.ID, After: after, Wait: 20 * time.Second, Limit: 5})
			if err != nil || len(list) == 0 {
				b.Error("follower", err)
				followed <- heard{}
				return
			}
			followed <- heard{time.Now(), list[len(list)-1].EventID}
		}()
		<-ready
		time.Sleep(20 * time.Millisecond) // the follower waits
		at := w.publish(last.Seq)
		hook = append(hook, (<-w.hooks).Sub(at))
		f := <-followed
		follow, after = append(follow, f.at.Sub(at)), f.id
		page = append(page, (<-w.pages).Sub(at))
		time.Sleep(time.Second) // the page's pause
	}
	percentiles(b, "webhook", hook)
	percentiles(b, "page", page)
	percentiles(b, "follower", follow)
}

// BenchmarkLoadLatency is the webhook's latency under 200 events a second.
func BenchmarkLoadLatency(b *testing.B) {
	w := newBench(b)
	const rate = 200
	start := make([]time.Time, 0, 4*rate)
	var got []time.Duration
	for b.Loop() {
		start, got = start[:0], got[:0]
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 4 * rate {
				// Deliveries of one host keep their order well enough for this.
				got = append(got, (<-w.hooks).Sub(start[min(i, len(start)-1)]))
			}
		}()
		tick := time.NewTicker(time.Second / rate)
		for i := range 4 * rate {
			<-tick.C
			start = append(start, time.Now())
			w.publish(int64(i))
		}
		tick.Stop()
		<-done
	}
	percentiles(b, "webhook", got)
}

// BenchmarkSequencer is how many events a second get from their commits into
// the log and through a subscriber, eight publishers at work.
func BenchmarkSequencer(b *testing.B) {
	d := dbtest.OpenWith(b, db.Options{MaxConns: 16})
	a := appOver(b, d)
	var handled atomic.Int64
	for _, r := range events.Routes() {
		a.Events.Subscribe(events.Subscriber{Service: r.Service, Name: "bench." + r.Service, Handle: func(context.Context, *model.Event) error {
			handled.Add(1)
			return nil
		}})
	}
	if err := Attach(a, b.TempDir(), discard()); err != nil {
		b.Fatal(err)
	}
	if err := a.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { a.Stop(context.WithoutCancel(b.Context())) })
	const each = 2000
	begin := time.Now()
	total := int64(0)
	for b.Loop() {
		done := make(chan error, 8)
		for p := range 8 {
			go func() {
				var err error
				for range each / 8 {
					err = d.InRepo(b.Context(), int64(p+1), func(ctx context.Context, tx *db.RepoTx) error {
						return events.Emit(ctx, tx, events.About{Repo: &model.Repo{ID: int64(p + 1), OwnerID: 1}}, opened{1})
					})
				}
				done <- err
			}()
		}
		for range 8 {
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		}
		total += each
		// issue.* goes to runner, actions, webhooks, search and notify.
		for handled.Load() < total*5 {
			time.Sleep(time.Millisecond)
		}
	}
	b.ReportMetric(float64(total)/time.Since(begin).Seconds(), "events/s")
}
