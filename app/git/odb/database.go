package odb

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// maxAlternates bounds how many folders objects are borrowed from.
const maxAlternates = 16

// retries is how often a read starts anew when a pack vanishes under it.
const retries = 4

// Database is the objects of one repository. It is safe for concurrent use
// and needs no closing: its files close when nobody can reach it any more.
//
// Ids are raw bytes held in strings. Answers may be shared with the cache and
// must not be changed.
type Database struct {
	path    string
	hashLen int
	cache   *Cache
	extra   []string // folders given at Open
	dirs    atomic.Pointer[[]*directory]
	altsAt  atomic.Int64
}

// Open is the database whose objects folder is path, with ids of hashLen bytes
// (20 or 32). It also reads from the folders in extra, as a quarantine reads
// from the repository that it is for.
func Open(path string, hashLen int, cache *Cache, extra ...string) (*Database, error) {
	db := &Database{path: path, hashLen: hashLen, cache: cache, extra: extra}
	if err := db.load(); err != nil {
		return nil, err
	}
	return db, nil
}

// load finds the folders and their packs.
func (db *Database) load() error {
	paths := append([]string{db.path}, db.extra...)
	var dirs []*directory
	var known []*directory
	if old := db.dirs.Load(); old != nil {
		known = *old
	}
	for i := 0; i < len(paths); i++ {
		if slices.ContainsFunc(dirs, func(d *directory) bool { return d.path == paths[i] }) {
			continue
		}
		if len(dirs) > maxAlternates {
			return fmt.Errorf("objects of %q: more than %d alternates", db.path, maxAlternates)
		}
		var d *directory
		if j := slices.IndexFunc(known, func(d *directory) bool { return d.path == paths[i] }); j >= 0 {
			d = known[j]
		} else {
			d = newDirectory(paths[i], db.hashLen, db.cache)
		}
		if _, err := d.rescan(); err != nil {
			return fmt.Errorf("objects of %q: %w", db.path, err)
		}
		more, err := d.alternates()
		if err != nil {
			return fmt.Errorf("objects of %q: %w", db.path, err)
		}
		dirs = append(dirs, d)
		paths = append(paths, more...)
	}
	db.altsAt.Store(db.alternatesStamp())
	db.dirs.Store(&dirs)
	return nil
}

