package app

import (
	"context"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"
)

// restAfter is how long nobody asks for anything until memory is given back.
const restAfter = 20 * time.Second

// rest gives back what is kept in memory for the next request, once nobody has
// asked for anything for a while: an idle instance costs little. Probes do not
// count.
type rest struct {
	requests atomic.Int64
	do       func()
	stop     chan struct{}
}

// probed are the addresses that monitors ask for at all times.
func probed(pattern string) bool {
	return pattern == "/healthz" || pattern == "/readyz" || pattern == "/metrics" || strings.HasPrefix(pattern, "/-/live")
}

// Start watches until Stop.
func (r *rest) Start(context.Context) error {
	stop := make(chan struct{})
	r.stop = stop
	go func() {
		tick := time.NewTicker(restAfter)
		defer tick.Stop()
		for before, rested := int64(-1), false; ; {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			now := r.requests.Load()
			if now != before {
				before, rested = now, false
			} else if !rested {
				r.do()
				rested = true
			}
		}
	}()
	return nil
}

// Stop ends the watching.
func (r *rest) Stop(context.Context) error {
	close(r.stop)
	return nil
}

// Rest drops what is kept in memory only to answer faster.
func (a *App) Rest() {
	a.Git.Rest()
	a.pools.Rest()
	a.Intake.Rest()
	debug.FreeOSMemory()
}
