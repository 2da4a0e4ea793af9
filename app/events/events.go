package events

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/riverqueue/river"
)

// Subscriber is a part of a service that reacts to events.
type Subscriber struct {
	// Service is the row of Routes whose events it gets, and so its queue.
	Service string
	// Name is unique; it is kept in jobs and never changes.
	Name string
	// Types, when there are any, narrow what the route gives; patterns as
	// in Routes.
	Types []string
	// Handle does its part for one event. It may be called twice for the
	// same event and must then do it once: db.Tx.Handled, or a unique key
	// on the event's id. Events of one repository may come out of order;
	// what is derived from them is written only where its seq is smaller.
	Handle func(ctx context.Context, e *model.Event) error
}

func (s *Subscriber) wants(eventType string) bool {
	return len(s.Types) == 0 || Matches(s.Types, eventType)
}

// Service is the log and those who follow it.
type Service struct {
	db  *db.DB
	log *slog.Logger
	// stopping ends waits at once.
	stopping <-chan struct{}

	subs      map[string]*Subscriber
	order     []*Subscriber
	followers followers
	cancel    []func()

	mu     sync.Mutex
	routes map[string][]string
}

// New makes the service. stopping is closed when the instance is about to
// stop, so that those who wait for events are answered.
func New(d *db.DB, log *slog.Logger, stopping <-chan struct{}) *Service {
	return &Service{db: d, log: log, stopping: stopping, subs: map[string]*Subscriber{}, routes: map[string][]string{}}
}

// Subscribe adds a subscriber; before Start only.
func (s *Service) Subscribe(sub Subscriber) {
	known := slices.ContainsFunc(Routes(), func(r Route) bool { return r.Service == sub.Service })
	if !known || s.subs[sub.Name] != nil || sub.Handle == nil {
		panic(fmt.Sprintf("events: subscriber %q of %q: no such service, or known already", sub.Name, sub.Service))
	}
	s.subs[sub.Name] = &sub
	s.order = append(s.order, &sub)
}

// Subscribers are those that were added, in order.
func (s *Service) Subscribers() []*Subscriber { return s.order }

// BatchArgs is the job by which a subscriber handles the events From to To,
// which were numbered together at time At (microseconds since 1970).
type BatchArgs struct {
	Subscriber string `json:"subscriber"`
	At         int64  `json:"at"`
	From       int64  `json:"from"`
	To         int64  `json:"to"`
}

// Kind is the job's kind.
func (BatchArgs) Kind() string { return "events.batch" }

// plan makes one job per batch for each subscriber that gets some of it.
func (s *Service) plan(b eventdb.Batch) []river.InsertManyParams {
	var jobs []river.InsertManyParams
	for _, sub := range s.order {
		first, last := int64(0), int64(0)
		for _, r := range b.Rows {
			if !sub.wants(r.Type) || !slices.Contains(s.routed(r.Type), sub.Service) {
				continue
			}
			if first == 0 {
				first = r.Seq
			}
			last = r.Seq
		}
		if first == 0 {
			continue
		}
		jobs = append(jobs, river.InsertManyParams{
			Args:       BatchArgs{Subscriber: sub.Name, At: b.At.UnixMicro(), From: first, To: last},
			InsertOpts: &river.InsertOpts{Queue: QueuePrefix + sub.Service},
		})
	}
	return jobs
}
