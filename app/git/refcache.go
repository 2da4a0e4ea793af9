package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
)

// racyTime is how old a folder's or file's time must be to tell of every later
// change: file systems stamp with the clock's last tick.
const racyTime = 100 * time.Millisecond

// refCache reads the refs of the "files" backend and keeps them as long as the
// times of their folders say that nothing changed. It needs no word from
// writers, so those in other processes are seen too.
type refCache struct {
	path string

	mu       sync.Mutex
	packed   []namedValue // by name
	packedAt stamp
	folders  map[string]*refFolder // by path below the repository
	lists    map[string]*refList   // by prefix
	changes  uint64                // counts what was read anew
	peeled   map[OID]OID
}

// refList is a merged listing, good while changes stays the same.
type refList struct {
	changes uint64
	refs    []Ref
}

type namedValue struct {
	name string
	refValue
}

// refFolder is one folder of loose refs.
type refFolder struct {
	at      stamp
	folders []string // names
	refs    []namedValue
}

// stamp tells one state of a file or folder from another.
type stamp struct {
	modified time.Time
	size     int64
	inode    uint64
	seen     time.Time
}

func stampOf(info os.FileInfo, seen time.Time) stamp {
	s := stamp{modified: info.ModTime(), seen: seen}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = sys.Ino
	}
	if !info.IsDir() {
		s.size = info.Size()
	}
	return s
}

// same reports whether nothing changed between s, the older, and now.
func (s stamp) same(now stamp) bool {
	return s.modified.Equal(now.modified) && s.size == now.size && s.inode == now.inode &&
		s.seen.Sub(s.modified) > racyTime
}

func newRefCache(path string) *refCache {
	return &refCache{path: path, folders: make(map[string]*refFolder),
		lists: make(map[string]*refList), peeled: make(map[OID]OID)}
}

// isNoFile holds for errors of opening something that is no file, or lies
// below one.
func isNoFile(err error) bool {
	return errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// packedRefs is the content of packed-refs.
func (c *refCache) packedRefs() ([]namedValue, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.packedLocked()
}

func (c *refCache) packedLocked() ([]namedValue, error) {
	path := filepath.Join(c.path, "packed-refs")
	now := time.Now()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if c.packed != nil {
			c.packed, c.packedAt = nil, stamp{}
			c.changes++
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if c.packedAt.same(stampOf(info, now)) {
		return c.packed, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	text.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := text.ReadFrom(f); err != nil {
		return nil, err
	}
	packed, err := parsePackedRefs(text.String())
	if err != nil {
		return nil, err
	}
	c.packed, c.packedAt = packed, stampOf(info, now)
	c.changes++
	return packed, nil
}

// parsePackedRefs reads the content of a packed-refs file.
func parsePackedRefs(text string) ([]namedValue, error) {
	refs := make([]namedValue, 0, strings.Count(text, "\n"))
	peeledAll, peeledTags := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "# pack-refs with:"):
			traits := strings.Fields(line[len("# pack-refs with:"):])
			peeledAll = slices.Contains(traits, "fully-peeled")
			peeledTags = peeledAll || slices.Contains(traits, "peeled")
		case line == "" || line[0] == '#':
		case line[0] == '^':
			oid, ok := ParseOID(line[1:])
			if !ok || len(refs) == 0 {
				return nil, fmt.Errorf("packed-refs line %q", line)
			}
			refs[len(refs)-1].peeled, refs[len(refs)-1].peelKnown = oid, true
		default:
			id, name, ok := strings.Cut(line, " ")
			oid, isOID := ParseOID(id)
			if !ok || !isOID || !strings.HasPrefix(name, "refs/") {
				return nil, fmt.Errorf("packed-refs line %q", line)
			}
			known := peeledAll || (peeledTags && strings.HasPrefix(name, TagPrefix))
			refs = append(refs, namedValue{name, refValue{oid: oid, peelKnown: known}})
		}
	}
	byName := func(a, b namedValue) int { return strings.Compare(a.name, b.name) }
	if !slices.IsSortedFunc(refs, byName) {
		slices.SortFunc(refs, byName)
	}
	return refs, nil
}

