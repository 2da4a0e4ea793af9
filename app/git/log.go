package git

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// LogOptions choose commits of a history.
type LogOptions struct {
	// Exclude leaves out what these commits reach: Log(head, Exclude: base) is
	// "base..head".
	Exclude []OID
	// Path keeps commits that change this file or folder.
	Path string
	// Follow goes on beyond renames of the file at Path.
	Follow bool
	// Author keeps commits whose author's name or email holds this text, in
	// either case.
	Author string
	// Since and Until bound the committer's time; zero is no bound.
	Since, Until time.Time
	// FirstParent follows only the first parent of merges.
	FirstParent bool
	// NoMerges leaves out commits with several parents.
	NoMerges bool

	Skip int
	// Limit is how many to list; 0 is 30.
	Limit int
}

// defaultLimit is how many commits a page lists.
const defaultLimit = 30

// Log lists the history of the commit rev, the newest first, in git's order.
// Without a path it runs in this process.
func (r *Repository) Log(ctx context.Context, rev OID, opts LogOptions) ([]*Commit, error) {
	if opts.Limit <= 0 {
		opts.Limit = defaultLimit
	}
	var err error
	var hashes []string
	if opts.Path != "" {
		hashes, err = r.logPath(ctx, rev, opts)
	} else {
		hashes, err = r.logWalk(ctx, rev, opts)
	}
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", rev, err)
	}
	commits := make([]*Commit, len(hashes))
	for i, hash := range hashes {
		if commits[i], err = r.Commit(ctx, oidFromRaw(hash)); err != nil {
			return nil, fmt.Errorf("log of %s: %w", rev, err)
		}
	}
	return commits, nil
}

// Flags of nodes in a log's walk.
const (
	flagSeen    = 1 << iota
	flagExclude // reached by an excluded commit
)

// slop is how many more excluded commits are looked at when only such are
// left, for commits whose clocks ran ahead (git does the same).
const slop = 5

func (r *Repository) logWalk(ctx context.Context, rev OID, opts LogOptions) ([]string, error) {
	w := r.newWalk(ctx)
	start, err := w.node(rev.raw())
	if err != nil {
		return nil, err
	}
	start.flags |= flagSeen
	w.push(start)
	for _, oid := range opts.Exclude {
		n, err := w.node(oid.raw())
		if err != nil {
			return nil, err
		}
		n.flags |= flagSeen | flagExclude
		w.push(n)
	}
	if len(opts.Exclude) == 0 {
		return r.logStream(w, opts)
	}
	listed, err := w.limited(opts.FirstParent)
	if err != nil {
		return nil, err
	}
	var hashes []string
	for _, n := range listed {
		if n.flags&flagExclude != 0 {
			continue
		}
		more, err := r.take(n, &opts, &hashes)
		if err != nil || !more {
			return hashes, err
		}
	}
	return hashes, nil
}

// logStream lists while it walks: nothing is excluded.
func (r *Repository) logStream(w *walk, opts LogOptions) ([]string, error) {
	var hashes []string
	for n := w.pop(); n != nil; n = w.pop() {
		more, err := r.take(n, &opts, &hashes)
		if err != nil || !more {
			return hashes, err
		}
		for _, p := range followed(n, opts.FirstParent) {
			parent, err := w.node(p)
			if err != nil {
				return nil, err
			}
			if parent.flags&flagSeen == 0 {
				parent.flags |= flagSeen
				w.push(parent)
			}
		}
	}
	return hashes, nil
}

// limited is every commit that is not excluded, and some that are, the newest
// first. All that is excluded is known as such in the end.
func (w *walk) limited(firstParent bool) ([]*node, error) {
	var listed []*node
	wanted := 0 // queued and not excluded
	for _, n := range w.queue.nodes {
		if n.flags&flagExclude == 0 {
			wanted++
		}
	}
	spare := slop
	for n := w.pop(); n != nil; n = w.pop() {
		excluded := n.flags&flagExclude != 0
		parents := followed(n, firstParent)
		if excluded {
			parents = n.parents
		} else {
			wanted--
			listed = append(listed, n)
		}
		for _, p := range parents {
			parent, err := w.node(p)
			if err != nil {
				return nil, err
			}
			if excluded {
				wanted -= w.exclude(parent)
			} else if parent.flags&(flagSeen|flagExclude) == 0 {
				wanted++
			}
			if parent.flags&flagSeen == 0 {
				parent.flags |= flagSeen
				w.push(parent)
			}
		}
		if wanted > 0 {
			spare = slop
			continue
		}
		if len(listed) == 0 || n.date < listed[len(listed)-1].date {
			if spare--; spare <= 0 {
				break
			}
		}
	}
	return listed, nil
}

