package git

import (
	"context"
	"fmt"
	"math"
)

// Flags of nodes when two histories are compared.
const (
	flagLeft = 1 << (iota + 4)
	flagRight
	flagStale // behind a common ancestor
	flagResult
)

// MergeBase is the best common ancestor of two commits; with several the
// newest. It is empty when there is none.
func (r *Repository) MergeBase(ctx context.Context, a, b OID) (OID, error) {
	bases, err := r.MergeBases(ctx, a, b)
	if err != nil || len(bases) == 0 {
		return "", err
	}
	return bases[0], nil
}

// MergeBases is every best common ancestor, the newest first
// (git-merge-base(1) --all).
func (r *Repository) MergeBases(ctx context.Context, a, b OID) ([]OID, error) {
	if a == b {
		if _, err := r.Commit(ctx, a); err != nil {
			return nil, fmt.Errorf("merge base: %w", err)
		}
		return []OID{a}, nil
	}
	if bases, ok := r.answers.bases.Get(a + b); ok {
		return bases, nil
	}
	found, err := r.paint(ctx, a.raw(), b.raw())
	if err != nil {
		return nil, fmt.Errorf("merge base of %s and %s: %w", a.Short(), b.Short(), err)
	}
	if len(found) > 1 {
		if found, err = r.independent(ctx, found); err != nil {
			return nil, fmt.Errorf("merge base of %s and %s: %w", a.Short(), b.Short(), err)
		}
	}
	bases := make([]OID, len(found))
	for i, hash := range found {
		bases[i] = oidFromRaw(hash)
	}
	r.answers.bases.Add(a+b, bases)
	return bases, nil
}

// IsAncestor reports whether a is b or reachable from it.
func (r *Repository) IsAncestor(ctx context.Context, a, b OID) (bool, error) {
	bases, err := r.MergeBases(ctx, a, b)
	if err != nil {
		return false, err
	}
	for _, base := range bases {
		if base == a {
			return true, nil
		}
	}
	return false, nil
}

// paint walks from both commits until only common ancestors are left, and is
// the first of these, the newest first.
func (r *Repository) paint(ctx context.Context, a, b string) ([]string, error) {
	w := r.newWalk(ctx)
	w.queue.byGen = true
	live := 0 // queued and not stale
	for i, hash := range []string{a, b} {
		n, err := w.node(hash)
		if err != nil {
			return nil, err
		}
		n.flags |= []uint8{flagLeft, flagRight}[i]
		w.push(n)
		live++
	}
	var results []*node
	for live > 0 {
		n := w.pop()
		if n.flags&flagStale == 0 {
			live--
		}
		flags := n.flags & (flagLeft | flagRight | flagStale)
		if flags == flagLeft|flagRight {
			if n.flags&flagResult == 0 {
				n.flags |= flagResult
				results = append(results, n)
			}
			flags |= flagStale
		}
		for _, p := range n.parents {
			parent, err := w.node(p)
			if err != nil {
				return nil, err
			}
			if parent.flags&flags == flags {
				continue
			}
			if parent.queued && parent.flags&flagStale == 0 {
				live--
			}
			parent.flags |= flags
			w.push(parent)
			if parent.flags&flagStale == 0 {
				live++
			}
		}
	}
	var hashes []string
	for _, n := range results {
		if n.flags&flagStale == 0 {
			hashes = append(hashes, n.hash)
		}
	}
	return hashes, nil
}

// independent leaves out commits that others of the list reach.
func (r *Repository) independent(ctx context.Context, hashes []string) ([]string, error) {
	var kept []string
	for i, hash := range hashes {
		reached := false
		for j, other := range hashes {
			if i == j {
				continue
			}
			common, err := r.paint(ctx, hash, other)
			if err != nil {
				return nil, err
			}
			if len(common) == 1 && common[0] == hash {
				reached = true
				break
			}
		}
		if !reached {
			kept = append(kept, hash)
		}
	}
	return kept, nil
}

// Divergence is how many commits one branch has that another lacks.
type Divergence struct {
	Ahead, Behind int
}

