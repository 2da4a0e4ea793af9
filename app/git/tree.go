package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Mode is a tree entry's mode as git stores it.
type Mode uint32

// The modes that trees hold today; old ones have others, see Kind.
const (
	ModeFile       Mode = 0o100644
	ModeExecutable Mode = 0o100755
	ModeSymlink    Mode = 0o120000
	ModeTree       Mode = 0o040000
	ModeSubmodule  Mode = 0o160000
)

// Kind is what a tree entry is.
type Kind int

// The kinds of tree entries.
const (
	KindFile Kind = iota
	KindExecutable
	KindSymlink
	KindTree
	KindSubmodule
)

// Kind is the kind that m stands for.
func (m Mode) Kind() Kind {
	switch m & 0o170000 {
	case 0o040000:
		return KindTree
	case 0o120000:
		return KindSymlink
	case 0o160000:
		return KindSubmodule
	}
	if m&0o100 != 0 {
		return KindExecutable
	}
	return KindFile
}

// String is six octal digits, as GitHub's API has them.
func (m Mode) String() string { return fmt.Sprintf("%06o", uint32(m)) }

// ParseMode reads octal digits.
func ParseMode(s string) (Mode, bool) {
	n, err := strconv.ParseUint(s, 8, 32)
	return Mode(n), err == nil
}

// TreeEntry is a file or folder in a tree. Name is raw bytes.
type TreeEntry struct {
	Name string
	Mode Mode
	OID  OID
}

// Kind is what the entry is.
func (e TreeEntry) Kind() Kind { return e.Mode.Kind() }

// IsTree reports whether the entry is a folder.
func (e TreeEntry) IsTree() bool { return e.Kind() == KindTree }

// IsSymlink reports whether the entry is a symbolic link.
func (e TreeEntry) IsSymlink() bool { return e.Kind() == KindSymlink }

// IsSubmodule reports whether the entry is a commit of another repository.
func (e TreeEntry) IsSubmodule() bool { return e.Kind() == KindSubmodule }

// Tree is the entries of the tree of this id, in git's order: by bytes, as if
// the names of folders ended in a slash.
func (r *Repository) Tree(ctx context.Context, oid OID) ([]TreeEntry, error) {
	if oid == r.EmptyTree() {
		return nil, nil
	}
	data, err := r.typed(ctx, oid, TypeTree, maxTreeSize)
	if err != nil {
		return nil, err
	}
	entries := make([]TreeEntry, 0, len(data)/40+1)
	text := string(data)
	err = eachTreeEntry(text, r.shared.format.rawLen(), func(e rawEntry) bool {
		entries = append(entries, TreeEntry{Name: e.name, Mode: e.mode, OID: oidFromRaw(e.hash)})
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", oid, err)
	}
	return entries, nil
}

// rawEntry is a tree entry whose strings lie in the tree's own text.
type rawEntry struct {
	mode Mode
	name string
	hash string
}

// eachTreeEntry calls visit for each entry until it says stop.
func eachTreeEntry(text string, hashLen int, visit func(rawEntry) (more bool)) error {
	for text != "" {
		space := strings.IndexByte(text, ' ')
		zero := strings.IndexByte(text, 0)
		if space <= 0 || zero < space || len(text) < zero+1+hashLen {
			return errors.New("tree is broken")
		}
		mode, ok := ParseMode(text[:space])
		if !ok {
			return errors.New("tree is broken")
		}
		e := rawEntry{mode: mode, name: text[space+1 : zero], hash: text[zero+1 : zero+1+hashLen]}
		if !visit(e) {
			return nil
		}
		text = text[zero+1+hashLen:]
	}
	return nil
}

// entryIn is the entry of this name in the tree.
func (r *Repository) entryIn(ctx context.Context, tree OID, name string) (TreeEntry, error) {
	if tree == r.EmptyTree() {
		return TreeEntry{}, ErrNotFound
	}
	data, err := r.typed(ctx, tree, TypeTree, maxTreeSize)
	if err != nil {
		return TreeEntry{}, err
	}
	e, ok, err := findEntry(data, r.shared.format.rawLen(), name)
	if err != nil {
		return TreeEntry{}, fmt.Errorf("tree %s: %w", tree, err)
	}
	if !ok {
		return TreeEntry{}, ErrNotFound
	}
	return TreeEntry{Name: name, Mode: e.mode, OID: oidFromRaw(e.hash)}, nil
}

// CleanPath is path without slashes at its ends; ok is false when it has empty,
// "." or ".." parts, or a zero byte, which no tree holds.
func CleanPath(path string) (clean string, ok bool) {
	clean = strings.Trim(path, "/")
	if clean == "" {
		return "", true
	}
	for part := range strings.SplitSeq(clean, "/") {
		if part == "" || part == "." || part == ".." || strings.IndexByte(part, 0) >= 0 {
			return "", false
		}
	}
	return clean, true
}

// EntryAt is the entry at path in the commit or tree rev; the empty path is the
// root itself. ErrNotFound when there is none.
func (r *Repository) EntryAt(ctx context.Context, rev OID, path string) (TreeEntry, error) {
	path, ok := CleanPath(path)
	if !ok {
		return TreeEntry{}, fmt.Errorf("path %q: %w", path, ErrNotFound)
	}
	tree, err := r.TreeOf(ctx, rev)
	if err != nil {
		return TreeEntry{}, err
	}
	at := TreeEntry{Mode: ModeTree, OID: tree}
	for rest := path; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		if !at.IsTree() {
			return TreeEntry{}, fmt.Errorf("path %q: %w", path, ErrNotFound)
		}
		if at, err = r.entryIn(ctx, at.OID, name); err != nil {
			return TreeEntry{}, fmt.Errorf("path %q: %w", path, err)
		}
	}
	return at, nil
}

