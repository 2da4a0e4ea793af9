package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MergeResult is what merging two commits makes.
type MergeResult struct {
	// Tree is the merged tree; with conflicts its files hold git's marks.
	Tree OID
	// Conflicts are the files that need a person; none is a clean merge.
	Conflicts []Conflict
	// Messages are git's own words, such as "Auto-merging a.txt".
	Messages []string
}

// Clean reports whether nothing conflicts.
func (m *MergeResult) Clean() bool { return len(m.Conflicts) == 0 }

// Conflict is a file that both sides changed. A side without the file is zero.
type Conflict struct {
	Path               string
	Base, Ours, Theirs TreeEntry
}

// MergeOptions choose how MergeTree merges.
type MergeOptions struct {
	// Base, when set, is a commit or tree to merge against instead of the best
	// common ancestors: the parent of a commit that is picked, for instance.
	Base OID
	// AllowUnrelated merges histories without a common ancestor.
	AllowUnrelated bool
}

// ErrUnrelated says that two commits have no common ancestor.
var ErrUnrelated = errors.New("histories are unrelated")

// MergeTree merges the commits ours and theirs into a tree, without a checkout
// and without moving a ref (git-merge-tree(1)).
func (r *Repository) MergeTree(ctx context.Context, ours, theirs OID, opts MergeOptions) (*MergeResult, error) {
	if opts.Base != "" {
		var err error
		if ours, theirs, err = r.standIns(ctx, opts.Base, ours, theirs); err != nil {
			return nil, fmt.Errorf("merge: %w", err)
		}
	}
	options := []string{"--write-tree", "-z", "--messages"}
	if opts.AllowUnrelated {
		options = append(options, "--allow-unrelated-histories")
	}
	out, err := r.Command(ctx, "merge-tree", options...).Revs(string(ours), string(theirs)).Output()
	var ce *CommandError
	if errors.As(err, &ce) && ce.Code == 1 && len(out) > 0 {
		err = nil // conflicts are an answer
	}
	if err != nil {
		if ce != nil && strings.Contains(ce.Stderr, "unrelated histories") {
			return nil, fmt.Errorf("merge %s and %s: %w", ours.Short(), theirs.Short(), ErrUnrelated)
		}
		return nil, err
	}
	return parseMerge(string(out))
}

// standIns makes commits whose only ancestor is base. git before 2.40 has no
// other way to say against what to merge. They are never referred to.
func (r *Repository) standIns(ctx context.Context, base, ours, theirs OID) (OID, OID, error) {
	nobody := Person{Name: "merge", Email: "merge@localhost", When: time.Unix(0, 0).UTC()}
	write := func(rev OID, parents ...OID) (OID, error) {
		tree, err := r.TreeOf(ctx, rev)
		if err != nil {
			return "", err
		}
		if tree == r.EmptyTree() {
			if tree, err = r.WriteTree(ctx, nil); err != nil {
				return "", err
			}
		}
		return r.CommitTree(ctx, CommitSpec{Tree: tree, Parents: parents, Author: nobody, Committer: nobody})
	}
	common, err := write(base)
	if err != nil {
		return "", "", err
	}
	a, err := write(ours, common)
	if err != nil {
		return "", "", err
	}
	b, err := write(theirs, common)
	return a, b, err
}

// parseMerge reads the output of merge-tree -z.
func parseMerge(out string) (*MergeResult, error) {
	broken := errors.New("merge: output of git is not understood")
	id, rest, _ := strings.Cut(out, "\x00")
	tree, ok := ParseOID(id)
	if !ok {
		return nil, broken
	}
	m := &MergeResult{Tree: tree}
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\x00")
		if line == "" {
			break
		}
		head, path, ok := strings.Cut(line, "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 3 {
			return nil, broken
		}
		mode, okMode := ParseMode(fields[0])
		oid, okOID := ParseOID(fields[1])
		if !okMode || !okOID {
			return nil, broken
		}
		m.add(TreeEntry{Name: path, Mode: mode, OID: oid}, fields[2])
	}
	for rest != "" {
		var count string
		count, rest, _ = strings.Cut(rest, "\x00")
		n, err := strconv.Atoi(strings.TrimSpace(count))
		if err != nil || n < 0 {
			return nil, broken
		}
		for range n + 1 { // the paths, then the kind
			_, rest, _ = strings.Cut(rest, "\x00")
		}
		var text string
		text, rest, _ = strings.Cut(rest, "\x00")
		m.Messages = append(m.Messages, strings.TrimSpace(text))
	}
	return m, nil
}

func (m *MergeResult) add(e TreeEntry, stage string) {
	if n := len(m.Conflicts); n == 0 || m.Conflicts[n-1].Path != e.Name {
		m.Conflicts = append(m.Conflicts, Conflict{Path: e.Name})
	}
	c := &m.Conflicts[len(m.Conflicts)-1]
	switch stage {
	case "1":
		c.Base = e
	case "2":
		c.Ours = e
	case "3":
		c.Theirs = e
	}
}
