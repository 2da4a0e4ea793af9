//go:build unix

package protocol

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lockName is the file in a working folder whose lock says that its process
// lives. The kernel drops the lock with the process, however it ends.
const lockName = ".lock"

// lockedDir makes a new folder under dir and locks it until release is called.
func lockedDir(dir, prefix string) (path string, release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	tmp, err := os.MkdirTemp(dir, prefix)
	if err != nil {
		return "", nil, err
	}
	f, err := os.OpenFile(filepath.Join(tmp, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		_ = os.RemoveAll(tmp)
		return "", nil, fmt.Errorf("lock %q: %w", tmp, err)
	}
	return tmp, func() { _ = f.Close() }, nil
}

// removeUnlocked removes the folders under dir whose names begin with prefix and
// that no living process has locked. One that is locked, or so new that its lock may be about to be taken,
// stays.
func removeUnlocked(dir, prefix string) error {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range list {
		if !d.IsDir() || !strings.HasPrefix(d.Name(), prefix) {
			continue
		}
		path := filepath.Join(dir, d.Name())
		f, err := os.Open(filepath.Join(path, lockName))
		if err != nil {
			if info, serr := d.Info(); serr == nil && time.Since(info.ModTime()) < time.Minute {
				continue
			}
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			continue
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			err = os.RemoveAll(path)
		} else if errors.Is(err, unix.EWOULDBLOCK) {
			err = nil
		}
		_ = f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// syncFileSystem flushes the file system that holds path: many small files at
// the price of one flush.
func syncFileSystem(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syncfs(f); err != nil {
		return fmt.Errorf("sync the file system of %q: %w", path, err)
	}
	return nil
}
