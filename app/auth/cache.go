package auth

import (
	"sync"
	"time"
)

// keep is how long something may be answered from memory: a notice that it
// changed can be lost.
const keep = 30 * time.Second

// cache keeps values for keep at most. A value that was loaded while
// something was dropped is not kept, so a drop is final.
type cache[K comparable, V any] struct {
	mu      sync.Mutex
	entries map[K]entry[V]
	max     int
	drops   uint64
	now     func() time.Time
}

type entry[V any] struct {
	value V
	until time.Time
}

func newCache[K comparable, V any](limit int, now func() time.Time) *cache[K, V] {
	return &cache[K, V]{entries: map[K]entry[V]{}, max: limit, now: now}
}

// get returns the value of k, from memory or from load.
func (c *cache[K, V]) get(k K, load func() (V, error)) (V, error) {
	c.mu.Lock()
	e, ok := c.entries[k]
	drops := c.drops
	c.mu.Unlock()
	if ok && c.now().Before(e.until) {
		return e.value, nil
	}
	v, err := load()
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drops == drops {
		c.room()
		c.entries[k] = entry[V]{v, c.now().Add(keep)}
	}
	return v, nil
}

// room makes place for one more entry.
func (c *cache[K, V]) room() {
	if len(c.entries) < c.max {
		return
	}
	now := c.now()
	for k, e := range c.entries {
		if now.After(e.until) || len(c.entries) > c.max*9/10 {
			delete(c.entries, k)
		}
	}
}

func (c *cache[K, V]) drop(which func(k K, v V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops++
	for k, e := range c.entries {
		if which(k, e.value) {
			delete(c.entries, k)
		}
	}
}

func (c *cache[K, V]) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops++
	clear(c.entries)
}
