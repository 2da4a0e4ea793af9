package embedpg

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const syncMethod = "syncfs"

// way is one way to run Postgres's programs.
type way struct {
	namespace bool
	user      *syscall.Credential
	name      string
	caps      []uintptr
}

// See capabilities(7).
const (
	capDACOverride   = 1
	capDACReadSearch = 2
)

// ways are the ways to run Postgres, in the order to try them. It refuses to
// run as root. In a user namespace where root is known as nobody the files stay
// root's and no other user is needed; containers often forbid those. Another
// user owns the cluster's files then, and gets the capability to pass through
// folders above them where they are closed to it. (Postgres's programs must lie
// where that user may enter: they ask access(2), which ignores capabilities.)
func ways(cfg Config) []way {
	if os.Geteuid() != 0 {
		return []way{{}}
	}
	var all []way
	if !cfg.otherUser {
		all = append(all, way{namespace: true})
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr != nil || gidErr != nil {
			continue
		}
		cred := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return append(all, way{name: name, user: cred},
			way{name: name, user: cred, caps: []uintptr{capDACReadSearch}},
			way{name: name, user: cred, caps: []uintptr{capDACOverride}})
	}
	return all
}

// attr are the attributes of a program that ends by itself.
func (w way) attr() *syscall.SysProcAttr {
	// A group of its own keeps Ctrl-C from reaching it before gitfor has
	// ended its requests.
	a := &syscall.SysProcAttr{Setpgid: true, Credential: w.user, AmbientCaps: w.caps}
	if w.namespace {
		a.Cloneflags = syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 65534, HostID: 0, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 65534, HostID: 0, Size: 1}}
	}
	return a
}

// server are the attributes of the server: SIGINT, its fast shutdown, when the
// thread that started it ends, as at a kill of gitfor. See prctl(2).
func (w way) server() *syscall.SysProcAttr {
	a := w.attr()
	a.Pdeathsig = syscall.SIGINT
	return a
}

// give hands dir to the user of this way: a folder that was made in another
// way, on a machine that has changed since, belongs to another one.
func (w way) give(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid := 0, 0
	if w.user != nil {
		uid, gid = int(w.user.Uid), int(w.user.Gid)
		if err := w.enterable(filepath.Dir(dir)); err != nil && w.caps == nil {
			return err
		}
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == uid {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	})
}

// enterable lets other users pass through the data folder, without reading it,
// and checks that they can reach it.
func (w way) enterable(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		switch {
		case info.Mode().Perm()&0o001 != 0:
		case at == dir:
			if err := os.Chmod(at, info.Mode().Perm()|0o011); err != nil {
				return err
			}
		default:
			return fmt.Errorf("postgres does not run as root, and the user %s cannot enter %s", w.name, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// processes are the Postgres processes that work in the cluster's folder: the
// postmaster and its children all have it as their working folder.
func processes(dir string) []int {
	want, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		proc := filepath.Join("/proc", e.Name())
		cwd, err := os.Stat(filepath.Join(proc, "cwd"))
		if err != nil || !os.SameFile(cwd, want) {
			continue
		}
		if name, err := os.ReadFile(filepath.Join(proc, "comm")); err == nil && bytes.HasPrefix(name, []byte("postgres")) {
			pids = append(pids, pid)
		}
	}
	return pids
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
