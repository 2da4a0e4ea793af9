package pulls

import (
	"context"
	"sync"
)

// lanes let those who change the same branch pass one after the other: each
// of their merges starts from the one before. Other processes are met by the
// comparison when the ref moves, and tried again.
type lanes struct {
	mu   sync.Mutex
	busy map[lane]*gate
}

type lane struct {
	repo   int64
	branch string
}

type gate struct {
	turn    chan struct{}
	waiting int
}

// enter waits for its turn; leave must be called when the error is nil.
func (l *lanes) enter(ctx context.Context, at lane) (leave func(), err error) {
	l.mu.Lock()
	if l.busy == nil {
		l.busy = map[lane]*gate{}
	}
	g := l.busy[at]
	if g == nil {
		g = &gate{turn: make(chan struct{}, 1)}
		l.busy[at] = g
	}
	g.waiting++
	l.mu.Unlock()
	done := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if g.waiting--; g.waiting == 0 {
			delete(l.busy, at)
		}
	}
	select {
	case g.turn <- struct{}{}:
		return func() { <-g.turn; done() }, nil
	case <-ctx.Done():
		done()
		return nil, ctx.Err()
	}
}
