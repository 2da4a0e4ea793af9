package git

import (
	"context"
	"fmt"
)

// Files is the paths of all files, links and submodules below a commit or
// tree, in git's order, and whether there are more than limit (0 is no limit).
func (r *Repository) Files(ctx context.Context, rev OID, limit int) (paths []string, more bool, err error) {
	tree, err := r.TreeOf(ctx, rev)
	if err != nil {
		return nil, false, err
	}
	err = r.WalkTree(ctx, tree, func(path string, e TreeEntry) error {
		if e.IsTree() {
			return nil
		}
		if limit > 0 && len(paths) == limit {
			more = true
			return ErrStop
		}
		paths = append(paths, path)
		return nil
	})
	return paths, more, err
}

// maxDepth bounds folders in folders.
const maxDepth = 1000

// WalkTree calls visit with everything below the tree, folders before what is
// in them. ErrStop from visit ends the walk without an error.
func (r *Repository) WalkTree(ctx context.Context, tree OID, visit func(path string, e TreeEntry) error) error {
	err := r.walkTree(ctx, tree, "", 0, visit)
	if err == ErrStop { //nolint:errorlint // visit's own word, not a wrapped one
		return nil
	}
	return err
}

func (r *Repository) walkTree(ctx context.Context, tree OID, prefix string, depth int, visit func(string, TreeEntry) error) error {
	if depth > maxDepth {
		return fmt.Errorf("tree %s: folders are nested too deep", tree)
	}
	entries, err := r.Tree(ctx, tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := prefix + e.Name
		if err := visit(path, e); err != nil {
			return err
		}
		if e.IsTree() {
			if err := r.walkTree(ctx, e.OID, path+"/", depth+1, visit); err != nil {
				return err
			}
		}
	}
	return nil
}