// exclude marks n, and what is known behind it, as excluded, and is how many
// of them wait in the queue. These mark what is behind them when their turn
// comes.
func (w *walk) exclude(n *node) (queued int) {
	if n.flags&flagExclude != 0 {
		return 0
	}
	n.flags |= flagExclude
	for stack := []*node{n}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n.queued {
			queued++
			continue
		}
		for _, p := range n.parents {
			if parent, ok := w.nodes[p]; ok && parent.flags&flagExclude == 0 {
				parent.flags |= flagExclude
				stack = append(stack, parent)
			}
		}
	}
	return queued
}

func followed(n *node, firstParent bool) []string {
	if firstParent && len(n.parents) > 1 {
		return n.parents[:1]
	}
	return n.parents
}

// take adds n when the options want it, and says whether more may follow.
func (r *Repository) take(n *node, opts *LogOptions, hashes *[]string) (more bool, err error) {
	if !opts.Until.IsZero() && n.date > opts.Until.Unix() {
		return true, nil
	}
	if !opts.Since.IsZero() && n.date < opts.Since.Unix() {
		return true, nil
	}
	if opts.NoMerges && len(n.parents) > 1 {
		return true, nil
	}
	if opts.Author != "" {
		typ, data, err := r.objects.Get(n.hash, maxCommitSize)
		if err != nil || typ != TypeCommit {
			return false, notFound(err)
		}
		c, err := parseCommit("", string(data))
		if err != nil {
			return false, err
		}
		text := strings.ToLower(c.AuthorName() + " <" + c.Author.Email + ">")
		if !strings.Contains(text, strings.ToLower(opts.Author)) {
			return true, nil
		}
	}
	if opts.Skip > 0 {
		opts.Skip--
		return true, nil
	}
	*hashes = append(*hashes, n.hash)
	return len(*hashes) < opts.Limit, nil
}

// logPath asks git, which has changed-path filters in its commit-graph.
func (r *Repository) logPath(ctx context.Context, rev OID, opts LogOptions) ([]string, error) {
	path, ok := CleanPath(opts.Path)
	if !ok {
		return nil, fmt.Errorf("path %q: %w", opts.Path, ErrNotFound)
	}
	options := []string{"--format=%H", "--no-color", "--no-patch", "-i", "--fixed-strings",
		"--skip=" + strconv.Itoa(opts.Skip), "--max-count=" + strconv.Itoa(opts.Limit)}
	if opts.Follow {
		options = append(options, "--follow")
	}
	if opts.FirstParent {
		options = append(options, "--first-parent")
	}
	if opts.NoMerges {
		options = append(options, "--no-merges")
	}
	if opts.Author != "" {
		options = append(options, "--author="+opts.Author)
	}
	if !opts.Since.IsZero() {
		options = append(options, "--since="+opts.Since.UTC().Format(time.RFC3339))
	}
	if !opts.Until.IsZero() {
		options = append(options, "--until="+opts.Until.UTC().Format(time.RFC3339))
	}
	revs := []string{string(rev)}
	for _, oid := range opts.Exclude {
		revs = append(revs, "^"+string(oid))
	}
	var hashes []string
	cmd := r.Command(ctx, "log", options...).Revs(revs...).Paths(path)
	err := cmd.Stream(func(out io.Reader) error {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			raw, err := hex.DecodeString(lines.Text())
			if err != nil || len(raw) != r.shared.format.rawLen() {
				continue // --follow may leave empty lines
			}
			hashes = append(hashes, string(raw))
		}
		return lines.Err()
	})
	return hashes, err
}
