// Package lru keeps computed values in memory: bounded by bytes, the least
// recently used leave first, and a value that several callers want at once is
// computed once.
package lru

import (
	"container/list"
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"
)

// Cache is safe for concurrent use. Values must not be changed once in it.
type Cache[K comparable, V any] struct {
	max    int64
	flight singleflight.Group

	mu    sync.Mutex
	bytes int64
	order *list.List // of *entry, the most recently used first
	items map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// overhead is what an entry costs besides its value, roughly, in bytes.
const overhead = 200

// New returns a Cache that holds values of at most maxBytes together.
func New[K comparable, V any](maxBytes int64) *Cache[K, V] {
	return &Cache[K, V]{max: maxBytes, order: list.New(), items: map[K]*list.Element{}}
}

// Get returns the value of key, if it is there.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.items[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(el)
	return el.Value.(*entry[K, V]).value, true
}

// Put keeps the value of key, which takes size bytes. A value larger than an
// eighth of the cache is not kept: it would push out too much else.
func (c *Cache[K, V]) Put(key K, value V, size int64) {
	size += overhead
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.items[key]; ok {
		c.drop(el)
	}
	if size > c.max/8 {
		return
	}
	c.items[key] = c.order.PushFront(&entry[K, V]{key, value, size})
	c.bytes += size
	for c.bytes > c.max {
		c.drop(c.order.Back())
	}
}

func (c *Cache[K, V]) drop(el *list.Element) {
	e := c.order.Remove(el).(*entry[K, V])
	delete(c.items, e.key)
	c.bytes -= e.size
}

// Do returns the value of key, from memory or by calling compute, which also
// says the value's size in bytes and whether to keep it. Callers that want the
// same key meanwhile wait for the same call or until their ctx ends; so the
// call must not stop because one caller's ctx does.
func (c *Cache[K, V]) Do(ctx context.Context, key K, compute func() (value V, size int64, keep bool)) (V, error) {
	if v, ok := c.Get(key); ok {
		return v, nil
	}
	ch := c.flight.DoChan(fmt.Sprint(key), func() (any, error) {
		v, size, keep := compute()
		if keep {
			c.Put(key, v, size)
		}
		return v, nil
	})
	select {
	case res := <-ch:
		return res.Val.(V), res.Err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// Len returns how many values the cache holds and their size in bytes.
func (c *Cache[K, V]) Len() (n int, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.items), c.bytes
}
