package protocol

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// PackCache lets equal fetches share one answer, and those that ask again
// within the time have it from disk. The process that makes it lives as long as
// one reader does; readers follow the file each at their own speed.
//
// Answers that are being made or read do not count towards the bound on bytes:
// Gate bounds how many are made at once.
//
// An answer stays right for as long as it is kept: the key holds the ids of all
// objects asked for. Only a purge of objects must call Forget.
type PackCache struct {
	dir      string
	max      int64
	age      time.Duration
	release  func()
	mu       sync.Mutex
	entries  map[fetchKey]*packEntry
	order    *list.List // of *packEntry that are finished; the front was used last
	bytes    int64
	sequence uint64
}

// packHead is how much of an answer lies in memory: small ones need no file.
const packHead = 64 << 10

// cachePrefix begins the names of the folders in which caches lie.
const cachePrefix = "packs-"

// errAbandoned ends the making of an answer that no one reads any more.
var errAbandoned = errors.New("the client went away")

// NewPackCache returns a cache that keeps up to maxBytes of answers for up to
// age, in a folder of its own under dir. What a former process left there is
// removed. Close removes the folder.
func NewPackCache(dir string, maxBytes int64, age time.Duration) (*PackCache, error) {
	if err := removeUnlocked(dir, cachePrefix); err != nil {
		return nil, err
	}
	own, release, err := lockedDir(dir, cachePrefix)
	if err != nil {
		return nil, err
	}
	return &PackCache{dir: own, max: maxBytes, age: age, release: release,
		entries: map[fetchKey]*packEntry{}, order: list.New()}, nil
}

// Close removes the folder. Readers that are under way keep their files.
func (c *PackCache) Close() error {
	defer c.release()
	return os.RemoveAll(c.dir)
}

// Forget drops all answers of the repository whose key is repo.
func (c *PackCache) Forget(repo string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		if e.repo == repo {
			c.drop(e)
		}
	}
}

// Stats says how many answers are kept and their bytes.
func (c *PackCache) Stats() (entries int, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries), c.bytes
}

// open returns the answer of key for one more reader, who must call leave. If
// there is none, produce is started to write it.
func (c *PackCache) open(ctx context.Context, repo string, key fetchKey, produce func(ctx context.Context, w io.Writer) error) *packEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		if e.element == nil || time.Since(e.finished) < c.age {
			e.readers++
			if e.element != nil {
				c.order.MoveToFront(e.element)
			}
			return e
		}
		c.drop(e)
	}
	c.sequence++
	// the first reader may go while others stay, so its context does not end
	// the work; the last reader's leaving does
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	e := &packEntry{cache: c, repo: repo, key: key, readers: 1, cancel: cancel, changed: make(chan struct{}),
		path: filepath.Join(c.dir, fmt.Sprintf("%d.pack", c.sequence))}
	c.entries[key] = e
	go func() {
		err := produce(work, e)
		cancel(nil)
		e.finish(err)
	}()
	return e
}

// drop forgets e; c.mu is held. Its readers keep the open file.
func (c *PackCache) drop(e *packEntry) {
	if c.entries[e.key] == e {
		delete(c.entries, e.key)
	}
	if e.element != nil {
		c.order.Remove(e.element)
		e.element = nil
		c.bytes -= e.weight
	}
	e.dropped = true
	if e.readers == 0 {
		e.remove()
	}
}

// keep takes a finished entry in and makes room.
func (c *PackCache) keep(e *packEntry, size int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.dropped {
		return
	}
	if err != nil || size > c.max {
		c.drop(e)
		return
	}
	e.finished, e.weight = time.Now(), size
	e.element = c.order.PushFront(e)
	c.bytes += size
	for c.bytes > c.max {
		c.drop(c.order.Back().Value.(*packEntry))
	}
	for b := c.order.Back(); b != nil && time.Since(b.Value.(*packEntry).finished) > c.age; b = c.order.Back() {
		c.drop(b.Value.(*packEntry))
	}
}
