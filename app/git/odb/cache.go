package odb

import (
	"container/list"
	"sync"
)

// Cache keeps inflated objects, oldest use out first. One cache serves all the
// databases of a process; it is safe for concurrent use.
type Cache struct {
	mu      sync.Mutex
	limit   int64
	size    int64
	entries map[cacheKey]*list.Element
	order   *list.List // front is the newest use
	owned   map[any]map[*list.Element]bool
}

// cacheKey is a place in a pack, or an id in a directory of loose objects.
type cacheKey struct {
	owner  any
	offset int64
	hash   string
}

type cacheEntry struct {
	key  cacheKey
	typ  Type
	data []byte
}

// entryCost is what an entry takes beyond its data, in bytes, roughly.
const entryCost = 200

// NewCache is a cache of at most limit bytes.
func NewCache(limit int64) *Cache {
	return &Cache{limit: limit, entries: make(map[cacheKey]*list.Element), order: list.New(),
		owned: make(map[any]map[*list.Element]bool)}
}

// Clear empties the cache.
func (c *Cache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size = 0
	clear(c.entries)
	clear(c.owned)
	c.order.Init()
}

func (c *Cache) get(key cacheKey) (Type, []byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.entries[key]
	if !ok {
		return 0, nil, false
	}
	c.order.MoveToFront(el)
	e := el.Value.(*cacheEntry)
	return e.typ, e.data, true
}

// put keeps data, which nobody may change from now on. What would fill more
// than an eighth of the cache is not kept.
func (c *Cache) put(key cacheKey, typ Type, data []byte) {
	cost := int64(len(data)) + entryCost
	if cost > c.limit/8 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.entries[key]; ok {
		c.order.MoveToFront(el)
		return
	}
	el := c.order.PushFront(&cacheEntry{key: key, typ: typ, data: data})
	c.entries[key] = el
	if c.owned[key.owner] == nil {
		c.owned[key.owner] = make(map[*list.Element]bool)
	}
	c.owned[key.owner][el] = true
	c.size += cost
	for c.size > c.limit {
		c.drop(c.order.Back())
	}
}

func (c *Cache) drop(el *list.Element) {
	e := el.Value.(*cacheEntry)
	c.order.Remove(el)
	delete(c.entries, e.key)
	if owned := c.owned[e.key.owner]; len(owned) > 1 {
		delete(owned, el)
	} else {
		delete(c.owned, e.key.owner)
	}
	c.size -= int64(len(e.data)) + entryCost
}

// forget drops what owner put in, which also lets go of the owner's files.
func (c *Cache) forget(owner any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for el := range c.owned[owner] {
		c.drop(el)
	}
}
