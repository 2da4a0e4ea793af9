package jobs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/alarms"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/alarmdb"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

var update = flag.Bool("update", false, "write golden files")

func TestMain(m *testing.M) { dbtest.Main(m) }

type opened struct {
	Number int64 `json:"number"`
}

func (opened) EventType() string { return "issue.opened" }

func newApp(t *testing.T) *app.App { t.Helper(); return appOver(t, dbtest.Open(t)) }

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func appOver(t testing.TB, d *db.DB) *app.App {
	t.Helper()
	a, err := app.New(t.Context(), app.Config{DataDir: t.TempDir(), URL: "http://localhost:3000", OutboundAllow: []string{"127.0.0.0/8"}},
		d, discard())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// run starts a with its jobs and returns how to stop it.
func run(t *testing.T, a *app.App, dir string) (stop func()) {
	t.Helper()
	if err := Attach(a, dir, discard()); err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() { a.Stop(context.WithoutCancel(t.Context())) })
	t.Cleanup(stop)
	return stop
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestGolden holds every queue and kind of job in one list that a change
// shows up in.
func TestGolden(t *testing.T) {
	t.Parallel()
	var lines []string
	for name, q := range queues() {
		lines = append(lines, fmt.Sprintf("queue %s: %d at once, %s each", name, q.workers, q.timeout))
		if q.timeout >= rescueAfter {
			t.Errorf("queue %s: jobs may take %s and are taken for lost after %s", name, q.timeout, rescueAfter)
		}
	}
	for _, k := range register(newApp(t)).kinds {
		queue := k.opts.Queue
		if k.name == (events.BatchArgs{}).Kind() {
			queue = events.QueuePrefix + "*"
		}
		if queue == "" {
			queue = QueueDefault
		}
		lines = append(lines, fmt.Sprintf("kind %s: queue %s", k.name, queue))
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile("testdata/jobs.golden", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/jobs.golden")
	if err != nil || got != string(want) {
		t.Fatalf("jobs.golden is stale (go test ./jobs -update), %v:\n%s", err, got)
	}
}

// TestSubscriberFailsOnOneEvent shows that a batch goes on past an event that
// fails, which is tried three times and then kept, and can be replayed.
func TestSubscriberFailsOnOneEvent(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	var mu sync.Mutex
	handled, tries, broken := map[int64]int{}, 0, true
	a.Events.Subscribe(events.Subscriber{Service: "search", Name: "test.search", Handle: func(_ context.Context, e *model.Event) error {
		mu.Lock()
		defer mu.Unlock()
		if string(e.Data) == `{"number": 7}` {
			tries++
			if broken {
				return errors.New("seven is broken")
			}
		}
		handled[e.Seq]++
		return nil
	}})
	for i := range 20 {
		publish(t, a.DB, int64(i))
	}
	run(t, a, t.TempDir())
	count := func() int { mu.Lock(); defer mu.Unlock(); return len(handled) }
	until(t, "the other events are handled", func() bool { return count() == 19 })
	var dead []*rivertype.JobRow
	until(t, "the failing event is a dead letter", func() bool {
		// Retries are due later: bring them forward.
		if _, err := a.DB.JobsPool().Exec(t.Context(),
			"UPDATE jobs.river_job SET scheduled_at = now(), state = 'available' WHERE state IN ('retryable', 'available')"); err != nil {
			t.Fatal(err)
		}
		a.DB.NotifyQueues(t.Context(), "g1t-events-search")
		var err error
		if dead, err = a.DB.DeadLetters(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
		return len(dead) > 0
	})
	mu.Lock()
	if tries != 4 { // once in its batch, three times in its own job
		t.Errorf("%d tries", tries)
	}
	broken = false
	mu.Unlock()
	if len(dead) != 1 || len(dead[0].Errors) != 3 || !strings.Contains(dead[0].Errors[2].Error, "seven is broken") {
		t.Fatalf("dead letters %+v", dead)
	}
	if err := a.DB.Replay(t.Context(), dead[0].ID); err != nil {
		t.Fatal(err)
	}
	until(t, "the replayed event is handled", func() bool { return count() == 20 })
}

func publish(t *testing.T, d *db.DB, number int64) {
	t.Helper()
	err := d.InRepo(t.Context(), 1, func(ctx context.Context, tx *db.RepoTx) error {
		return events.Emit(ctx, tx, events.About{Repo: &model.Repo{ID: 1, OwnerID: 1}}, opened{number})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNodeReclaims shows that a job whose process was killed runs again at the
// next start, its attempt not counted, and that no two processes are one node.
func TestNodeReclaims(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	done := make(chan int64, 10)
	a.Events.Subscribe(events.Subscriber{Service: "search", Name: "test.search", Handle: func(_ context.Context, e *model.Event) error {
		done <- e.Seq
		return nil
	}})
	dir := t.TempDir()
	n, err := claimNode(dir)
	if err != nil {
		t.Fatal(err)
	}
	other, err := claimNode(dir)
	if err != nil || other.id == n.id {
		t.Fatalf("two processes are node %s, %v", n.id, err)
	}
	other.release()
	publish(t, a.DB, 1)
	seq := events.NewSequencer(a.Events)
	if err := seq.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "numbered", func() bool { return seq.Numbered() == 1 })
	if err := seq.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The process fetched the job for the 25th time and was killed.
	if _, err := a.DB.JobsPool().Exec(t.Context(), `UPDATE jobs.river_job SET state = 'running', attempt = 25, attempted_at = now(),
		attempted_by = ARRAY[$1] WHERE kind = 'events.batch'`, n.id); err != nil {
		t.Fatal(err)
	}
	n.release()
	run(t, a, dir)
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the job did not run again")
	}
}

func TestFailuresThatCount(t *testing.T) {
	t.Parallel()
	failed, lost := rivertype.AttemptError{Error: "boom"}, rivertype.AttemptError{Error: rescued}
	for _, tc := range []struct {
		errors []rivertype.AttemptError
		dead   bool
	}{
		{nil, false},
		{[]rivertype.AttemptError{failed}, false},
		{[]rivertype.AttemptError{failed, failed}, true},
		{[]rivertype.AttemptError{lost, lost, lost, failed}, false},
	} {
		job := &rivertype.JobRow{Attempt: len(tc.errors) + 1, MaxAttempts: 25, Errors: tc.errors}
		deadLetters{}.HandleError(t.Context(), job, errors.New("boom"))
		if dead := job.Attempt >= job.MaxAttempts; dead != tc.dead {
			t.Errorf("after %d errors: dead = %v", len(tc.errors), dead)
		}
	}
}

// TestAlarms shows that an alarm rings when it is due, that a task that fails
// holds up no other, and that a ring whose job was lost comes again.
func TestAlarms(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	rang := make(chan time.Time, 10)
	start := time.Now()
	var mu sync.Mutex
	var again time.Time
	a.Alarms.Add(alarms.Task{Kind: db.RepoKind, Name: "broken", Run: func(context.Context, int64, time.Time) (time.Time, error) {
		panic("broken")
	}})
	a.Alarms.Add(alarms.Task{Kind: db.RepoKind, Name: "works", Run: func(_ context.Context, id int64, now time.Time) (time.Time, error) {
		mu.Lock()
		defer mu.Unlock()
		rang <- now
		return again, nil
	}})
	arm := func(in time.Duration) {
		t.Helper()
		err := a.DB.InRepo(t.Context(), 9, func(ctx context.Context, tx *db.RepoTx) error { return tx.Arm(ctx, time.Now().Add(in)) })
		if err != nil {
			t.Fatal(err)
		}
	}
	run(t, a, t.TempDir())
	arm(time.Hour)
	arm(300 * time.Millisecond) // earlier: it moves
	select {
	case at := <-rang:
		if late := at.Sub(start) - 300*time.Millisecond; late < 0 || late > 2*time.Second {
			t.Errorf("rang %s late", late)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("never rang")
	}
	// The broken task waits five minutes.
	until(t, "the alarm is set for the task that failed", func() bool {
		at, armed, err := alarmdb.Of(t.Context(), a.DB, "repo_9")
		return err == nil && armed && at.Sub(start) > 4*time.Minute && at.Sub(start) < 6*time.Minute
	})
	// A job that is lost: the clock takes the alarm and nobody works it.
	arm(-time.Second)
	<-rang
	until(t, "the due alarm was moved on", func() bool {
		at, _, err := alarmdb.Of(t.Context(), a.DB, "repo_9")
		return err == nil && at.After(time.Now())
	})
}

// TestAlarmIsNotLost shows what becomes of an alarm when its job dies or
// somebody arms it while it rings.
func TestAlarmIsNotLost(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	now := time.Now().UTC().Truncate(time.Microsecond)
	arm := func(due time.Time) {
		t.Helper()
		err := d.InAccount(t.Context(), 5, func(ctx context.Context, tx *db.AccountTx) error { return tx.Arm(ctx, due) })
		if err != nil {
			t.Fatal(err)
		}
	}
	fire := func(at time.Time) (due []alarmdb.Due) {
		t.Helper()
		_, err := alarmdb.Fire(t.Context(), d, at, 10, func(a alarmdb.Due) river.InsertManyParams {
			due = append(due, a)
			return river.InsertManyParams{Args: alarms.RingArgs(a), InsertOpts: &river.InsertOpts{Queue: alarms.Queue}}
		})
		if err != nil {
			t.Fatal(err)
		}
		return due
	}
	want := func(what string, at time.Time) {
		t.Helper()
		got, armed, err := alarmdb.Of(t.Context(), d, "account_5")
		if err != nil || armed == at.IsZero() || armed && !got.Equal(at) {
			t.Fatalf("%s: set to %v (%v), %v; want %v", what, got, armed, err, at)
		}
	}
	arm(now)
	first := fire(now)
	if len(first) != 1 || len(fire(now)) != 0 {
		t.Fatal("an alarm rings once")
	}
	want("its job is lost", now.Add(alarmdb.Grace))
	second := fire(now.Add(alarmdb.Grace))
	if len(second) != 1 {
		t.Fatal("a lost ring does not come again")
	}
	// While it rings somebody arms it for later than the grace.
	arm(now.Add(time.Hour))
	if err := alarmdb.Settle(t.Context(), d, second[0], time.Time{}); err != nil {
		t.Fatal(err)
	}
	want("armed while it rang", now.Add(2*alarmdb.Grace))
	third := fire(now.Add(2 * alarmdb.Grace))
	if err := alarmdb.Settle(t.Context(), d, third[0], now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	want("settled", now.Add(time.Hour))
	fourth := fire(now.Add(time.Hour))
	if err := alarmdb.Settle(t.Context(), d, fourth[0], time.Time{}); err != nil {
		t.Fatal(err)
	}
	want("nothing is due any more", time.Time{})
}
