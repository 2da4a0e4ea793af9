//go:build !linux

package embedpg

import "syscall"

const syncMethod = "fsync"

// attributes are the ways to start Postgres. As root there is none: gitfor is
// run as an ordinary user here.
func attributes() []*syscall.SysProcAttr {
	return []*syscall.SysProcAttr{{Setpgid: true}}
}

// isPostgres says whether process pid lives; the lock on the data folder makes
// sure that it is not another gitfor's.
func isPostgres(pid int, _ string) bool { return syscall.Kill(pid, 0) == nil }

// memoryMB is a modest guess of the machine's memory in MB.
func memoryMB() int { return 4096 }

func clearDeathSignal(*syscall.SysProcAttr) {}