// AheadBehind is, for each head, how many commits it has that base lacks, and
// the reverse. Answers are kept by the ids of both.
func (r *Repository) AheadBehind(ctx context.Context, base OID, heads ...OID) (map[OID]Divergence, error) {
	answers := make(map[OID]Divergence, len(heads))
	for _, head := range heads {
		if _, ok := answers[head]; ok {
			continue
		}
		key := base + head
		if d, ok := r.answers.divergences.Get(key); ok {
			answers[head] = d
			continue
		}
		d, err := r.diverge(ctx, base.raw(), head.raw())
		if err != nil {
			return nil, fmt.Errorf("compare %s with %s: %w", head.Short(), base.Short(), err)
		}
		r.answers.divergences.Add(key, d)
		answers[head] = d
	}
	return answers, nil
}

func (r *Repository) diverge(ctx context.Context, base, head string) (Divergence, error) {
	if base == head {
		return Divergence{}, nil
	}
	w := r.newWalk(ctx)
	w.queue.byGen = true
	const both = flagLeft | flagRight
	live := 0 // queued and on one side only
	for i, hash := range []string{base, head} {
		n, err := w.node(hash)
		if err != nil {
			return Divergence{}, err
		}
		n.flags |= []uint8{flagLeft, flagRight}[i]
		w.push(n)
		live++
	}
	oldest := int64(math.MaxInt64) // of the commits on one side only
	for next := w.peek(); next != nil; next = w.peek() {
		// Without generation numbers a clock that was wrong may hide that what
		// was seen on one side is on both; so go on until times leave no doubt.
		if live == 0 && (next.gen != noGeneration || next.date < oldest) {
			break
		}
		n := w.pop()
		if n.flags&both != both {
			live--
			oldest = min(oldest, n.date)
		}
		for _, p := range n.parents {
			parent, err := w.node(p)
			if err != nil {
				return Divergence{}, err
			}
			flags := n.flags & both
			if parent.flags&flags == flags {
				continue
			}
			if parent.queued && parent.flags&both != both {
				live--
			}
			parent.flags |= flags
			w.push(parent)
			if parent.flags&both != both {
				live++
			}
		}
	}
	w.spread(both)
	var d Divergence
	for _, n := range w.nodes {
		switch n.flags & both {
		case flagLeft:
			d.Behind++
		case flagRight:
			d.Ahead++
		}
	}
	return d, nil
}

// spread gives flags to all known ancestors of the nodes that have them.
func (w *walk) spread(flags uint8) {
	var stack []*node
	for _, n := range w.nodes {
		if n.flags&flags == flags {
			stack = append(stack, n)
		}
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, p := range n.parents {
			if parent, ok := w.nodes[p]; ok && parent.flags&flags != flags {
				parent.flags |= flags
				stack = append(stack, parent)
			}
		}
	}
}

// CommitCount is how many commits rev reaches, itself included. The answer is
// kept by its id.
func (r *Repository) CommitCount(ctx context.Context, rev OID) (int, error) {
	if n, ok := r.answers.counts.Get(rev); ok {
		return n, nil
	}
	n, err := r.countCommits(ctx, rev.raw())
	if err != nil {
		return 0, fmt.Errorf("count commits of %s: %w", rev.Short(), err)
	}
	r.answers.counts.Add(rev, n)
	return n, nil
}

// countCommits counts commits outside the commit-graph by their ids and those
// in it by position, which is many times quicker.
func (r *Repository) countCommits(ctx context.Context, start string) (int, error) {
	g := r.graph()
	seen := map[string]bool{start: true}
	var inGraph []uint32
	var reached []uint64
	if g != nil {
		reached = make([]uint64, (g.Len()+63)/64)
	}
	enter := func(pos uint32) {
		if reached[pos/64]&(1<<(pos%64)) == 0 {
			reached[pos/64] |= 1 << (pos % 64)
			inGraph = append(inGraph, pos)
		}
	}
	count := 0
	for stack := []string{start}; len(stack) > 0; {
		hash := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if g != nil {
			if pos, ok := g.Find(hash); ok {
				enter(pos)
				continue
			}
		}
		n, err := r.readNode(hash)
		if err != nil {
			return 0, err
		}
		if count++; count%1024 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		for _, p := range n.parents {
			if !seen[p] {
				seen[p] = true
				stack = append(stack, p)
			}
		}
	}
	var parents [8]uint32
	for len(inGraph) > 0 {
		pos := inGraph[len(inGraph)-1]
		inGraph = inGraph[:len(inGraph)-1]
		count++
		c, err := g.Commit(pos, parents[:0])
		if err != nil {
			return 0, err
		}
		for _, p := range c.Parents {
			enter(p)
		}
	}
	return count, nil
}