// TreeOf is the root tree of a commit, of what a tag leads to, or a tree itself.
func (r *Repository) TreeOf(ctx context.Context, rev OID) (OID, error) {
	if rev == r.EmptyTree() {
		return rev, nil
	}
	for range 20 {
		o, err := r.Object(ctx, rev, maxTreeSize)
		if err != nil {
			return "", err
		}
		switch o.Type {
		case TypeTree:
			return rev, nil
		case TypeCommit:
			c, err := parseCommit(rev, string(o.Data))
			if err != nil {
				return "", err
			}
			return c.Tree, nil
		case TypeTag:
			t, err := parseTag(rev, string(o.Data))
			if err != nil {
				return "", err
			}
			rev = t.Object
		default:
			return "", fmt.Errorf("%s is a %s, not a tree: %w", rev, o.Type, ErrWrongType)
		}
	}
	return "", fmt.Errorf("%s: tags point to tags without end", rev)
}

// TreeAt is the entries of the folder at path in the commit or tree rev, and
// the folder's own entry. A file there is ErrWrongType.
func (r *Repository) TreeAt(ctx context.Context, rev OID, path string) ([]TreeEntry, TreeEntry, error) {
	self, err := r.EntryAt(ctx, rev, path)
	if err != nil {
		return nil, TreeEntry{}, err
	}
	if !self.IsTree() {
		return nil, self, fmt.Errorf("path %q is no folder: %w", path, ErrWrongType)
	}
	entries, err := r.Tree(ctx, self.OID)
	return entries, self, err
}

// BlobAt is the content of the file or symbolic link at path, of at most limit
// bytes (0 is none), and its entry. The entry is set for ErrTooLarge too.
func (r *Repository) BlobAt(ctx context.Context, rev OID, path string, limit int64) ([]byte, TreeEntry, error) {
	e, err := r.EntryAt(ctx, rev, path)
	if err != nil {
		return nil, TreeEntry{}, err
	}
	if e.IsTree() || e.IsSubmodule() {
		return nil, e, fmt.Errorf("path %q is no file: %w", path, ErrWrongType)
	}
	data, err := r.Blob(ctx, e.OID, limit)
	return data, e, err
}
