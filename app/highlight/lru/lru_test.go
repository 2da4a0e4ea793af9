package lru

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

func TestBoundedByBytes(t *testing.T) {
	t.Parallel()
	c := New[int, string](10 * (100 + overhead))
	for i := range 10 {
		c.Put(i, "v", 100)
	}
	if _, ok := c.Get(0); !ok {
		t.Fatal("a value left though there was room")
	}
	c.Put(10, "v", 100)
	if _, ok := c.Get(1); ok {
		t.Error("the least recently used value stayed")
	}
	if _, ok := c.Get(0); !ok {
		t.Error("a value used just now left")
	}
	c.Put(11, "huge", 1000)
	if _, ok := c.Get(11); ok {
		t.Error("a huge value was kept")
	}
	c.Put(0, "new", 50)
	if v, _ := c.Get(0); v != "new" {
		t.Errorf("value after replacing is %q", v)
	}
	if n, bytes := c.Len(); n != 10 || bytes != 9*(100+overhead)+50+overhead {
		t.Errorf("%d values, %d bytes", n, bytes)
	}
}

func TestDoComputesOnce(t *testing.T) {
	t.Parallel()
	c := New[string, int](1 << 20)
	var calls atomic.Int32
	entered, release := make(chan struct{}), make(chan struct{})
	compute := func() (int, int64, bool) {
		calls.Add(1)
		close(entered)
		<-release
		return 7, 8, true
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if v, err := c.Do(t.Context(), "k", compute); v != 7 || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
	})
	<-entered
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Do(ended, "k", compute); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gave up got %v", err)
	}
	for range 5 {
		wg.Go(func() {
			if v, err := c.Do(t.Context(), "k", compute); v != 7 || err != nil {
				t.Errorf("got %d, %v", v, err)
			}
		})
	}
	close(release)
	wg.Wait()
	if calls.Load() != 1 {
		t.Errorf("computed %d times", calls.Load())
	}
}

func TestDoDoesNotKeep(t *testing.T) {
	t.Parallel()
	c := New[string, int](1 << 20)
	for i := range 2 {
		v, err := c.Do(t.Context(), "k", func() (int, int64, bool) { return i, 1, false })
		if v != i || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
	}
}
