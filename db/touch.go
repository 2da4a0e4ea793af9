package db

import (
	"context"
	"sync"
	"time"

	"github.com/uptrace/bun"
)

// touch says how a scope is used: what counts keeps it awake.
type touch int

const (
	unnoticed touch = iota
	touched
)

// readers say for whom a context reads.
type readers int

const (
	nobody readers = iota // a job: wakes what it needs, and touches nothing
	person
	stranger
)

type readerKey struct{}

// ForPerson returns a context whose reads count as touches: somebody who is
// signed in asked for them.
func ForPerson(ctx context.Context) context.Context {
	return context.WithValue(ctx, readerKey{}, person)
}

// ForStranger returns a context whose reads wake only so many sleeping scopes,
// so that a crawler cannot wake them all; see ErrAsleep.
func ForStranger(ctx context.Context) context.Context {
	return context.WithValue(ctx, readerKey{}, stranger)
}

func reader(ctx context.Context) readers {
	r, _ := ctx.Value(readerKey{}).(readers)
	return r
}

// touches are the scopes that people read since the last flush: one statement
// an hour instead of one a page.
type touches struct {
	mu  sync.Mutex
	set map[Scope]struct{}
}

const touchesMax = 100_000

func (t *touches) add(s Scope) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.set == nil {
		t.set = map[Scope]struct{}{}
	}
	if len(t.set) < touchesMax {
		t.set[s] = struct{}{}
	}
}

func (t *touches) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	names := make([]string, 0, len(t.set))
	for s := range t.set {
		names = append(names, s.String())
	}
	t.set = nil
	return names
}

// FlushTouches notes which scopes people read since the last time. A flush
// that is lost lets a scope sleep an hour early.
func (d *DB) FlushTouches(ctx context.Context) error {
	const page = 500
	now := time.Now()
	for names := d.touches.take(); len(names) > 0; {
		some := names[:min(page, len(names))]
		names = names[len(some):]
		// The rows are locked in one order, and without waiting for their
		// writers, who note their touch themselves.
		_, err := d.bun.NewRaw(`UPDATE cell.scopes SET touched_at = greatest(touched_at, ?), sleep_at = NULL WHERE scope IN (
			SELECT scope FROM cell.scopes WHERE scope IN (?) AND state = 'live' ORDER BY scope FOR UPDATE SKIP LOCKED)`,
			now, bun.List(some)).Exec(ctx)
		if err != nil {
			return mapped(err)
		}
	}
	return nil
}

// Idle lists scopes after the one named after that may sleep: not touched
// since before, and with no alarm about to ring; "" is before the first.
func (d *DB) Idle(ctx context.Context, before time.Time, after string, limit int) ([]Scope, error) {
	now := time.Now()
	var names []string
	err := d.bun.NewRaw(`SELECT s.scope FROM cell.scopes s WHERE s.scope > ? AND s.state = 'live' AND s.domains <> '{}'
		AND CASE WHEN s.sleep_at IS NULL THEN s.touched_at < ? ELSE s.sleep_at < ? END
		AND NOT EXISTS (SELECT FROM cell.alarms a WHERE a.scope = s.scope AND a.due_at < ?)
		ORDER BY s.scope LIMIT ?`, after, before, now, now.Add(24*time.Hour), limit).Scan(ctx, &names)
	if err != nil {
		return nil, mapped(err)
	}
	out := make([]Scope, 0, len(names))
	for _, name := range names {
		s, err := ParseScope(name)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
