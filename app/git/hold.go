package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// ErrWriting says that somebody is writing to the repository just now.
var ErrWriting = errors.New("repository is being written to")

// holdFile is the file whose lock writers share, and that whoever lets objects
// go takes alone. The kernel drops the lock with the process.
const holdFile = "writers"

// holdPoll is how often a writer looks whether objects are let go of still.
const holdPoll = 20 * time.Millisecond

// Hold keeps all objects that are there until release is called: from before a
// writer relies on one until a ref reaches it. Many may hold at once. It waits,
// until ctx ends, while objects are let go of, which is rare and brief.
func (r *Repository) Hold(ctx context.Context) (release func(), err error) {
	f, err := r.holdFile()
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("hold repository %d: %w", r.ID, err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(holdPoll):
		}
	}
}

// alone keeps writers out until release is called, or is ErrWriting.
func (r *Repository) alone() (release func(), err error) {
	f, err := r.holdFile()
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrWriting
		}
		return nil, fmt.Errorf("keep writers out of repository %d: %w", r.ID, err)
	}
	return func() { _ = f.Close() }, nil
}

func (r *Repository) holdFile() (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(r.Path, holdFile), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("hold repository %d: %w", r.ID, err)
	}
	return f, nil
}
