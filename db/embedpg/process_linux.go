package embedpg

import (
	"bytes"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const syncMethod = "syncfs"

// attributes are the ways to start Postgres, in the order to try them.
func attributes() []*syscall.SysProcAttr {
	// A group of its own keeps Ctrl-C from reaching it before gitfor ends
	// its requests; SIGINT at our death is its fast shutdown.
	base := syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
	if os.Geteuid() != 0 {
		return []*syscall.SysProcAttr{&base}
	}
	// In a user namespace where root is known as nobody the files stay root's
	// and no other user is needed.
	mapped := base
	mapped.Cloneflags = syscall.CLONE_NEWUSER
	mapped.UidMappings = []syscall.SysProcIDMap{{ContainerID: 65534, HostID: 0, Size: 1}}
	mapped.GidMappings = []syscall.SysProcIDMap{{ContainerID: 65534, HostID: 0, Size: 1}}
	all := []*syscall.SysProcAttr{&mapped}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr == nil && gidErr == nil {
			other := base
			other.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
			all = append(all, &other)
		}
	}
	return all
}

// isPostgres says whether process pid is a Postgres on the cluster dir.
func isPostgres(pid int, dir string) bool {
	proc := "/proc/" + strconv.Itoa(pid)
	cmdline, err := os.ReadFile(filepath.Join(proc, "cmdline"))
	if err != nil || !bytes.Contains(cmdline, []byte("postgres")) {
		return false
	}
	cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
	if err != nil {
		return bytes.Contains(cmdline, []byte(dir))
	}
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && cwd == real
}

// memoryMB is the machine's memory, or the container's share of it, in MB.
func memoryMB() int {
	total := 1024
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
				if kb, err := strconv.Atoi(f[1]); err == nil {
					total = kb / 1024
				}
			}
		}
	}
	if b, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil {
			total = min(total, int(n>>20))
		}
	}
	return total
}

func clearDeathSignal(a *syscall.SysProcAttr) { a.Pdeathsig = 0 }
