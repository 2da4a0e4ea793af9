package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

type tested struct {
	Kind   string `json:"-"`
	Number int64  `json:"number"`
	By     int    `json:"by"`
}

func (t tested) EventType() string { return t.Kind }

// process is one process of the instance: its own pools, bus and followers.
type process struct {
	*Service
	d    *db.DB
	stop chan struct{}
	seq  *Sequencer
}

func newProcess(t *testing.T, url string) *process {
	t.Helper()
	d, err := db.Open(t.Context(), url, db.Options{MaxConns: 10})
	if err != nil {
		t.Fatal(err)
	}
	p := &process{d: d, stop: make(chan struct{})}
	p.Service = New(d, slog.New(slog.DiscardHandler), p.stop)
	p.seq = NewSequencer(p.Service)
	for _, start := range []func(context.Context) error{d.Bus().Start, p.Start, p.seq.Start} {
		if err := start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// kill ends the process; its waits are answered.
func (p *process) kill(ctx context.Context) {
	close(p.stop)
	_ = p.seq.Stop(ctx)
	_ = p.Service.Stop(ctx)
	_ = p.d.Bus().Stop(ctx)
	p.d.Close()
}

func publish(ctx context.Context, d *db.DB, repo *model.Repo, p Payload) error {
	return d.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		return Emit(ctx, tx, About{Repo: repo}, p)
	})
}

