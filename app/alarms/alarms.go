// Package alarms makes happen what falls due inside a scope: a session ends,
// a delivery is tried again, something old is deleted.
//
// A feature arms the scope's alarm in the transaction that writes what will
// fall due (RepoTx.Arm, AccountTx.Arm) and adds a Task here. There is one
// alarm per scope. One clock takes the alarms that are due and makes a job of
// each; the job runs every task of the scope's kind and sets the alarm to the
// earliest time at which one of them wants to run again. Idle scopes have no
// alarm and cost nothing.
package alarms

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/alarmdb"
	"github.com/riverqueue/river"
)

// InstanceKind is the kind of tasks that belong to no scope.
const InstanceKind db.Kind = "instance"

// Task is one thing that falls due in scopes of a kind.
type Task struct {
	// Kind is the kind of scopes; InstanceKind for none.
	Kind db.Kind
	Name string
	// Run does what is due at now and returns when it wants to run next,
	// the zero time for not at all. It runs again after a failure or a
	// crash, so doing it twice must do it once. id is the repository's or
	// account's, 0 for the instance.
	Run func(ctx context.Context, id int64, now time.Time) (next time.Time, err error)
}

// backoff is how long a task that failed waits; it holds up no other.
const backoff = 5 * time.Minute

// Service is the clock and the tasks.
type Service struct {
	db    *db.DB
	log   *slog.Logger
	tasks []Task

	wake   chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
}

// New makes the service.
func New(d *db.DB, log *slog.Logger) *Service {
	return &Service{db: d, log: log, wake: make(chan struct{}, 1)}
}

// Add adds a task; before Start only.
func (s *Service) Add(t Task) { s.tasks = append(s.tasks, t) }

// Tasks are those that were added.
func (s *Service) Tasks() []Task { return s.tasks }

// RingArgs is the job of an alarm that rang.
type RingArgs struct {
	Scope string `json:"scope"`
	Gen   int64  `json:"gen"`
}

// Kind is the job's kind.
func (RingArgs) Kind() string { return "alarms.ring" }

// InsertOpts names the job's queue.
func (RingArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: Queue} }

// Queue is the queue of alarms.
const Queue = "alarms"

// Ring runs the tasks of a scope whose alarm rang, and settles the alarm.
func (s *Service) Ring(ctx context.Context, args RingArgs) error {
	kind, id := InstanceKind, int64(0)
	if args.Scope != db.InstanceAlarm {
		scope, err := db.ParseScope(args.Scope)
		if err != nil {
			return err
		}
		kind, id = scope.Kind(), scope.ID()
	}
	now := time.Now().UTC()
	var next time.Time
	for _, t := range s.tasks {
		if t.Kind != kind {
			continue
		}
		at, err := s.run(ctx, t, id, now)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, db.ErrNotFound) { // a scope that was deleted has nothing to do
			s.log.ErrorContext(ctx, "a task of an alarm failed and waits", "task", t.Name, "scope", args.Scope, "err", err)
			at = now.Add(backoff)
		}
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return alarmdb.Settle(ctx, s.db, alarmdb.Due{Scope: args.Scope, Gen: args.Gen}, next)
}

func (s *Service) run(ctx context.Context, t Task, id int64, now time.Time) (next time.Time, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return t.Run(ctx, id, now)
}

// fireAtOnce is how many alarms ring in one transaction.
const fireAtOnce = 100

// Start starts the clock.
func (s *Service) Start(ctx context.Context) error {
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.done = make(chan struct{})
	unsubscribe := s.db.Bus().Subscribe(db.AlarmChannel, func(string) {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}, nil)
	go func() {
		defer close(s.done)
		defer unsubscribe()
		for ctx.Err() == nil {
			s.sleep(ctx, s.tick(ctx))
		}
	}()
	return nil
}

// Stop stops the clock.
func (s *Service) Stop(context.Context) error {
	s.cancel()
	<-s.done
	return nil
}

// tick rings what is due and returns how long to sleep.
func (s *Service) tick(ctx context.Context) time.Duration {
	now := time.Now().UTC()
	n, err := s.Fire(ctx, now)
	if err == nil && n == fireAtOnce {
		return 0
	}
	if err == nil {
		var next time.Time
		var armed bool
		if next, armed, err = alarmdb.Next(ctx, s.db); err == nil && armed {
			return min(max(time.Until(next), 0), db.AlarmPoll)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "the clock of alarms tries again", "err", err)
		return time.Second
	}
	return db.AlarmPoll
}

// Fire rings the alarms that are due at now and returns how many.
func (s *Service) Fire(ctx context.Context, now time.Time) (int, error) {
	n, err := alarmdb.Fire(ctx, s.db, now, fireAtOnce, func(d alarmdb.Due) river.InsertManyParams {
		return river.InsertManyParams{Args: RingArgs(d), InsertOpts: &river.InsertOpts{Queue: Queue}}
	})
	if n > 0 {
		s.db.NotifyQueues(ctx, Queue)
	}
	return n, err
}

func (s *Service) sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-s.wake:
	}
}
