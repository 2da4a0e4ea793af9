package git

import (
	"context"
	"fmt"
	"math"
)

// Divergence is how many commits one branch has that another lacks.
type Divergence struct {
	Ahead, Behind int
}

// AheadBehind is, for each head, how many commits it has that base lacks, and
// the reverse. Answers are kept by the ids of both.
func (r *Repository) AheadBehind(ctx context.Context, base OID, heads ...OID) (map[OID]Divergence, error) {
	answers := make(map[OID]Divergence, len(heads))
	var ofBase *reach
	for _, head := range heads {
		if _, ok := answers[head]; ok {
			continue
		}
		key := base + head
		d, ok := r.answers.divergences.Get(key)
		if !ok {
			var err error
			if d, ofBase, err = r.compare(ctx, base, head, ofBase); err != nil {
				return nil, fmt.Errorf("compare %s with %s: %w", head.Short(), base.Short(), err)
			}
			r.answers.divergences.Add(key, d)
		}
		answers[head] = d
	}
	return answers, nil
}

// nearby is how many commits are looked at to compare two branches before all
// that they reach is compared instead, with the commit-graph's help. Most
// branches are close; for those that are not, sets are many times quicker.
const nearby = 4000

// compare compares two commits; ofBase is what base reaches, once it is known.
func (r *Repository) compare(ctx context.Context, base, head OID, ofBase *reach) (Divergence, *reach, error) {
	limit := 0
	if r.graph() != nil {
		limit = nearby
	}
	d, done, err := r.diverge(ctx, base.raw(), head.raw(), limit)
	if err != nil || done {
		return d, ofBase, err
	}
	if ofBase == nil {
		if ofBase, err = r.reached(ctx, base.raw()); err != nil {
			return Divergence{}, nil, err
		}
	}
	ofHead, err := r.reached(ctx, head.raw())
	if err != nil {
		return Divergence{}, ofBase, err
	}
	return Divergence{Ahead: ofHead.without(ofBase), Behind: ofBase.without(ofHead)}, ofBase, nil
}

// diverge walks from both commits until only common ones are left. It gives up
// when it has met limit commits, unless that is 0.
func (r *Repository) diverge(ctx context.Context, base, head string, limit int) (d Divergence, done bool, err error) {
	if base == head {
		return d, true, nil
	}
	w := r.newWalk(ctx)
	w.queue.byGen = true
	const both = flagLeft | flagRight
	live := 0 // queued and on one side only
	for i, hash := range []string{base, head} {
		n, err := w.node(hash)
		if err != nil {
			return d, false, err
		}
		n.flags |= []uint8{flagLeft, flagRight}[i]
		w.push(n)
		live++
	}
	oldest := int64(math.MaxInt64) // of the commits on one side only
	for next := w.peek(); next != nil; next = w.peek() {
		if limit > 0 && len(w.nodes) > limit {
			return d, false, nil
		}
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
				return d, false, err
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
	for _, n := range w.nodes {
		switch n.flags & both {
		case flagLeft:
			d.Behind++
		case flagRight:
			d.Ahead++
		}
	}
	return d, true, nil
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