// TestFollowersMissNothing runs four publishers and twenty followers while
// the processes that number and answer are restarted: every follower sees
// every event once, in order, and the log has no gap.
func TestFollowersMissNothing(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	const publishers, followers, each = 4, 20, 60
	const total = publishers * each
	pub, err := db.Open(t.Context(), url, db.Options{MaxConns: 6})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pub.Close)
	repo := &model.Repo{ID: 1, OwnerID: 1}

	var mu sync.RWMutex
	current := newProcess(t, url)
	get := func() *process { mu.RLock(); defer mu.RUnlock(); return current }

	if err := publish(t.Context(), pub, repo, tested{Kind: "test.first"}); err != nil {
		t.Fatal(err)
	}
	first, err := current.List(t.Context(), ListInput{RepoID: 1, Wait: 20 * time.Second, Limit: 1})
	if err == nil && len(first) == 0 {
		first, err = current.List(t.Context(), ListInput{RepoID: 1, Limit: 1})
	}
	if err != nil || len(first) != 1 {
		t.Fatal(first, err)
	}
	var wg, pubs sync.WaitGroup
	for f := range followers {
		wg.Go(func() {
			after, want := first[0].EventID, first[0].Seq+1
			for seen := 0; seen < total; {
				list, err := get().List(t.Context(), ListInput{RepoID: 1, After: after, Wait: 20 * time.Second, Limit: 7})
				if err != nil && t.Context().Err() == nil {
					continue // the process was stopped in the middle: ask the next one
				}
				for _, e := range list {
					if e.Seq != want {
						t.Errorf("follower %d: seq %d, want %d", f, e.Seq, want)
						return
					}
					after, want = e.EventID, want+1
					seen++
				}
			}
		})
	}
	for p := range publishers {
		pubs.Go(func() {
			for i := range each {
				if err := publish(t.Context(), pub, repo, tested{"test.it", int64(i), p}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 4 {
		// Restart once a part of the events has been numbered.
		for get().seq.Numbered() < total/8 && !done(t, pub, total+1) {
			time.Sleep(time.Millisecond)
		}
		old, next := get(), newProcess(t, url)
		mu.Lock()
		current = next
		mu.Unlock()
		old.kill(t.Context())
	}
	pubs.Wait()
	wg.Wait()
	get().kill(t.Context())
	var n, last, distinct int64
	err = pub.JobsPool().QueryRow(t.Context(), "SELECT count(*), max(seq), count(DISTINCT event_id) FROM events.log").Scan(&n, &last, &distinct)
	if err != nil || n != total+1 || last != n || distinct != n {
		t.Fatalf("%d events, last seq %d, %d ids, %v; want %d of each", n, last, distinct, err, total+1)
	}
}

func done(t *testing.T, d *db.DB, want int64) bool {
	e, err := eventdb.Last(t.Context(), d.Events())
	return err != nil || e.Seq >= want
}

// TestSequencerCutOff cuts the sequencer's connection off at each step of a
// batch: nothing is lost, nothing comes twice, no seq is left out.
func TestSequencerCutOff(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	s := New(d, slog.New(slog.DiscardHandler), nil)
	repo := &model.Repo{ID: 3, OwnerID: 1}
	for i := range 5 {
		if err := publish(t.Context(), d, repo, tested{"issue.opened", int64(i), 0}); err != nil {
			t.Fatal(err)
		}
	}
	connect := func() *pgx.Conn {
		conn, err := d.Lead(t.Context(), sequencerKey)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eventdb.Prepare(t.Context(), conn, time.Now()); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	ctx, cancel := context.WithCancel(t.Context())
	conn := connect()
	_, err := eventdb.Sequence(ctx, d, conn, time.Now(), func(eventdb.Batch) []river.InsertManyParams { cancel(); return nil })
	if err == nil {
		t.Fatal("a batch that was cut off succeeded")
	}
	_ = conn.Close(t.Context())
	conn = connect()
	later := time.Now().UTC().Add(time.Hour).Truncate(time.Microsecond)
	b, err := eventdb.Sequence(t.Context(), d, conn, later, s.plan)
	if err != nil || b.From != 1 || b.To != 5 || len(b.Rows) != 5 {
		t.Fatalf("batch %+v, %v", b, err)
	}
	// A clock that went back does not put events before others.
	if err := publish(t.Context(), d, repo, tested{"issue.closed", 9, 0}); err != nil {
		t.Fatal(err)
	}
	b, err = eventdb.Sequence(t.Context(), d, conn, time.Now(), s.plan)
	if err != nil || b.From != 6 || b.To != 6 || b.At.Before(later) {
		t.Fatalf("batch %+v, %v", b, err)
	}
	_ = conn.Close(t.Context())
	list, err := s.List(t.Context(), ListInput{RepoID: 3, Limit: 50})
	if err != nil || len(list) != 6 || list[0].Type != "issue.closed" {
		t.Fatalf("%d events, %v", len(list), err)
	}
}

func TestListTypesAndPlaces(t *testing.T) {
	t.Parallel()
	p := newProcess(t, dbtest.NewURL(t))
	defer p.kill(t.Context())
	repo, other := &model.Repo{ID: 3, OwnerID: 1}, &model.Repo{ID: 4, OwnerID: 1}
	waited := make(chan []*model.Event, 1)
	ready := make(chan struct{})
	go func() {
		close(ready)
		list, err := p.List(t.Context(), ListInput{RepoID: 3, Types: []string{"check.done"}, Wait: 20 * time.Second, Limit: 5})
		if err != nil {
			t.Error(err)
		}
		waited <- list
	}()
	<-ready
	for p.followers.count() == 0 {
		time.Sleep(time.Millisecond)
	}
	for i, kind := range []string{"issue.opened", "status.set", "issue.opened", "check.done", "issue.closed"} {
		if err := publish(t.Context(), p.d, repo, tested{kind, int64(i), 0}); err != nil {
			t.Fatal(err)
		}
		if err := publish(t.Context(), p.d, other, tested{kind, int64(i), 0}); err != nil {
			t.Fatal(err)
		}
	}
	if list := <-waited; len(list) != 1 || list[0].Type != "check.done" || list[0].RepoID != 3 {
		t.Fatalf("waited for a check: %v", list)
	}
	for !done(t, p.d, 10) {
		time.Sleep(time.Millisecond)
	}
	kinds := func(in ListInput) string {
		in.Limit = 50
		list, err := p.List(t.Context(), in)
		if err != nil {
			return err.Error()
		}
		out := ""
		for _, e := range list {
			out += fmt.Sprintf("%s:%d ", e.Type, e.Seq)
		}
		return out
	}
	all, err := p.List(t.Context(), ListInput{RepoID: 3, Types: []string{"issue.opened"}, Limit: 9})
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	for _, tc := range []struct {
		in   ListInput
		want string
	}{
		{ListInput{RepoID: 3}, "issue.closed:9 issue.opened:5 issue.opened:1 "},
		{ListInput{RepoID: 3, Types: []string{"status.set", "check.done"}}, "check.done:7 status.set:3 "},
		{ListInput{RepoID: 3, Types: []string{"issue.*", "check.done"}}, "issue.closed:9 check.done:7 issue.opened:5 issue.opened:1 "},
		{ListInput{RepoID: 3, Types: []string{"*"}}, "issue.closed:9 check.done:7 issue.opened:5 status.set:3 issue.opened:1 "},
		{ListInput{RepoID: 3, After: all[1].EventID}, "issue.opened:5 issue.closed:9 "},
		{ListInput{RepoID: 4, After: all[1].EventID}, ErrUnknownAfter.Error()},
		{ListInput{RepoID: 3, After: "evt_none"}, ErrUnknownAfter.Error()},
		{ListInput{RepoID: 5}, ""},
		{ListInput{AccountID: 1, Types: []string{"issue.closed"}}, "issue.closed:10 issue.closed:9 "},
		{ListInput{RepoID: 3, Offset: 2}, "issue.opened:1 "},
	} {
		if got := kinds(tc.in); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestConfidentialIsHidden(t *testing.T) {
	t.Parallel()
	p := newProcess(t, dbtest.NewURL(t))
	defer p.kill(t.Context())
	for _, e := range []secret{{1, false, nil}, {2, true, []int64{}}, {2, true, []int64{7, 9}}, {9, true, nil}} {
		if err := publish(t.Context(), p.d, &model.Repo{ID: 3, OwnerID: 1}, e); err != nil {
			t.Fatal(err)
		}
	}
	for !done(t, p.d, 4) {
		time.Sleep(time.Millisecond)
	}
	for _, tc := range []struct {
		in   ListInput
		want int
	}{{ListInput{}, 4}, {ListInput{Hidden: true}, 1}, {ListInput{Hidden: true, SeenBy: 9}, 3}, {ListInput{Hidden: true, SeenBy: 5}, 1}} {
		tc.in.RepoID, tc.in.Limit = 3, 50
		if list, err := p.List(t.Context(), tc.in); err != nil || len(list) != tc.want {
			t.Errorf("%+v: %d events, %v", tc.in, len(list), err)
		}
	}
}

type secret struct {
	Author       int64   `json:"authorId"`
	Confidential bool    `json:"confidential"`
	Assignees    []int64 `json:"assigneeIds"`
}

func (secret) EventType() string { return "issue.opened" }

func (f *followers) count() int { f.mu.Lock(); defer f.mu.Unlock(); return len(f.waiting) }

func TestPartitionsArePurged(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	s := New(d, slog.New(slog.DiscardHandler), nil)
	repo := &model.Repo{ID: 3, OwnerID: 1}
	start := time.Now().UTC().AddDate(0, 0, -120)
	conn, err := d.Lead(t.Context(), sequencerKey)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // the test is over
	var ids []string
	for i, at := range []time.Time{start, start.AddDate(0, 0, 20), time.Now().UTC()} {
		if _, err := eventdb.Prepare(t.Context(), conn, at); err != nil {
			t.Fatal(err)
		}
		if err := publish(t.Context(), d, repo, tested{"issue.opened", int64(i), 0}); err != nil {
			t.Fatal(err)
		}
		if _, err := eventdb.Sequence(t.Context(), d, conn, at, s.plan); err != nil {
			t.Fatal(err)
		}
		list, err := s.List(t.Context(), ListInput{RepoID: 3, Limit: 1})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		ids = append(ids, list[0].EventID)
	}
	if n, err := eventdb.Purge(t.Context(), d, time.Now()); err != nil || n != 4 {
		t.Fatalf("dropped %d partitions, %v; want 4", n, err)
	}
	list, err := s.List(t.Context(), ListInput{RepoID: 3, Limit: 9})
	if err != nil || len(list) != 1 || list[0].Seq != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	if _, err := s.List(t.Context(), ListInput{RepoID: 3, After: ids[0], Limit: 9}); !errors.Is(err, ErrUnknownAfter) {
		t.Fatalf("after a purged event: %v", err)
	}
	oldest, err := eventdb.Oldest(t.Context(), d.Events(), 3, 0)
	if err != nil || oldest.EventID != ids[2] {
		t.Fatalf("oldest %v, %v", oldest, err)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	s := New(nil, nil, nil)
	for eventType, want := range map[string]string{
		"repo.renamed": "[work runner actions webhooks security search deployments projects repos packages integrations billing docs merges notify]",
		"issue.closed": "[runner actions webhooks search integrations notify]",
		"git.push":     "[work actions webhooks security search deployments packages docs merges notify]",
		"pull.merged":  "[work runner actions webhooks security search deployments repos docs merges notify]",
		"star.created": "[webhooks notify]",
	} {
		if got := fmt.Sprint(s.routed(eventType)); got != want {
			t.Errorf("%s goes to %s, want %s", eventType, got, want)
		}
	}
	if n := len(Routes()); n != 15 {
		t.Errorf("%d routes", n)
	}
}
