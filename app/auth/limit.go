package auth

import (
	"net/netip"
	"sync"
	"time"

	"github.com/gitfor/gitfor/app/fault"
)

// limiter counts attempts by where they come from. It never counts by
// account, so nobody can lock somebody else out.
type limiter struct {
	mu    sync.Mutex
	seen  map[string]*window
	max   int
	every time.Duration
	now   func() time.Time
}

type window struct {
	began time.Time
	n     int
}

func newLimiter(limit int, every time.Duration, now func() time.Time) *limiter {
	return &limiter{seen: map[string]*window{}, max: limit, every: every, now: now}
}

// take counts one attempt; fault.RateLimited when there were too many.
func (l *limiter) take(remote string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, key := l.now(), network(remote)
	w := l.seen[key]
	if w == nil || now.Sub(w.began) >= l.every {
		if len(l.seen) > 50_000 {
			clear(l.seen)
		}
		w = &window{began: now}
		l.seen[key] = w
	}
	if w.n >= l.max {
		wait := w.began.Add(l.every).Sub(now)
		return &fault.Fault{Kind: fault.RateLimited, RetryAfter: int(wait.Seconds()) + 1,
			Message: "Too many attempts came from your network. Wait " + minutes(wait) + ", then try again."}
	}
	w.n++
	return nil
}

// network is an address, or the 64 bits that one household has of IPv6.
func network(remote string) string {
	addr, err := netip.ParseAddr(remote)
	if err != nil || addr.Unmap().Is4() {
		return remote
	}
	p, err := addr.Prefix(64)
	if err != nil {
		return remote
	}
	return p.String()
}

func minutes(d time.Duration) string {
	n := int(d/time.Minute) + 1
	if n == 1 {
		return "a minute"
	}
	return itoa(n) + " minutes"
}

// Limiter counts attempts by the network that they come from.
type Limiter struct{ l *limiter }

// NewLimiter allows limit attempts from one network in a time.
func NewLimiter(limit int, every time.Duration, now func() time.Time) *Limiter {
	return &Limiter{newLimiter(limit, every, now)}
}

// Take counts one attempt; fault.RateLimited when there were too many.
func (l *Limiter) Take(remote string) error { return l.l.take(remote) }
