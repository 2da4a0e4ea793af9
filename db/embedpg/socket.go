package embedpg

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func address(socket, database string) string {
	return "postgres://" + User + "@/" + database + "?host=" + url.QueryEscape(socket)
}

// maxSocketDir keeps the socket's path below the 104 bytes that macOS allows
// (Linux allows 108): the file's name and a lock's suffix are added.
const maxSocketDir = 80

// socketDir makes the private folder of the server's socket: beside the
// cluster, or, where that path is too long, a folder in /tmp named after it.
func socketDir(dir string) (string, error) {
	path := dir
	if parent, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		path = filepath.Join(parent, filepath.Base(dir))
	}
	beside := filepath.Join(filepath.Dir(path), "run")
	if len(beside) < maxSocketDir {
		return beside, private(beside)
	}
	sum := sha256.Sum256([]byte(path))
	short := filepath.Join("/tmp", fmt.Sprintf("gitfor-%d-%s", os.Getuid(), hex.EncodeToString(sum[:8])))
	return short, private(short)
}

// private makes a folder that only this user may enter, or checks that it is
// one: in /tmp another user could have made it first.
func private(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	// Root gives the folder to the user that Postgres runs as.
	mine := ok && (int(st.Uid) == os.Geteuid() || os.Geteuid() == 0)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !mine {
		return fmt.Errorf("%s is not a private folder of this user: remove it", dir)
	}
	return nil
}

// pidFile is what Postgres writes of itself into its folder while it runs
// (https://www.postgresql.org/docs/15/storage-file-layout.html).
type pidFile struct {
	pid    int
	socket string // folder
	port   string
}

func readPidFile(dir string) (pidFile, bool) {
	b, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	if err != nil {
		return pidFile{}, false
	}
	lines := strings.Split(string(b), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 1 {
		return pidFile{}, false
	}
	f := pidFile{pid: pid}
	if len(lines) > 4 {
		f.port, f.socket = strings.TrimSpace(lines[3]), strings.TrimSpace(lines[4])
	}
	return f, true
}

// Running returns the address of the gitfor database of a server that runs on
// the cluster folder dir, started by any process, when it takes connections.
func Running(dir string) (string, bool) {
	f, ok := readPidFile(dir)
	if !ok || f.socket == "" {
		return "", false
	}
	conn, err := net.DialTimeout("unix", filepath.Join(f.socket, ".s.PGSQL."+f.port), time.Second) //nolint:noctx // a socket of this machine answers at once
	if err != nil {
		return "", false
	}
	_ = conn.Close()
	return address(f.socket, Database), true
}
