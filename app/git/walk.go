package git

import (
	"container/heap"
	"context"
	"fmt"

	"github.com/gitfor/gitfor/app/git/graph"
)

// node is a commit in a walk, as the commit-graph or the commit itself says.
type node struct {
	hash    string // raw id
	parents []string
	date    int64  // the committer's, in seconds
	gen     uint64 // generation number; noGeneration when the graph lacks it
	pos     uint32 // in the commit-graph, where it has the commit
	flags   uint8
	order   int  // of being queued
	queued  bool // now in the queue
}

// noGeneration sorts commits that the commit-graph does not know before all
// others, as they are newer.
const noGeneration = ^uint64(0)

// walk visits commits from newer to older. It is used by one goroutine.
type walk struct {
	repo  *Repository
	ctx   context.Context
	nodes map[string]*node
	queue nodeQueue
	count int
	graph *graph.Graph // nil when there is none
}

func (r *Repository) newWalk(ctx context.Context) *walk {
	return &walk{repo: r, ctx: ctx, nodes: make(map[string]*node), graph: r.graph()}
}

// node is the commit of this raw id, read once per walk.
func (w *walk) node(hash string) (*node, error) {
	if n, ok := w.nodes[hash]; ok {
		return n, nil
	}
	if len(w.nodes)%256 == 0 {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
	}
	n, err := w.graphNode(hash)
	if n == nil && err == nil {
		n, err = w.repo.readNode(hash)
	}
	if err != nil {
		return nil, err
	}
	w.nodes[n.hash] = n
	return n, nil
}

// graphNode is what the commit-graph says; nil when it does not know.
func (w *walk) graphNode(hash string) (*node, error) {
	if w.graph == nil {
		return nil, nil
	}
	pos, ok := w.graph.Find(hash)
	if !ok {
		return nil, nil
	}
	var parents [8]uint32
	c, err := w.graph.Commit(pos, parents[:0])
	if err != nil {
		return nil, err
	}
	n := &node{hash: hash, date: c.Date, gen: c.Generation, pos: pos, parents: make([]string, len(c.Parents))}
	for i, p := range c.Parents {
		n.parents[i] = w.graph.Hash(p)
	}
	return n, nil
}

// readNode reads what a walk needs of a commit.
func (r *Repository) readNode(hash string) (*node, error) {
	typ, data, err := r.objects.Get(hash, maxCommitSize)
	if err != nil {
		return nil, notFound(err)
	}
	if typ != TypeCommit {
		return nil, fmt.Errorf("%x is a %s, not a commit: %w", hash, typ, ErrWrongType)
	}
	c, err := parseCommit(oidFromRaw(hash), string(data))
	if err != nil {
		return nil, err
	}
	n := &node{hash: hash, gen: noGeneration, parents: make([]string, len(c.Parents))}
	if !c.Committer.When.IsZero() {
		n.date = c.Committer.When.Unix()
	}
	for i, p := range c.Parents {
		n.parents[i] = p.raw()
	}
	return n, nil
}

// push queues n unless it waits there already.
func (w *walk) push(n *node) {
	if n.queued {
		return
	}
	n.queued = true
	n.order = w.count
	w.count++
	heap.Push(&w.queue, n)
}

// pop takes the newest; nil when none is left.
func (w *walk) pop() *node {
	if w.queue.Len() == 0 {
		return nil
	}
	n := heap.Pop(&w.queue).(*node)
	n.queued = false
	return n
}

// peek is what pop would take.
func (w *walk) peek() *node {
	if w.queue.Len() == 0 {
		return nil
	}
	return w.queue.nodes[0]
}

// nodeQueue is a heap of nodes: the newest first, by date, or by generation
// where byGen says so.
type nodeQueue struct {
	nodes []*node
	byGen bool
}

func (q *nodeQueue) Len() int { return len(q.nodes) }

func (q *nodeQueue) Less(i, j int) bool {
	a, b := q.nodes[i], q.nodes[j]
	if q.byGen && a.gen != b.gen {
		return a.gen > b.gen
	}
	if a.date != b.date {
		return a.date > b.date
	}
	return a.order < b.order
}

func (q *nodeQueue) Swap(i, j int) { q.nodes[i], q.nodes[j] = q.nodes[j], q.nodes[i] }

// Push is for package heap.
func (q *nodeQueue) Push(x any) { q.nodes = append(q.nodes, x.(*node)) }

// Pop is for package heap.
func (q *nodeQueue) Pop() any {
	last := len(q.nodes) - 1
	n := q.nodes[last]
	q.nodes[last] = nil
	q.nodes = q.nodes[:last]
	return n
}
