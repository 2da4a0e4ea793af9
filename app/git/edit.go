package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrPathConflict says that a path is a file where a folder is needed, or the reverse.
var ErrPathConflict = errors.New("path is taken by a folder or a file")

// maxPath is the longest path of a file, in bytes.
const maxPath = 4096

// Change is one change of a tree.
type Change struct {
	// Path is the file, in raw bytes.
	Path string
	// Delete removes the file or folder at Path.
	Delete bool
	// From moves the file or folder at From to Path first.
	From string
	// OID is the new content; empty with From keeps the old.
	OID OID
	// Mode is the new mode; 0 keeps the old one, or is ModeFile for a new file.
	Mode Mode
}

// EditTree is the tree base with the changes made in order. Folders come and
// go with their files. Missing paths are ErrNotFound, clashes ErrPathConflict.
func (r *Repository) EditTree(ctx context.Context, base OID, changes []Change) (OID, error) {
	root := &editTree{repo: r, oid: base}
	for _, c := range changes {
		if err := root.apply(ctx, c); err != nil {
			return "", fmt.Errorf("edit %q: %w", c.Path, err)
		}
	}
	return root.write(ctx)
}

// editTree is a folder that is read when it is touched and written when it
// was changed.
type editTree struct {
	repo    *Repository
	oid     OID // as stored; stale once dirty
	loaded  bool
	dirty   bool
	entries []TreeEntry
	open    map[string]*editTree
}

func (t *editTree) load(ctx context.Context) error {
	if t.loaded {
		return nil
	}
	t.open = make(map[string]*editTree)
	t.loaded = true
	if t.oid == "" {
		return nil
	}
	var err error
	t.entries, err = t.repo.Tree(ctx, t.oid)
	return err
}

func (t *editTree) apply(ctx context.Context, c Change) error {
	path, ok := CleanPath(c.Path)
	if !ok || path == "" || len(path) > maxPath {
		return errors.New("path is not valid")
	}
	for part := range strings.SplitSeq(path, "/") {
		if !validEntryName(part) {
			return errors.New("path is not valid")
		}
	}
	if c.Delete {
		_, err := t.remove(ctx, path)
		return err
	}
	e := TreeEntry{Mode: c.Mode, OID: c.OID}
	if c.From != "" {
		from, ok := CleanPath(c.From)
		if !ok || from == "" {
			return fmt.Errorf("%q: %w", c.From, ErrNotFound)
		}
		old, err := t.remove(ctx, from)
		if err != nil {
			return fmt.Errorf("%q: %w", c.From, err)
		}
		if e.OID == "" {
			e.OID = old.OID
		}
		if e.Mode == 0 {
			e.Mode = old.Mode
		}
	}
	if !e.OID.Valid() {
		return errors.New("no content is given")
	}
	return t.put(ctx, path, e)
}

func (t *editTree) find(name string) int {
	for i, e := range t.entries {
		if e.Name == name {
			return i
		}
	}
	return -1
}

// child is the folder of this name, made when it is missing and make is set.
func (t *editTree) child(ctx context.Context, name string, create bool) (*editTree, error) {
	if err := t.load(ctx); err != nil {
		return nil, err
	}
	if sub, ok := t.open[name]; ok {
		return sub, nil
	}
	sub := &editTree{repo: t.repo}
	if i := t.find(name); i >= 0 {
		if !t.entries[i].IsTree() {
			return nil, ErrPathConflict
		}
		sub.oid = t.entries[i].OID
	} else if create {
		t.entries = append(t.entries, TreeEntry{Name: name, Mode: ModeTree})
	} else {
		return nil, ErrNotFound
	}
	t.open[name] = sub
	return sub, nil
}

func (t *editTree) put(ctx context.Context, path string, e TreeEntry) error {
	if err := t.load(ctx); err != nil {
		return err
	}
	t.dirty = true
	name, rest, deeper := strings.Cut(path, "/")
	if deeper {
		sub, err := t.child(ctx, name, true)
		if err != nil {
			return err
		}
		return sub.put(ctx, rest, e)
	}
	e.Name = name
	i := t.find(name)
	if i < 0 {
		if e.Mode == 0 {
			e.Mode = ModeFile
		}
		t.entries = append(t.entries, e)
		return nil
	}
	if t.entries[i].IsTree() || e.IsTree() {
		return ErrPathConflict
	}
	if e.Mode == 0 {
		e.Mode = t.entries[i].Mode
	}
	t.entries[i] = e
	return nil
}

// remove takes the entry at path out and is what it was.
func (t *editTree) remove(ctx context.Context, path string) (TreeEntry, error) {
	if err := t.load(ctx); err != nil {
		return TreeEntry{}, err
	}
	name, rest, deeper := strings.Cut(path, "/")
	if deeper {
		sub, err := t.child(ctx, name, false)
		if errors.Is(err, ErrPathConflict) {
			err = ErrNotFound
		}
		if err != nil {
			return TreeEntry{}, err
		}
		e, err := sub.remove(ctx, rest)
		t.dirty = t.dirty || err == nil
		return e, err
	}
	i := t.find(name)
	if i < 0 {
		return TreeEntry{}, ErrNotFound
	}
	e := t.entries[i]
	if sub, ok := t.open[name]; ok && sub.dirty {
		// what was changed in it so far moves along
		oid, err := sub.write(ctx)
		if err != nil {
			return TreeEntry{}, err
		}
		e.OID = oid
	}
	delete(t.open, name)
	t.entries = append(t.entries[:i], t.entries[i+1:]...)
	t.dirty = true
	return e, nil
}

// write stores the folder, and those below that changed, and is its id.
func (t *editTree) write(ctx context.Context) (OID, error) {
	if !t.dirty {
		if t.oid == "" {
			return t.repo.WriteTree(ctx, nil)
		}
		return t.oid, nil
	}
	kept := t.entries[:0:0]
	for _, e := range t.entries {
		if sub, ok := t.open[e.Name]; ok && sub.dirty {
			oid, err := sub.write(ctx)
			if err != nil {
				return "", err
			}
			e.OID = oid
			if len(sub.entries) == 0 {
				continue // git has no empty folders
			}
		}
		kept = append(kept, e)
	}
	t.entries = kept
	return t.repo.WriteTree(ctx, kept)
}
