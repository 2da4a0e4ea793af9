package webhooks

import (
	"context"
	"sync"

	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/webhookdb"
)

// Bounds of the sender. A receiver that does not answer in time holds its own
// lane only, and there one place.
const (
	maxSending = 256
	perHost    = 4
	perSlow    = 1
	maxQueued  = 20_000
	// maxLane is how much of that one host may take up.
	maxLane = 2_000
)

// job is one attempt to be made.
type job struct {
	place webhookdb.Place
	dl    *model.Delivery
}

// lane is the attempts for one host.
type lane struct {
	queue   []job
	running int
	slow    bool
	waiting bool // in the sender's ready list
}

// Sender makes attempts, a few at a time for each host, so that a slow
// receiver delays no other.
type Sender struct {
	do func(ctx context.Context, j job) (slow bool)

	mu      sync.Mutex
	ctx     context.Context
	cancel  context.CancelFunc
	lanes   map[string]*lane
	ready   []string // hosts that wait for a free place
	known   map[int64]bool
	sending int
	idle    *sync.Cond
}

func newSender(do func(ctx context.Context, j job) bool) *Sender {
	s := &Sender{do: do, lanes: map[string]*lane{}, known: map[int64]bool{}}
	s.idle = sync.NewCond(&s.mu)
	return s
}

// Start lets the sender send.
func (s *Sender) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return nil
}

// Stop gives attempts under way until the end of ctx and drops those that wait:
// they are recorded, and come again when their lease ends.
func (s *Sender) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel == nil {
		return nil
	}
	s.lanes, s.ready = map[string]*lane{}, nil
	cancel := s.cancel
	s.cancel = nil
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		cancel()
		s.idle.Broadcast()
	})
	defer stop()
	for s.sending > 0 && ctx.Err() == nil {
		s.idle.Wait()
	}
	cancel()
	return nil
}

// Send makes the attempt as soon as its host has a place. When the sender does
// not run, or has too much to do, the attempt is left to the place's alarm.
func (s *Sender) Send(p webhookdb.Place, dl *model.Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel == nil || s.known[dl.ID] || len(s.known) >= maxQueued {
		return
	}
	host := hostOf(dl.Request.URL)
	l := s.lanes[host]
	if l == nil {
		l = &lane{}
		s.lanes[host] = l
	}
	if len(l.queue) >= maxLane {
		return
	}
	s.known[dl.ID] = true
	l.queue = append(l.queue, job{p, dl})
	s.next(host, l)
}

// Queued is how many attempts wait or are being made.
func (s *Sender) Queued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.known)
}

func (l *lane) limit() int {
	if l.slow {
		return perSlow
	}
	return perHost
}

// next starts what may start in a lane.
func (s *Sender) next(host string, l *lane) {
	for len(l.queue) > 0 && l.running < l.limit() {
		if s.sending >= maxSending {
			if !l.waiting {
				l.waiting = true
				s.ready = append(s.ready, host)
			}
			return
		}
		j := l.queue[0]
		l.queue[0] = job{}
		l.queue = l.queue[1:]
		l.running++
		s.sending++
		go s.run(s.ctx, host, l, j)
	}
}

func (s *Sender) run(ctx context.Context, host string, l *lane, j job) {
	slow := s.do(ctx, j)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, j.dl.ID)
	s.sending--
	l.running--
	l.slow = slow
	s.idle.Broadcast()
	if s.lanes[host] != l {
		return // stopped meanwhile
	}
	// Those that wait for a place come before this host's next.
	for len(s.ready) > 0 && s.sending < maxSending {
		first := s.ready[0]
		s.ready = s.ready[1:]
		if w := s.lanes[first]; w != nil {
			w.waiting = false
			s.next(first, w)
		}
	}
	s.next(host, l)
	if l.running == 0 && len(l.queue) == 0 && !l.slow {
		delete(s.lanes, host)
	}
}
