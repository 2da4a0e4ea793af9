package intake

import (
	"context"
	"errors"

	"github.com/gitfor/gitfor/app/git"
)

// Bounds of what is looked at for one push.
const (
	maxCommits  = 2_000
	maxFiles    = 100_000
	maxExcluded = 2_000
)

// newFile is a file that a commit brings: one that its first parent lacks, or
// has otherwise.
type newFile struct {
	commit git.OID
	path   string
	entry  git.TreeEntry
	size   int64
}

// finder collects new files; each blob counts once for each of its paths.
type finder struct {
	g     *git.Repository
	seen  map[string]bool
	files []newFile
	// commits is how many commits are new; first says that the repository had
	// no branch before, partly that there was more than is looked at.
	commits       int
	first, partly bool
}

// newFiles finds the files that moves bring, the oldest commit first. It starts
// no process.
func newFiles(ctx context.Context, g *git.Repository, moves []git.RefUpdate) (*finder, error) {
	f := &finder{g: g, seen: map[string]bool{}}
	var exclude []git.OID
	refs, err := g.Branches(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range refs[:min(len(refs), maxExcluded)] {
		exclude = append(exclude, r.OID)
	}
	f.first = len(refs) == 0
	for _, m := range moves {
		if m.New.IsZero() {
			continue
		}
		tip, err := commitOf(ctx, g, m.New)
		if err != nil {
			return nil, err
		}
		if tip == "" {
			continue
		}
		not := exclude
		if !m.Old.IsZero() {
			if old, err := commitOf(ctx, g, m.Old); err == nil && old != "" {
				not = append(append([]git.OID{}, exclude...), old)
			}
		}
		log, err := g.Log(ctx, tip, git.LogOptions{Exclude: not, Limit: maxCommits})
		if err != nil {
			return nil, err
		}
		for i := len(log) - 1; i >= 0; i-- {
			if err := f.commit(ctx, log[i]); err != nil {
				if errors.Is(err, git.ErrStop) {
					f.partly = true
					return f, nil
				}
				return nil, err
			}
		}
		f.commits += len(log)
		f.partly = f.partly || len(log) == maxCommits
		exclude = append(exclude, tip)
	}
	return f, nil
}

// commitOf is the commit that an object leads to, "" for none.
func commitOf(ctx context.Context, g *git.Repository, oid git.OID) (git.OID, error) {
	for range 10 {
		info, err := g.Info(ctx, oid)
		if err != nil {
			return "", err
		}
		switch info.Type {
		case git.TypeCommit:
			return oid, nil
		case git.TypeTag:
			tag, err := g.Tag(ctx, oid)
			if err != nil {
				return "", err
			}
			oid = tag.Object
		default:
			return "", nil
		}
	}
	return "", nil
}

func (f *finder) commit(ctx context.Context, c *git.Commit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	base := f.g.EmptyTree()
	if len(c.Parents) > 0 {
		parent, err := f.g.Commit(ctx, c.Parents[0])
		switch {
		case errors.Is(err, git.ErrNotFound): // the edge of a shallow clone
		case err != nil:
			return err
		default:
			base = parent.Tree
		}
	}
	return f.trees(ctx, c.OID, base, c.Tree, "")
}

// trees compares two folders and takes down what is new in the second.
func (f *finder) trees(ctx context.Context, commit, old, now git.OID, dir string) error {
	if old == now {
		return nil
	}
	was := map[string]git.TreeEntry{}
	if old != f.g.EmptyTree() {
		entries, err := f.g.Tree(ctx, old)
		if err != nil {
			return err
		}
		for _, e := range entries {
			was[e.Name] = e
		}
	}
	if now == f.g.EmptyTree() {
		return nil
	}
	entries, err := f.g.Tree(ctx, now)
	if err != nil {
		return err
	}
	for _, e := range entries {
		before, there := was[e.Name]
		if there && before.OID == e.OID {
			continue
		}
		name := dir + e.Name
		if e.IsTree() {
			base := f.g.EmptyTree()
			if there && before.IsTree() {
				base = before.OID
			}
			if err := f.trees(ctx, commit, base, e.OID, name+"/"); err != nil {
				return err
			}
			continue
		}
		key := string(e.OID) + name
		if f.seen[key] {
			continue
		}
		if len(f.files) >= maxFiles {
			return git.ErrStop
		}
		f.seen[key] = true
		f.files = append(f.files, newFile{commit: commit, path: name, entry: e})
	}
	return nil
}
