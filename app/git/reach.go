package git

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/gitfor/gitfor/app/git/graph"
)

// reach is all commits that one reaches, itself included: those that the
// commit-graph knows by position, the others by id. A set of bits takes
// microseconds where walking from commit to commit takes milliseconds.
type reach struct {
	graph  *graph.Graph
	known  []uint64
	others map[string]bool
}

// CommitCount is how many commits rev reaches, itself included. The answer is
// kept by its id.
func (r *Repository) CommitCount(ctx context.Context, rev OID) (int, error) {
	if n, ok := r.answers.counts.Get(rev); ok {
		return n, nil
	}
	all, err := r.reached(ctx, rev.raw())
	if err != nil {
		return 0, fmt.Errorf("count commits of %s: %w", rev.Short(), err)
	}
	n := all.without(nil)
	r.answers.counts.Add(rev, n)
	return n, nil
}

// reached finds what the commit of this raw id reaches.
func (r *Repository) reached(ctx context.Context, start string) (*reach, error) {
	s := &reach{graph: r.graph(), others: map[string]bool{}}
	var queue []uint32
	if s.graph != nil {
		s.known = make([]uint64, (s.graph.Len()+63)/64)
	}
	for stack := []string{start}; len(stack) > 0; {
		hash := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if s.others[hash] {
			continue
		}
		if s.graph != nil {
			if pos, ok := s.graph.Find(hash); ok {
				queue = s.enter(pos, queue)
				continue
			}
		}
		n, err := r.readNode(hash)
		if err != nil {
			return nil, err
		}
		s.others[hash] = true
		if len(s.others)%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		stack = append(stack, n.parents...)
	}
	var parents [8]uint32
	for len(queue) > 0 {
		pos := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		c, err := s.graph.Commit(pos, parents[:0])
		if err != nil {
			return nil, err
		}
		for _, p := range c.Parents {
			queue = s.enter(p, queue)
		}
	}
	return s, nil
}

// enter adds a commit and queues it when it is new.
func (s *reach) enter(pos uint32, queue []uint32) []uint32 {
	if bit := uint64(1) << (pos % 64); s.known[pos/64]&bit == 0 {
		s.known[pos/64] |= bit
		queue = append(queue, pos)
	}
	return queue
}

// has reports whether the commit of this raw id is in the set.
func (s *reach) has(hash string) bool {
	if s.others[hash] {
		return true
	}
	if s.graph == nil {
		return false
	}
	pos, ok := s.graph.Find(hash)
	return ok && s.known[pos/64]&(1<<(pos%64)) != 0
}

// without is how many commits are in s and not in other, which may be nil.
func (s *reach) without(other *reach) int {
	count := 0
	for hash := range s.others {
		if other == nil || !other.has(hash) {
			count++
		}
	}
	if other == nil || other.graph == s.graph {
		for i, word := range s.known {
			if other != nil {
				word &^= other.known[i]
			}
			count += bits.OnesCount64(word)
		}
		return count
	}
	// git wrote another commit-graph in between
	for pos := range uint32(len(s.known) * 64) {
		if s.known[pos/64]&(1<<(pos%64)) != 0 && !other.has(s.graph.Hash(pos)) {
			count++
		}
	}
	return count
}
