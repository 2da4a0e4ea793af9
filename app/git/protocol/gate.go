package protocol

import (
	"context"
	"sync"
	"time"
)

// Gate bounds how many packs are computed, or pushes taken in, at once: in all,
// for each repository and for each client. A zero bound is none. Who finds no
// room waits, and after Wait gets a BusyError.
type Gate struct {
	Total         int
	PerRepository int
	PerClient     int
	Wait          time.Duration

	mu      sync.Mutex
	total   int
	repos   map[string]int
	clients map[string]int
	freed   chan struct{} // closed and replaced at each release while someone waits
}

// BusyError says that there was no room in time. Its text is for the client.
type BusyError struct {
	What       string        // "server", "repository" or "client"
	RetryAfter time.Duration // when to try again
}

func (e *BusyError) Error() string {
	switch e.What {
	case "repository":
		return "too many clones, fetches and pushes of this repository are under way; try again in a moment"
	case "client":
		return "too many clones, fetches and pushes of yours are under way; try again when one has ended"
	}
	return "the server is busy with other clones, fetches and pushes; try again in a moment"
}

// Enter waits for room and takes it. The caller must call leave once.
func (g *Gate) Enter(ctx context.Context, repo, client string) (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	var timeout <-chan time.Time
	for {
		full, freed := g.try(repo, client)
		if full == "" {
			return sync.OnceFunc(func() { g.leave(repo, client) }), nil
		}
		if timeout == nil {
			timer := time.NewTimer(g.Wait)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-freed:
		case <-timeout:
			return nil, &BusyError{What: full, RetryAfter: max(g.Wait, 5*time.Second)}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// try takes room, or names what is full and returns a channel that is closed
// when something was freed.
func (g *Gate) try(repo, client string) (full string, freed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.PerClient > 0 && client != "" && g.clients[client] >= g.PerClient:
		full = "client"
	case g.PerRepository > 0 && g.repos[repo] >= g.PerRepository:
		full = "repository"
	case g.Total > 0 && g.total >= g.Total:
		full = "server"
	default:
		if g.repos == nil {
			g.repos, g.clients = map[string]int{}, map[string]int{}
		}
		g.total++
		g.repos[repo]++
		g.clients[client]++
		return "", nil
	}
	if g.freed == nil {
		g.freed = make(chan struct{})
	}
	return full, g.freed
}

func (g *Gate) leave(repo, client string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total--
	release(g.repos, repo)
	release(g.clients, client)
	if g.freed != nil {
		close(g.freed)
		g.freed = nil
	}
}

func release(m map[string]int, key string) {
	if m[key]--; m[key] <= 0 {
		delete(m, key)
	}
}
