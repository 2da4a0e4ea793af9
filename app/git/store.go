package git

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/gitfor/gitfor/app/git/odb"
)

// StoreOptions tune a Store; the zero value is good.
type StoreOptions struct {
	// CacheBytes bounds the memory for inflated objects; 0 is 32 MiB.
	CacheBytes int64
	// OpenRepositories bounds how many keep files open and refs in memory; 0
	// is 256.
	OpenRepositories int
	// Observe is told of each run of git, with its subcommand, when it ended.
	Observe func(ctx context.Context, subcommand string, d time.Duration)
}

// Store is the folder that holds all repositories, by number:
// root/<last two hex digits of the id>/<id>.git.
type Store struct {
	root    string
	home    string // an empty folder
	git     string // the program
	cache   *odb.Cache
	limit   int
	observe func(ctx context.Context, subcommand string, d time.Duration)

	mu    sync.Mutex
	open  map[int64]*list.Element
	order *list.List // of *shared, the newest use in front
}

// NewStore is the store at root, which it makes when it is missing. It fails
// when there is no git in PATH.
func NewStore(root string, opts StoreOptions) (*Store, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("git is not installed: %w", err)
	}
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	home := filepath.Join(root, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("git storage: %w", err)
	}
	if opts.CacheBytes <= 0 {
		opts.CacheBytes = 32 << 20
	}
	if opts.OpenRepositories <= 0 {
		opts.OpenRepositories = 256
	}
	return &Store{
		root: root, home: home, git: program,
		cache: odb.NewCache(opts.CacheBytes), limit: opts.OpenRepositories, observe: opts.Observe,
		open: make(map[int64]*list.Element), order: list.New(),
	}, nil
}

// Path is the folder of repository id, whether or not it exists.
func (s *Store) Path(id int64) string {
	return filepath.Join(s.root, fmt.Sprintf("%02x", uint8(id)), strconv.FormatInt(id, 10)+".git")
}

// Exists reports whether repository id has a folder.
func (s *Store) Exists(id int64) bool {
	_, err := os.Stat(filepath.Join(s.Path(id), "HEAD"))
	return err == nil
}

// Open is repository id, or ErrNoRepository. It is cheap: what was read
// before is kept, and checked against the files.
func (s *Store) Open(ctx context.Context, id int64) (*Repository, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sh, err := s.shared(id)
	if err != nil {
		return nil, err
	}
	if err := sh.objects.Refresh(); err != nil {
		return nil, fmt.Errorf("open repository %d: %w", id, err)
	}
	return &Repository{ID: id, Path: sh.path, store: s, shared: sh, objects: sh.objects, answers: sh.answers}, nil
}

// shared is what all users of a repository share; it is made when missing.
func (s *Store) shared(id int64) (*shared, error) {
	path := s.Path(id)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		s.forget(id)
		return nil, fmt.Errorf("repository %d: %w", id, ErrNoRepository)
	}
	if err != nil {
		return nil, fmt.Errorf("open repository %d: %w", id, err)
	}
	s.mu.Lock()
	if el, ok := s.open[id]; ok && os.SameFile(info, el.Value.(*shared).info) {
		s.order.MoveToFront(el)
		s.mu.Unlock()
		return el.Value.(*shared), nil
	}
	s.mu.Unlock()
	sh, err := newShared(id, path, info, s.cache)
	if err != nil {
		return nil, fmt.Errorf("open repository %d: %w", id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if el, ok := s.open[id]; ok {
		if os.SameFile(info, el.Value.(*shared).info) {
			return el.Value.(*shared), nil // someone else was faster
		}
		s.drop(el)
	}
	s.open[id] = s.order.PushFront(sh)
	for s.order.Len() > s.limit {
		s.drop(s.order.Back())
	}
	return sh, nil
}

func (s *Store) forget(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if el, ok := s.open[id]; ok {
		s.drop(el)
	}
}

// drop forgets an open repository; mu is held.
func (s *Store) drop(el *list.Element) {
	sh := s.order.Remove(el).(*shared)
	delete(s.open, sh.id)
	sh.objects.Forget()
}

// Rest closes all repositories and empties the cache of objects; what is asked
// for next is read from the disk.
func (s *Store) Rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.order.Len() > 0 {
		s.drop(s.order.Back())
	}
	s.cache.Clear()
}

// Remove deletes the folder of repository id; one that is not there is fine.
func (s *Store) Remove(id int64) error {
	s.forget(id)
	path := s.Path(id)
	// Out of sight at once, then bit by bit.
	gone, err := os.MkdirTemp(s.root, "removed-")
	if err != nil {
		return fmt.Errorf("remove repository %d: %w", id, err)
	}
	if err := os.Rename(path, filepath.Join(gone, "git")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		os.Remove(gone)
		return fmt.Errorf("remove repository %d: %w", id, err)
	}
	if err := os.RemoveAll(gone); err != nil {
		return fmt.Errorf("remove repository %d: %w", id, err)
	}
	return nil
}

// Sweep finishes removals that a crash interrupted. Nothing else may use the
// folder that Remove moves to, so one under way only finds it gone.
func (s *Store) Sweep() error {
	left, err := filepath.Glob(filepath.Join(s.root, "removed-*"))
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	for _, path := range left {
		// An empty one may be waiting for its rename.
		if info, err := os.Stat(path); err != nil || time.Since(info.ModTime()) < sweepAfter {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
	}
	return nil
}

// sweepAfter is how old a folder of a removal is when it counts as left over.
const sweepAfter = 10 * time.Minute
