package db

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Channels of the bus.
const (
	// PublishedChannel says that events wait for the sequencer.
	PublishedChannel = "published"
	// LogChannel says that the log has grown; its payload is eventdb's.
	LogChannel = "log"
	// AlarmChannel says that an alarm was set earlier than before.
	AlarmChannel = "alarm"
)

// BusChannel is the channel of Postgres that carries the bus's own channels:
// a notice is the bus's channel, a colon and the payload.
const BusChannel = "gitfor"

// JobChannel is the channel of Postgres where River's workers listen for new
// jobs.
const JobChannel = JobsSchema + ".river_insert"

// busPause is how long the bus gathers notices after sending some: a notice
// takes a lock of the whole database for the time of its commit.
const busPause = 5 * time.Millisecond

// Bus carries small notices between the processes of one database, with
// Postgres's NOTIFY. A notice is a hint: it is sent after the commit that it
// tells of, equal ones may become one, and it is lost when nobody listens.
type Bus struct {
	pool *pgxpool.Pool
	log  *slog.Logger

	mu      sync.Mutex
	out     []notice
	queued  map[notice]bool
	sending bool

	subs map[string][]*busSub
	stop context.CancelFunc
	done chan struct{}
}

type notice struct{ channel, payload string }

type busSub struct {
	heard func(payload string)
	lost  func()
}

func newBus(pool *pgxpool.Pool, log *slog.Logger) *Bus {
	return &Bus{pool: pool, log: log, queued: map[notice]bool{}, subs: map[string][]*busSub{}}
}

// Bus is how this process tells others, and hears from them.
func (d *DB) Bus() *Bus { return d.bus }

// Notify sends payload (at most 7,900 bytes) to all that subscribed to
// channel, this process included. It returns at once.
func (b *Bus) Notify(ctx context.Context, channel, payload string) {
	b.queue(ctx, notice{BusChannel, channel + ":" + payload})
}

func (b *Bus) queue(ctx context.Context, n notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.queued[n] {
		return
	}
	b.queued[n] = true
	b.out = append(b.out, n)
	if !b.sending {
		b.sending = true
		go b.send(uncounted(context.WithoutCancel(ctx)))
	}
}

// send sends what is queued until nothing is.
func (b *Bus) send(ctx context.Context) {
	for {
		b.mu.Lock()
		batch := b.out
		b.out = nil
		clear(b.queued)
		if len(batch) == 0 {
			b.sending = false
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		channels, payloads := make([]string, len(batch)), make([]string, len(batch))
		for i, n := range batch {
			channels[i], payloads[i] = n.channel, n.payload
		}
		once, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, err := b.pool.Exec(once, "SELECT pg_notify(c, p) FROM unnest($1::text[], $2::text[]) AS n(c, p)", channels, payloads)
		cancel()
		if err != nil {
			b.log.Debug("notice not sent", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(busPause):
		}
	}
}

// Subscribe calls heard for every notice on channel until the returned
// function is called. lost, which may be nil, is called when notices may have
// been missed. Both run one at a time and must not block.
func (b *Bus) Subscribe(channel string, heard func(payload string), lost func()) (cancel func()) {
	s := &busSub{heard, lost}
	b.mu.Lock()
	b.subs[channel] = append(b.subs[channel], s)
	b.mu.Unlock()
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		list := b.subs[channel]
		for i := range list {
			if list[i] == s {
				b.subs[channel] = slices.Delete(slices.Clone(list), i, i+1)
				return
			}
		}
	}
}

// Start begins to listen, on a connection of its own.
func (b *Bus) Start(ctx context.Context) error {
	ctx, b.stop = context.WithCancel(context.WithoutCancel(ctx))
	b.done = make(chan struct{})
	ready := make(chan struct{})
	go b.listen(ctx, ready)
	select {
	case <-ready:
	case <-time.After(5 * time.Second):
	}
	return nil
}

// Stop ends listening.
func (b *Bus) Stop(context.Context) error {
	b.stop()
	<-b.done
	return nil
}

func (b *Bus) listen(ctx context.Context, ready chan struct{}) {
	defer close(b.done)
	for first := true; ctx.Err() == nil; {
		conn, err := pgx.ConnectConfig(ctx, b.pool.Config().ConnConfig)
		if err == nil {
			err = b.hear(ctx, conn, func() {
				if !first {
					b.missed()
					return
				}
				first = false
				close(ready)
			})
			_ = conn.Close(context.WithoutCancel(ctx))
		}
		if ctx.Err() == nil {
			b.log.Warn("listening for notices was interrupted", "err", err)
			sleep(ctx, time.Second)
		}
	}
}

func (b *Bus) missed() {
	b.mu.Lock()
	var all []*busSub
	for _, list := range b.subs {
		all = append(all, list...)
	}
	b.mu.Unlock()
	for _, s := range all {
		if s.lost != nil {
			s.lost()
		}
	}
}

// hear listens on conn until it fails.
func (b *Bus) hear(ctx context.Context, conn *pgx.Conn, ready func()) error {
	if _, err := conn.Exec(ctx, "LISTEN "+BusChannel); err != nil {
		return err
	}
	ready()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		channel, payload, _ := strings.Cut(n.Payload, ":")
		b.mu.Lock()
		subs := b.subs[channel]
		b.mu.Unlock()
		for _, s := range subs {
			s.heard(payload)
		}
	}
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
