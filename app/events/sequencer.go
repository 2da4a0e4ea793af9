package events

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/jackc/pgx/v5"
)

// sequencerKey is the advisory lock of the one sequencer.
const sequencerKey = 0x67697401

// The sequencer is woken by commits; it looks by itself after pollMin, and
// more and more seldom up to pollMax while nothing happens.
const (
	pollMin = 250 * time.Millisecond
	pollMax = 2 * time.Second
)

// Sequencer gives committed events their places in the log, one process at a
// time.
type Sequencer struct {
	s      *Service
	cancel context.CancelFunc
	done   chan struct{}
	wake   chan struct{}
	// numbered counts the events that this process has placed.
	numbered atomic.Int64
}

// NewSequencer makes the sequencer of s's log.
func NewSequencer(s *Service) *Sequencer { return &Sequencer{s: s, wake: make(chan struct{}, 1)} }

// Numbered is how many events this process has given a place since it started.
func (q *Sequencer) Numbered() int64 { return q.numbered.Load() }

// Start begins to sequence as soon as no other process does.
func (q *Sequencer) Start(ctx context.Context) error {
	ctx, q.cancel = context.WithCancel(context.WithoutCancel(ctx))
	q.done = make(chan struct{})
	unsubscribe := q.s.db.Bus().Subscribe(db.PublishedChannel, func(string) {
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}, nil)
	go func() {
		defer close(q.done)
		defer unsubscribe()
		q.run(ctx)
	}()
	return nil
}

// Stop lets the batch under way finish and hands the lead on.
func (q *Sequencer) Stop(context.Context) error {
	q.cancel()
	<-q.done
	return nil
}

func (q *Sequencer) run(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := q.s.db.Lead(ctx, sequencerKey)
		if err == nil {
			q.s.db.Sequencing(true)
			err = q.lead(ctx, conn)
			q.s.db.Sequencing(false)
			_ = conn.Close(context.WithoutCancel(ctx))
		}
		if ctx.Err() == nil {
			q.s.log.WarnContext(ctx, "the sequencer lost its connection and tries again", "err", err)
			wait(ctx, time.Second, nil, nil)
		}
	}
}

// lead sequences on conn until ctx ends or the connection fails.
func (q *Sequencer) lead(ctx context.Context, conn *pgx.Conn) error {
	var until time.Time
	poll, sure := pollMin, true
	for ctx.Err() == nil {
		// A batch is not cut off in the middle: it is short.
		step, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		n, err := q.step(step, conn, &until, sure)
		cancel()
		if err != nil {
			return err
		}
		if n == eventdb.BatchSize {
			continue
		}
		if n > 0 {
			poll = pollMin
		}
		if sure = wait(ctx, poll, q.s.db.Published(), q.wake); sure {
			poll = pollMin
		} else {
			poll = min(poll*2, pollMax)
		}
	}
	return nil
}

// step numbers one batch; when it is not sure that there is one it looks
// first, which is one statement.
func (q *Sequencer) step(ctx context.Context, conn *pgx.Conn, until *time.Time, sure bool) (int, error) {
	if !sure {
		if waiting, err := eventdb.Waiting(ctx, conn); err != nil || !waiting {
			return 0, err
		}
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	if now.Add(24 * time.Hour).After(*until) {
		var err error
		if *until, err = eventdb.Prepare(ctx, conn, now); err != nil {
			return 0, err
		}
	}
	b, err := eventdb.Sequence(ctx, q.s.db, conn, now, q.s.plan)
	q.numbered.Add(int64(len(b.Rows)))
	return len(b.Rows), err
}

// wait waits for d or the end of ctx, and says whether a or b woke it.
func wait(ctx context.Context, d time.Duration, a, b <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-a:
		return true
	case <-b:
		return true
	}
	return false
}
