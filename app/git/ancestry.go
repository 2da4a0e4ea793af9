package git

import (
	"context"
	"fmt"
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
