package web

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gitfor/gitfor/app/fault"
)

// DefaultHourly is how many API requests one token, or one stranger's
// address, may make in an hour unless the operator sets another number.
const DefaultHourly = 15_000

// SetHourly sets where the number of requests in an hour comes from; it must
// answer from memory.
func (k *Kit) SetHourly(f func(ctx context.Context) int) { k.hourly = f }

// limits counts API requests by who makes them, in hours of the clock. It
// counts in memory: a restart gives everybody a fresh hour.
type limits struct {
	mu   sync.Mutex
	hour time.Time
	used map[string]int
}

func newLimits() *limits { return &limits{used: map[string]int{}} }

// take counts one request and returns how many were made in this hour, and
// when the next begins.
func (l *limits) take(who string, now time.Time) (used int, reset time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	hour := now.Truncate(time.Hour)
	if !hour.Equal(l.hour) {
		l.hour = hour
		clear(l.used)
	}
	l.used[who]++
	return l.used[who], hour.Add(time.Hour)
}

// Usage is how much of an hour's requests are used.
type Usage struct {
	Limit, Used, Remaining int
	Reset                  time.Time
}

// limit counts an API request and sets GitHub's headers
// (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api).
func (c *Ctx) limit() error {
	who := c.Remote
	switch {
	case c.Viewer != nil && c.Viewer.TokenID != 0:
		who = "token " + strconv.FormatInt(c.Viewer.ID(), 10) + " " + strconv.FormatInt(c.Viewer.TokenID, 10)
	case c.Viewer.SignedIn():
		who = "account " + strconv.FormatInt(c.Viewer.ID(), 10)
	}
	limit := DefaultHourly
	if c.kit.hourly != nil {
		limit = c.kit.hourly(c.Context())
	}
	used, reset := c.kit.limits.take(who, time.Now())
	c.Usage = Usage{Limit: limit, Used: used, Remaining: max(0, limit-used), Reset: reset}
	h := c.W.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(c.Usage.Limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(c.Usage.Remaining))
	h.Set("X-RateLimit-Used", strconv.Itoa(used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
	if used > limit {
		return &fault.Fault{Kind: fault.RateLimited, RetryAfter: int(time.Until(reset).Seconds()) + 1,
			Message: "API rate limit exceeded. It starts anew at " + reset.UTC().Format(http.TimeFormat) + "."}
	}
	return nil
}
