package embedpg

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Lock is a data folder that belongs to this process until it ends.
type Lock struct{ file *os.File }

// Acquire takes the data folder for this process with an exclusive lock, which
// the kernel gives free when the process ends in whatever way. The error for a
// folder that another process has is one line that names it.
func Acquire(dir string) (*Lock, error) {
	path := filepath.Join(dir, "gitfor.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		who := ""
		if b, err := os.ReadFile(path); err == nil {
			if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
				who = fmt.Sprintf(" (pid %d)", pid)
			}
		}
		_ = f.Close()
		return nil, fmt.Errorf("data folder %s is in use by gitfor%s: stop it or give another --data", dir, who)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &Lock{f}, nil
}

// Release gives the folder free. A nil lock holds nothing.
func (l *Lock) Release() error {
	if l == nil {
		return nil
	}
	// Unlocked first: a child between its fork and exec shares the file.
	_ = syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN)
	return l.file.Close()
}
