package git

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gitfor/gitfor/app/git/graph"
)

// graphCache keeps a repository's commit-graph open until git writes another.
type graphCache struct {
	mu    sync.Mutex
	known bool
	at    [2]stamp
	graph *graph.Graph
}

// graph is the commit-graph, or nil when there is none that can be read: it
// only ever makes things quicker.
func (r *Repository) graph() *graph.Graph {
	c := &r.shared.graphs
	c.mu.Lock()
	defer c.mu.Unlock()
	objects := filepath.Join(r.Path, "objects")
	now := time.Now()
	var at [2]stamp
	for i, name := range []string{"info/commit-graph", "info/commit-graphs/commit-graph-chain"} {
		at[i].seen = now
		if info, err := os.Stat(filepath.Join(objects, name)); err == nil {
			at[i] = stampOf(info, now)
		}
	}
	if c.known && c.at[0].same(at[0]) && c.at[1].same(at[1]) {
		return c.graph
	}
	g, err := graph.Open(objects, r.shared.format.rawLen())
	if err != nil {
		g = nil
	}
	c.known, c.at, c.graph = true, at, g
	return g
}
