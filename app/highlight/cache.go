package highlight

import (
	"context"
	"fmt"
	"path"
	"runtime"

	"github.com/gitfor/gitfor/app/highlight/lru"
)

// Cache keeps coloured files in memory. It is safe for concurrent use.
type Cache struct {
	files *lru.Cache[string, File]
	slots chan struct{}
}

// NewCache returns a Cache of at most maxBytes.
func NewCache(maxBytes int64) *Cache {
	return &Cache{
		files: lru.New[string, File](maxBytes),
		slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0))),
	}
}

// Lines returns the lines of the file of the given name and content, which
// blob identifies. Several callers that want the same file share the work, and
// no more files are coloured at once than there are processors.
func (c *Cache) Lines(ctx context.Context, blob, name string, src []byte) (File, error) {
	work := context.WithoutCancel(ctx) // others may wait for it
	f, err := c.files.Do(ctx, blob+"\x00"+path.Base(name), func() (File, int64, bool) {
		c.slots <- struct{}{}
		defer func() { <-c.slots }()
		f := Lines(work, name, src)
		return f, f.Bytes(), true
	})
	if err != nil {
		return File{}, fmt.Errorf("colour %q: %w", name, err)
	}
	return f, nil
}

// Get returns a file that is in memory, so that its content need not be read.
func (c *Cache) Get(blob, name string) (File, bool) {
	return c.files.Get(blob + "\x00" + path.Base(name))
}
