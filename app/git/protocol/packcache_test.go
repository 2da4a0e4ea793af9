package protocol

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func newTestCache(t *testing.T, most int64) *PackCache {
	t.Helper()
	c, err := NewPackCache(t.TempDir(), most, time.Hour)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func answer(b []byte) func(context.Context, io.Writer) error {
	return func(_ context.Context, w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(b))
		return err
	}
}

func never(t *testing.T) func(context.Context, io.Writer) error {
	return func(context.Context, io.Writer) error {
		t.Error("the answer was made again")
		return nil
	}
}

func read(t *testing.T, c *PackCache, key byte, make func(context.Context, io.Writer) error) []byte {
	t.Helper()
	e := c.open(t.Context(), "r", fetchKey{key}, make)
	defer e.leave()
	var out bytes.Buffer
	_, err := e.copyTo(t.Context(), &out, func(int64) {})
	must(t, err)
	return out.Bytes()
}

func TestPackCacheKeepsAndEvicts(t *testing.T) {
	t.Parallel()
	c := newTestCache(t, 500_000)
	big := bytes.Repeat([]byte("pack"), 50_000)
	for range 2 {
		if got := read(t, c, 1, answer(big)); !bytes.Equal(got, big) {
			t.Fatalf("%d bytes", len(got))
		}
	}
	waitKept(t, c, 1)
	read(t, c, 1, never(t))
	read(t, c, 2, answer(big))
	waitKept(t, c, 2)
	read(t, c, 1, never(t)) // used last, so 2 goes
	read(t, c, 3, answer(big))
	waitKept(t, c, 2)
	read(t, c, 1, never(t))
	read(t, c, 3, never(t))
	if _, n := c.Stats(); n > 500_000 {
		t.Fatalf("%d bytes are kept", n)
	}
	c.Forget("r")
	if n, bytes := c.Stats(); n != 0 || bytes != 0 {
		t.Fatalf("%d entries, %d bytes after Forget", n, bytes)
	}
	if list, _ := os.ReadDir(c.dir); len(list) != 1 { // the lock
		t.Fatalf("%d files are left", len(list))
	}
}

// waitKept waits until n finished answers are kept.
func waitKept(t *testing.T, c *PackCache, n int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		c.mu.Lock()
		k := c.order.Len()
		c.mu.Unlock()
		if k == n {
			return
		}
	}
	t.Fatalf("not %d answers", n)
}

func TestPackCacheSlowReaderHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	c := newTestCache(t, 1<<20)
	big := bytes.Repeat([]byte("pack"), 100_000)
	slow, fast := c.open(t.Context(), "r", fetchKey{1}, answer(big)), c.open(t.Context(), "r", fetchKey{1}, never(t))
	r, w := io.Pipe() // nobody reads yet
	done := make(chan error, 1)
	go func() {
		_, err := slow.copyTo(t.Context(), w, func(int64) {})
		slow.leave()
		_ = w.Close()
		done <- err
	}()
	var out bytes.Buffer
	_, err := fast.copyTo(t.Context(), &out, func(int64) {})
	must(t, err)
	fast.leave()
	c.Forget("r") // even now the slow one gets all
	got, err := io.ReadAll(r)
	must(t, err)
	must(t, <-done)
	if !bytes.Equal(got, big) || !bytes.Equal(out.Bytes(), big) {
		t.Fatalf("%d and %d bytes, want %d", len(got), out.Len(), len(big))
	}
}

func TestPackCacheEndsWorkWithoutReaders(t *testing.T) {
	t.Parallel()
	c := newTestCache(t, 1<<20)
	ended := make(chan error, 1)
	started := make(chan struct{})
	work := func(ctx context.Context, w io.Writer) error {
		_, _ = w.Write([]byte("begin"))
		close(started)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		_, err := w.Write(make([]byte, 2*packHead))
		if err == nil {
			t.Error("a write after the last reader left succeeded")
		}
		return err
	}
	first, cancel := context.WithCancel(t.Context())
	a := c.open(first, "r", fetchKey{1}, work)
	b := c.open(t.Context(), "r", fetchKey{1}, never(t))
	<-started
	cancel()
	_, err := a.copyTo(first, io.Discard, func(int64) {})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	a.leave()
	select {
	case err := <-ended:
		t.Fatalf("the work ended while a reader was left: %v", err)
	default:
	}
	b.leave()
	if err := <-ended; !errors.Is(err, errAbandoned) {
		t.Fatal(err)
	}
	if n, _ := c.Stats(); n != 0 {
		t.Fatalf("%d entries are left", n)
	}
}

func TestPackCacheFailureIsNotKept(t *testing.T) {
	t.Parallel()
	c := newTestCache(t, 1<<20)
	bad := errors.New("bad")
	e := c.open(t.Context(), "r", fetchKey{1}, func(context.Context, io.Writer) error { return bad })
	wrote, err := e.copyTo(t.Context(), io.Discard, func(int64) { t.Error("start was called") })
	e.leave()
	if wrote || !errors.Is(err, bad) {
		t.Fatalf("%v %v", wrote, err)
	}
	waitKept(t, c, 0)
	if got := read(t, c, 1, answer([]byte("good"))); string(got) != "good" {
		t.Fatalf("%q", got)
	}
}

func TestGateWaitsAndGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &Gate{Total: 3, PerRepository: 2, PerClient: 1, Wait: time.Second}
		a, err := g.Enter(t.Context(), "r", "a")
		must(t, err)
		b, err := g.Enter(t.Context(), "r", "b")
		must(t, err)
		var busy *BusyError
		if _, err := g.Enter(t.Context(), "s", "a"); !errors.As(err, &busy) || busy.What != "client" {
			t.Fatal(err)
		}
		if _, err := g.Enter(t.Context(), "r", "c"); !errors.As(err, &busy) || busy.What != "repository" || busy.RetryAfter <= 0 {
			t.Fatal(err)
		}
		c, err := g.Enter(t.Context(), "s", "c")
		must(t, err)
		if _, err := g.Enter(t.Context(), "t", "d"); !errors.As(err, &busy) || busy.What != "server" {
			t.Fatal(err)
		}
		got := make(chan error)
		go func() {
			leave, err := g.Enter(t.Context(), "r", "e")
			if err == nil {
				leave()
			}
			got <- err
		}()
		synctest.Wait()
		a()
		a() // a second time is nothing
		must(t, <-got)
		b()
		c()
		if g.total != 0 || len(g.repos) != 0 || len(g.clients) != 0 {
			t.Fatalf("left: %d %v %v", g.total, g.repos, g.clients)
		}
	})
}
