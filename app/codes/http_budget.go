package codes

import (
	"sync"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
)

// Bounds of what strangers may have made that is costly: blame, archives,
// comparisons. People who are signed in are only bounded in how much is made
// at once.
const (
	costlyBurst  = 30              // at once, for one client
	costlyEvery  = 2 * time.Second // then one more in this time
	costlyAnon   = 2               // for all strangers together
	costlyAll    = 8               // for all
	costlyWait   = 5 * time.Second // for a place
	maxStrangers = 20_000          // remembered
)

// budget bounds costly answers. It is safe for concurrent use.
type budget struct {
	all, anon chan struct{}

	mu    sync.Mutex
	spent map[string]time.Time // by client: when all of the burst is there again
}

func newBudget() *budget {
	return &budget{all: make(chan struct{}, costlyAll), anon: make(chan struct{}, costlyAnon), spent: map[string]time.Time{}}
}

// enter takes a place for a costly answer to the request, until leave is
// called. A fault of kind Unavailable says when to try again.
func (b *budget) enter(c *web.Ctx) (leave func(), err error) {
	if !c.Viewer.SignedIn() {
		if wait := b.spend(c.Remote, time.Now()); wait > 0 {
			return nil, busy(int(wait.Seconds())+1, "You have asked for much that is costly to make. Sign in, or wait a moment.")
		}
		if !take(c, b.anon) {
			return nil, busy(int(costlyWait.Seconds()), "Many people ask for costly pages just now. Sign in, or wait a moment.")
		}
	}
	if !take(c, b.all) {
		if !c.Viewer.SignedIn() {
			<-b.anon
		}
		return nil, busy(int(costlyWait.Seconds()), "The server is busy with costly pages. Wait a moment.")
	}
	return func() {
		<-b.all
		if !c.Viewer.SignedIn() {
			<-b.anon
		}
	}, nil
}

func busy(seconds int, message string) error {
	return &fault.Fault{Kind: fault.Unavailable, RetryAfter: seconds, Message: message}
}

func take(c *web.Ctx, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(costlyWait)
	defer timer.Stop()
	select {
	case places <- struct{}{}:
		return true
	case <-timer.C:
	case <-c.Context().Done():
	}
	return false
}

// spend takes one from a client's share, and says how long to wait where
// nothing is left.
func (b *budget) spend(client string, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.spent) > maxStrangers {
		for k, full := range b.spent {
			if full.Before(now) || len(b.spent) > maxStrangers {
				delete(b.spent, k)
			}
		}
	}
	full := b.spent[client]
	if full.Before(now) {
		full = now
	}
	full = full.Add(costlyEvery)
	if over := full.Sub(now) - costlyBurst*costlyEvery; over > 0 {
		return over
	}
	b.spent[client] = full
	return 0
}