// list is every ref below prefix, loose ones over packed ones.
func (c *refCache) list(prefix string, peel func(OID) (OID, error)) ([]Ref, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Loose first: a ref that is being packed is then seen in one or the other.
	var loose []namedValue
	if err := c.collect(strings.TrimSuffix(prefix, "/"), &loose); err != nil {
		return nil, err
	}
	packed, err := c.packedLocked()
	if err != nil {
		return nil, err
	}
	if l, ok := c.lists[prefix]; ok && l.changes == c.changes {
		return l.refs, nil
	}
	refs := make([]Ref, 0, len(loose))
	i := sort.Search(len(packed), func(i int) bool { return packed[i].name >= prefix })
	slices.SortFunc(loose, func(a, b namedValue) int { return strings.Compare(a.name, b.name) })
	for _, l := range loose {
		for ; i < len(packed) && packed[i].name < l.name; i++ {
			refs = append(refs, c.finish(packed[i], peel))
		}
		if i < len(packed) && packed[i].name == l.name {
			i++
		}
		if ref := c.finish(l, peel); ref.OID != "" {
			refs = append(refs, ref)
		}
	}
	for ; i < len(packed) && strings.HasPrefix(packed[i].name, prefix); i++ {
		refs = append(refs, c.finish(packed[i], peel))
	}
	c.lists[prefix] = &refList{changes: c.changes, refs: refs}
	return refs, nil
}

// finish makes a Ref of what was read. A tag that cannot be peeled, and a
// symbolic ref that leads nowhere, stay as they are.
func (c *refCache) finish(v namedValue, peel func(OID) (OID, error)) Ref {
	ref := Ref{Name: v.name, OID: v.oid, Peeled: v.peeled, Target: v.target}
	for at, n := v, 0; at.target != "" && n < maxSymbolic; n++ {
		value, err := c.read(at.target)
		if errors.Is(err, ErrNotFound) {
			j := sort.Search(len(c.packed), func(j int) bool { return c.packed[j].name >= at.target })
			if j == len(c.packed) || c.packed[j].name != at.target {
				return ref
			}
			value, err = c.packed[j].refValue, nil
		}
		if err != nil {
			return ref
		}
		at = namedValue{at.target, value}
		ref.OID = value.oid
	}
	if !v.peelKnown && strings.HasPrefix(v.name, TagPrefix) && ref.OID != "" {
		ref.Peeled, _ = c.peelLocked(ref.OID, peel)
	}
	return ref
}

func (c *refCache) peel(oid OID, peel func(OID) (OID, error)) (OID, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peelLocked(oid, peel)
}

func (c *refCache) peelLocked(oid OID, peel func(OID) (OID, error)) (OID, error) {
	if peeled, ok := c.peeled[oid]; ok {
		return peeled, nil
	}
	peeled, err := peel(oid)
	if err != nil {
		return "", err
	}
	if len(c.peeled) > 20_000 {
		clear(c.peeled)
	}
	c.peeled[oid] = peeled
	return peeled, nil
}

// collect adds the loose refs below folder, reading only folders that changed.
func (c *refCache) collect(folder string, into *[]namedValue) error {
	now := time.Now()
	full := filepath.Join(c.path, folder)
	info, err := os.Stat(full)
	if errors.Is(err, fs.ErrNotExist) || isNoFile(err) {
		if _, ok := c.folders[folder]; ok {
			delete(c.folders, folder)
			c.changes++
		}
		return nil
	}
	if err != nil {
		return err
	}
	f, ok := c.folders[folder]
	at := stampOf(info, now)
	if !ok || !f.at.same(at) {
		fresh, err := c.readFolder(folder, at)
		if err != nil {
			return err
		}
		if fresh == nil {
			return nil
		}
		if !ok || !fresh.equal(f) {
			c.changes++
		}
		f = fresh
		c.folders[folder] = f
	}
	*into = append(*into, f.refs...)
	for _, name := range f.folders {
		if err := c.collect(folder+"/"+name, into); err != nil {
			return err
		}
	}
	return nil
}

func (f *refFolder) equal(other *refFolder) bool {
	return slices.Equal(f.folders, other.folders) && slices.Equal(f.refs, other.refs)
}

// readFolder reads one folder; nil when it is gone.
func (c *refCache) readFolder(folder string, at stamp) (*refFolder, error) {
	entries, err := os.ReadDir(filepath.Join(c.path, folder))
	if errors.Is(err, fs.ErrNotExist) || isNoFile(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := &refFolder{at: at}
	for _, e := range entries {
		name := folder + "/" + e.Name()
		if e.IsDir() {
			f.folders = append(f.folders, e.Name())
			continue
		}
		if !ValidRefName(name) {
			continue // a lock, or not git's
		}
		value, err := c.read(name)
		if errors.Is(err, ErrNotFound) || errors.Is(err, errBrokenRef) {
			continue // gone again, or cut short by a crash: the others still count
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		f.refs = append(f.refs, namedValue{name, value})
	}
	return f, nil
}
