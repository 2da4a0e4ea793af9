// Package notifications is the inbox: who is told of what, in which way, and
// what a person does with it.
//
//	fan.go       an event becomes deliveries, one per person (subscriber "notify")
//	facts.go     what an event says, and whom it concerns
//	take.go      an account takes what waits into its inbox, at its next touch
//	inbox.go     reading: lists, counts, the badge; act.go what is done to rows
//	mail*.go     notification mail and digests
//	push.go      pushes to browsers, and the browsers that take them
//	settings.go  which reasons reach whom how
//	http*.go     /notifications and /settings/notifications; api*.go GitHub's API
//
// Telling a thousand watchers is one INSERT into cell.deliveries. An account's
// inbox (domain "inbox" of its scope) takes its deliveries in when the person
// next looks, so that people who are away cost nothing. One thread is one row
// there; a row is made of what concerned the person, and brought up to date by
// what did not. What somebody may not read any more is pruned at every read.
package notifications

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gitfor/gitfor/app/alarms"
	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/outbound"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/notificationdb"
)

// Deps are what the service stands on.
type Deps struct {
	DB      *db.DB
	Gate    *perms.Gate
	Log     *slog.Logger
	Ring    *secret.Ring
	Mail    *mail.Service
	Markup  *markup.Renderer
	Auth    *auth.Service
	Threads *threads.Service
	Repos   *repos.Service
	// Outbound calls push services.
	Outbound *outbound.Client
	// Site is the public address.
	Site string
	// ReplyTo is the address for a person's answers to mail of a thread;
	// nil when mail cannot be answered.
	ReplyTo func(accountID, repoID, number int64) string
	// SettingsShell frames the page of a person's settings with this key.
	SettingsShell Shell
}

// Service is the inboxes.
type Service struct {
	Deps
	ev *events.Service

	mu sync.Mutex
	// unread are the badges that were counted lately.
	unread map[int64]badge
	// known are the accounts that have an inbox; nil while that is not known.
	known map[int64]bool
	// keys are the instance's for push services, once they were read.
	keys *vapidKeys
	off  func()
}

// badge is a count, and until when it may be shown.
type badge struct {
	n     int
	until time.Time
}

// badgeTime is how long a count is believed that no notice revoked: what is no
// longer readable leaves it that late.
const badgeTime = 2 * time.Minute

// emptyTime is the same for an account without an inbox: only a delivery makes
// one, and that sends a notice.
const emptyTime = 10 * time.Minute

// maxBadges bounds the memory of the counts.
const maxBadges = 50_000

// New makes the service, subscribes it to the log and adds its alarm.
func New(d Deps, ev *events.Service, al *alarms.Service) *Service {
	s := &Service{Deps: d, ev: ev, unread: map[int64]badge{}}
	ev.Subscribe(events.Subscriber{Service: "notify", Name: "notifications", Types: Types(), Handle: s.Tell})
	al.Add(alarms.Task{Kind: db.AccountKind, Name: "notifications.due", Run: s.Due})
	return s
}

// channel tells the processes whose inboxes have changed: account ids with
// commas between.
const channel = "inbox"

// Start begins to listen for changes of inboxes.
func (s *Service) Start(ctx context.Context) error {
	s.off = s.DB.Bus().Subscribe(channel, func(payload string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, text := range strings.Split(payload, ",") {
			if id, err := strconv.ParseInt(text, 10, 64); err == nil {
				s.forget(id)
			}
		}
	}, func() {
		s.mu.Lock()
		clear(s.unread)
		s.known = nil
		s.mu.Unlock()
	})
	ids, err := notificationdb.Inboxes(ctx, s.DB.Cell(), maxKnown)
	if err != nil || len(ids) == maxKnown {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = make(map[int64]bool, len(ids))
	for _, id := range ids {
		s.known[id] = true
	}
	return nil
}

// maxKnown bounds the accounts whose having an inbox is kept in memory.
const maxKnown = 500_000

// forget drops what is known of an inbox that has changed; the lock is held.
func (s *Service) forget(id int64) {
	delete(s.unread, id)
	if s.known != nil {
		s.known[id] = true
	}
}

// Stop ends that.
func (s *Service) Stop(context.Context) error {
	s.off()
	return nil
}

// changed tells every process, and the people's open pages, that inboxes have
// changed.
func (s *Service) changed(ctx context.Context, ids ...int64) {
	s.mu.Lock()
	for _, id := range ids {
		s.forget(id)
	}
	s.mu.Unlock()
	for len(ids) > 0 {
		n := min(len(ids), 300) // a notice holds 7,900 bytes
		texts := make([]string, n)
		for i, id := range ids[:n] {
			texts[i] = strconv.FormatInt(id, 10)
			s.ev.Poke(ctx, id, "inbox")
		}
		s.DB.Bus().Notify(ctx, channel, strings.Join(texts, ","))
		ids = ids[n:]
	}
}