func (db *Database) alternatesStamp() int64 {
	info, err := os.Stat(filepath.Join(db.path, "info", "alternates"))
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// Refresh takes up packs that were added and lets go of those removed. It
// costs two looks at the file system when nothing changed.
func (db *Database) Refresh() error {
	_, err := db.refresh()
	return err
}

func (db *Database) refresh() (added bool, err error) {
	if db.alternatesStamp() != db.altsAt.Load() {
		return true, db.load()
	}
	for _, d := range *db.dirs.Load() {
		more, err := d.rescan()
		if err != nil {
			return false, fmt.Errorf("objects of %q: %w", db.path, err)
		}
		added = added || more
	}
	return added, nil
}

// Forget drops what the cache holds of this database, so that its files can
// close once it is garbage.
func (db *Database) Forget() {
	for _, d := range *db.dirs.Load() {
		db.cache.forget(d)
		for _, p := range *d.packs.Load() {
			db.cache.forget(p)
		}
	}
}

// place is where an object lies: in a pack, or loose.
type place struct {
	dir    *directory
	pack   *pack
	offset int64
	loose  string // path
}

// locate finds hash, looking for new packs before it gives up.
func (db *Database) locate(hash string) (place, error) {
	if len(hash) != db.hashLen {
		return place{}, ErrNotFound
	}
	for try := range 2 {
		dirs := *db.dirs.Load()
		for _, d := range dirs {
			p, offset, err := d.find(hash)
			if err != nil {
				return place{}, err
			}
			if p != nil {
				return place{dir: d, pack: p, offset: offset}, nil
			}
		}
		for _, d := range dirs {
			path := d.loosePath(hash)
			if _, err := os.Lstat(path); err == nil {
				return place{dir: d, loose: path}, nil
			}
		}
		if try == 0 {
			if added, err := db.refresh(); err != nil || !added {
				return place{}, errors.Join(ErrNotFound, err)
			}
		}
	}
	return place{}, ErrNotFound
}

// at runs read where hash lies, again when the pack vanishes meanwhile.
func (db *Database) at(hash string, read func(place) error) error {
	var err error
	for range retries {
		var pl place
		if pl, err = db.locate(hash); err != nil {
			return fmt.Errorf("object %x: %w", hash, err)
		}
		err = read(pl)
		if !errors.Is(err, errVanished) {
			break
		}
		if pl.pack != nil {
			pl.dir.drop(pl.pack)
		}
		if rerr := db.Refresh(); rerr != nil {
			return rerr
		}
	}
	if errors.Is(err, errVanished) {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("object %x: %w", hash, err)
	}
	return nil
}

// Has reports whether the object is there.
func (db *Database) Has(hash string) (bool, error) {
	_, err := db.locate(hash)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Info is the object's type and size.
func (db *Database) Info(hash string) (info Info, err error) {
	err = db.at(hash, func(pl place) error {
		if pl.pack != nil {
			info, err = db.packedInfo(pl.pack, pl.offset)
			return err
		}
		f, err := openLoose(pl.loose)
		if err != nil {
			return err
		}
		defer f.Close()
		info = f.info
		return nil
	})
	return info, err
}

// Get is the whole object. One of more than limit bytes is ErrTooLarge, with
// the type set; limit 0 is none.
func (db *Database) Get(hash string, limit int64) (typ Type, data []byte, err error) {
	err = db.at(hash, func(pl place) error {
		if pl.pack != nil {
			typ, data, err = db.packed(pl.pack, pl.offset, limit)
		} else {
			typ, data, err = db.loose(pl, hash, limit)
		}
		return err
	})
	return typ, data, err
}

// Reader streams an object that is stored whole; ok is false for one that is
// stored as a delta, which Get must put together.
func (db *Database) Reader(hash string) (r io.ReadCloser, info Info, ok bool, err error) {
	err = db.at(hash, func(pl place) error {
		if pl.pack == nil {
			f, err := openLoose(pl.loose)
			if err != nil {
				return err
			}
			r, info, ok = f, f.info, true
			return nil
		}
		in := inflaters.Get().(*inflater)
		e, head, err := pl.pack.header(pl.offset, in.buf[:])
		if err != nil || e.typ == ofsDelta || e.typ == refDelta {
			in.release()
			return err
		}
		if err := in.reset(pl.pack.file, head, e.data+int64(len(head))); err != nil {
			in.release()
			return err
		}
		r, info, ok = &packedReader{in: in, left: e.size}, Info{e.typ, e.size}, true
		return nil
	})
	return r, info, ok, err
}

// packedReader reads a whole entry.
type packedReader struct {
	in   *inflater
	left int64
}

func (r *packedReader) Read(p []byte) (int, error) {
	if r.in == nil {
		return 0, fs.ErrClosed
	}
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.in.z.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	if err == io.EOF && r.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (r *packedReader) Close() error {
	if r.in != nil {
		r.in.release()
		r.in = nil
	}
	return nil
}

// ExpandAll is every id that begins with these hex digits, at least four. When
// there are more than limit it is ErrAmbiguous, when there is none ErrNotFound.
func (db *Database) ExpandAll(digits string, limit int) ([]string, error) {
	p, ok := parsePrefix(strings.ToLower(digits))
	if !ok || len(digits) > 2*db.hashLen {
		return nil, ErrNotFound
	}
	for try := range 2 {
		matches, err := db.prefixed(p, limit)
		if err != nil {
			return nil, err
		}
		if len(matches) > limit {
			return nil, ErrAmbiguous
		}
		if len(matches) > 0 {
			return matches, nil
		}
		if try == 0 {
			if added, err := db.refresh(); err != nil || !added {
				return nil, errors.Join(ErrNotFound, err)
			}
		}
	}
	return nil, ErrNotFound
}

// prefixed is the ids that p begins, once each, a few more than limit at most.
func (db *Database) prefixed(p prefix, limit int) ([]string, error) {
	var matches []string
	found := func(hash string) bool {
		if !slices.Contains(matches, hash) {
			matches = append(matches, hash)
		}
		return len(matches) <= limit
	}
	for _, d := range *db.dirs.Load() {
		for _, pk := range *d.packs.Load() {
			if err := pk.index.prefixed(p, found); err != nil {
				return nil, err
			}
		}
		if err := d.loosePrefixed(p, found); err != nil {
			return nil, err
		}
	}
	return matches, nil
}

func (d *directory) loosePath(hash string) string {
	name := hex.EncodeToString([]byte(hash))
	return d.path + "/" + name[:2] + "/" + name[2:]
}

func (d *directory) loosePrefixed(p prefix, found func(string) bool) error {
	first := hex.EncodeToString([]byte{p.first()})
	names, err := os.ReadDir(filepath.Join(d.path, first))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range names {
		raw, err := hex.DecodeString(first + f.Name())
		if err != nil || len(raw) != d.hashLen || !p.matches(string(raw)) {
			continue
		}
		if !found(string(raw)) {
			return nil
		}
	}
	return nil
}
