package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// racy is how old a folder's time must be to tell of every later change: file
// systems stamp with the clock's last tick.
const racy = 100 * time.Millisecond

// directory is one objects folder.
type directory struct {
	path    string
	hashLen int
	cache   *Cache
	packs   atomic.Pointer[[]*pack]
	last    atomic.Pointer[pack] // where the last object was found

	mu      sync.Mutex // guards the fields below and scanning
	stamp   time.Time  // of the folder of packs at the last scan
	scanned time.Time
}

func newDirectory(path string, hashLen int, cache *Cache) *directory {
	d := &directory{path: path, hashLen: hashLen, cache: cache}
	d.packs.Store(&[]*pack{})
	return d
}

// rescan looks whether the folder of packs changed, and says whether packs
// were added.
func (d *directory) rescan() (added bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	info, err := os.Stat(filepath.Join(d.path, "pack"))
	if errors.Is(err, fs.ErrNotExist) {
		d.packs.Store(&[]*pack{})
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if info.ModTime().Equal(d.stamp) && d.scanned.Sub(d.stamp) > racy {
		return false, nil
	}
	found, err := d.list()
	if err != nil {
		return false, err
	}
	d.stamp, d.scanned = info.ModTime(), now
	old := *d.packs.Load()
	packs := make([]*pack, 0, len(found))
	for _, path := range found {
		if i := slices.IndexFunc(old, func(p *pack) bool { return p.path == path }); i >= 0 {
			packs = append(packs, old[i])
			continue
		}
		x, err := openIndex(path+".idx", d.hashLen)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone again
		}
		if err != nil {
			return false, err
		}
		packs = append(packs, &pack{path: path, index: x})
		added = true
	}
	d.packs.Store(&packs)
	for _, p := range old {
		if !slices.Contains(packs, p) {
			d.let(p)
		}
	}
	return added, nil
}

// let goes of a pack: nothing but readers at work refer to it then.
func (d *directory) let(p *pack) {
	d.last.CompareAndSwap(p, nil)
	d.cache.forget(p)
}

// list is the packs of the folder, the newest first, without ".pack".
func (d *directory) list() ([]string, error) {
	files, err := os.ReadDir(filepath.Join(d.path, "pack"))
	if err != nil {
		return nil, err
	}
	type dated struct {
		path string
		at   time.Time
	}
	var packs []dated
	for _, f := range files {
		if !isPackIndex(f.Name()) {
			continue
		}
		info, err := f.Info()
		if err != nil {
			continue // gone again
		}
		packs = append(packs, dated{filepath.Join(d.path, "pack", strings.TrimSuffix(f.Name(), ".idx")), info.ModTime()})
	}
	slices.SortFunc(packs, func(a, b dated) int { return b.at.Compare(a.at) })
	paths := make([]string, len(packs))
	for i, p := range packs {
		paths[i] = p.path
	}
	return paths, nil
}

// drop forgets a pack whose file is gone, so that the next scan looks anew.
func (d *directory) drop(gone *pack) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stamp = time.Time{}
	d.packs.Store(new(slices.DeleteFunc(slices.Clone(*d.packs.Load()), func(p *pack) bool { return p == gone })))
	d.let(gone)
}

// find is the pack that holds hash, and where; nil when none does.
func (d *directory) find(hash string) (*pack, int64, error) {
	last := d.last.Load()
	if last != nil {
		if n, ok, err := last.index.find(hash); err == nil && ok {
			offset, err := last.index.offset(n)
			return last, offset, err
		}
	}
	for _, p := range *d.packs.Load() {
		if p == last {
			continue
		}
		n, ok, err := p.index.find(hash)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			offset, err := p.index.offset(n)
			d.last.Store(p)
			return p, offset, err
		}
	}
	return nil, 0, nil
}

// alternates is the objects folders that this one borrows from.
func (d *directory) alternates() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(d.path, "info", "alternates"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '"' {
			return nil, fmt.Errorf("quoted path in %q", filepath.Join(d.path, "info", "alternates"))
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(d.path, line)
		}
		paths = append(paths, filepath.Clean(line))
	}
	return paths, nil
}
