package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gitfor/gitfor/app/fault"
)

// DefaultHourly is how many API requests one token, or one stranger's
// address, may make in an hour unless the operator sets another number.
const DefaultHourly = 15_000

// Kinds of cost, as GitHub names what its limits are of. Searching has a
// fifth of the hour's requests, counted apart.
const (
	CostCore   = "core"
	CostSearch = "search"
)

// Costs are the kinds of cost, with their share of an hour's requests.
func Costs() map[string]int { return map[string]int{CostCore: 1, CostSearch: 5} }

// SetHourly sets where the number of requests in an hour comes from; it must
// answer from memory.
func (k *Kit) SetHourly(f func(ctx context.Context) int) { k.hourly = f }

// Spent is what somebody used of one kind in an hour.
type Spent struct {
	Subject, Kind string
	Hour          time.Time
	Used          int
}

type spender struct{ subject, kind string }

// limits counts API requests by who makes them, in hours of the clock. It
// counts in memory; what is new is taken out to be stored, and what others
// counted is put in.
type limits struct {
	mu   sync.Mutex
	hour time.Time
	used map[spender]int
	// fresh is what was not taken out yet, older what remains of the hour
	// before.
	fresh map[spender]int
	older []Spent
}

func newLimits() *limits { return &limits{used: map[spender]int{}, fresh: map[spender]int{}} }

// turn begins a new hour.
func (l *limits) turn(now time.Time) {
	hour := now.Truncate(time.Hour)
	if hour.Equal(l.hour) {
		return
	}
	l.older = append(l.older, l.list()...)
	l.hour = hour
	clear(l.used)
	clear(l.fresh)
}

func (l *limits) list() []Spent {
	out := make([]Spent, 0, len(l.fresh))
	for s, n := range l.fresh {
		out = append(out, Spent{s.subject, s.kind, l.hour, n})
	}
	return out
}

// take counts n requests and returns how many were made in this hour, and
// when the next begins.
func (l *limits) take(who, kind string, n int, now time.Time) (used int, reset time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	s := spender{who, kind}
	l.used[s] += n
	if n > 0 {
		l.fresh[s] += n
	}
	return l.used[s], l.hour.Add(time.Hour)
}

// TakeSpent returns what was counted since it was called last.
func (k *Kit) TakeSpent(now time.Time) []Spent {
	l := k.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	out := append(l.older, l.list()...)
	l.older = nil
	clear(l.fresh)
	return out
}

// PutSpent notes what is known to be used in all, here and by others.
func (k *Kit) PutSpent(list []Spent) {
	l := k.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(time.Now())
	for _, s := range list {
		at := spender{s.Subject, s.Kind}
		if s.Hour.Equal(l.hour) {
			l.used[at] = max(l.used[at], s.Used+l.fresh[at])
		}
	}
}

// Usage is how much of an hour's requests are used.
type Usage struct {
	Limit, Used, Remaining int
	Reset                  time.Time
}

// UsageOf is how much the caller used of a kind, which costs nothing to ask.
func (c *Ctx) UsageOf(kind string) Usage {
	limit := DefaultHourly
	if c.kit.hourly != nil {
		limit = c.kit.hourly(c.Context())
	}
	limit = max(1, limit/max(1, Costs()[kind]))
	used, reset := c.kit.limits.take(c.spender(), kind, 0, time.Now())
	return Usage{Limit: limit, Used: used, Remaining: max(0, limit-used), Reset: reset}
}

// spender is whose requests are counted: a token's, a person's, or those of a
// stranger's address.
func (c *Ctx) spender() string {
	switch {
	case c.Viewer != nil && c.Viewer.TokenID != 0:
		return "token " + strconv.FormatInt(c.Viewer.ID(), 10) + " " + strconv.FormatInt(c.Viewer.TokenID, 10)
	case c.Viewer.SignedIn():
		return "account " + strconv.FormatInt(c.Viewer.ID(), 10)
	}
	return c.Remote
}

// limit counts an API request and sets GitHub's headers
// (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api).
// Asking for the limits is free.
func (c *Ctx) limit() error {
	kind := CostCore
	if strings.HasPrefix(c.R.URL.Path, APIPrefix+"/search/") {
		kind = CostSearch
	}
	if c.R.URL.Path != APIPrefix+"/rate_limit" {
		c.kit.limits.take(c.spender(), kind, 1, time.Now())
	}
	u := c.UsageOf(kind)
	c.Usage = u
	h := c.W.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(u.Limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(u.Remaining))
	h.Set("X-RateLimit-Used", strconv.Itoa(u.Used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(u.Reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", kind)
	if u.Used > u.Limit {
		return &fault.Fault{Kind: fault.RateLimited, RetryAfter: int(time.Until(u.Reset).Seconds()) + 1,
			Message: "API rate limit exceeded. It starts anew at " + u.Reset.UTC().Format(http.TimeFormat) + "."}
	}
	return nil
}
