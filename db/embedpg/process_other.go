//go:build !linux

package embedpg

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

const syncMethod = "fsync"

// way is the one way to run Postgres: as this user. As root Postgres refuses.
type way struct{}

func ways(Config) []way { return []way{{}} }

func (way) attr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (w way) server() *syscall.SysProcAttr { return w.attr() }

func (way) give(string) error { return nil }

// processes are the Postgres processes of the cluster's folder, as far as its
// pid file tells: the postmaster.
func processes(dir string) []int {
	f, ok := readPidFile(dir)
	if !ok {
		return nil
	}
	out, err := exec.Command("ps", "-o", "comm=", "-p", strconv.Itoa(f.pid)).Output() //nolint:noctx // ps ends at once
	if err != nil || !strings.Contains(string(out), "postgres") {
		return nil
	}
	return []int{f.pid}
}
