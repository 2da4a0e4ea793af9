package jobs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// node is this process's name among those that work jobs: the same after a
// restart, and never two processes' at once. It is held by a lock on a file
// below the data folder, which the system drops when the process dies.
type node struct {
	id   string
	file *os.File
}

const maxNodes = 64

func claimNode(dataDir string) (*node, error) {
	dir := filepath.Join(dataDir, "nodes")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	where := sha256.Sum256([]byte(abs))
	for i := range maxNodes {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%s-%d.lock", host, i)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("jobs: %w", err)
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return &node{id: fmt.Sprintf("%.60s-%x-%d", host, where[:4], i), file: f}, nil
		}
		_ = f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("jobs: lock %s: %w", f.Name(), err)
		}
	}
	return nil, fmt.Errorf("jobs: %d processes run jobs from %s already", maxNodes, dir)
}

func (n *node) release() { _ = n.file.Close() }
