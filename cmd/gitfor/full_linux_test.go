package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// small is the disk of TestFullDisk, with room for a new cluster and its log.
const small = "220m"

// mounted runs the server with its data folder on a small disk of its own,
// which only it sees; the folder's path for others is returned.
func (k *killed) mounted() string {
	k.Helper()
	args := []string{"--mount"}
	if os.Getuid() != 0 {
		args = append(args, "--user", "--map-root-user")
	}
	script := `mount -t tmpfs -o size=` + small + ` none "$1" || exit 77
"$2" admin user create ann --email ann@example.com --data "$1" >/dev/null && "$2" admin token create ann --data "$1" >"$1/token" &&
exec "$2" serve --data "$1" --listen "$3" --ssh-listen off`
	k.cmd = exec.CommandContext(context.WithoutCancel(k.Context()), "unshare", append(args, "sh", "-c", script, "sh", k.data, k.bin, k.addr)...)
	log, err := os.Create(filepath.Join(k.TempDir(), "log"))
	if err != nil {
		k.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // the child has its own
	k.cmd.Stdout, k.cmd.Stderr, k.cmd.Env = log, log, k.environ()
	if err := k.cmd.Start(); err != nil {
		k.Skip("no mount of its own: ", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- k.cmd.Wait() }()
	k.Cleanup(func() {
		_ = k.cmd.Process.Signal(syscall.SIGTERM)
		<-ended
	})
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if status, _ := k.ask("/readyz"); status == http.StatusOK {
			return fmt.Sprintf("/proc/%d/root%s", k.cmd.Process.Pid, k.data)
		}
		select {
		case err := <-ended:
			ended <- err
			var exit *exec.ExitError
			text, _ := os.ReadFile(log.Name())
			if errors.As(err, &exit) && (exit.ExitCode() == 77 || strings.Contains(string(text), "unshare:")) {
				k.Skip("this machine allows no mount here: ", string(text))
			}
			k.Fatalf("%v\n%s", err, text)
		default:
		}
	}
	k.Fatal("never ready")
	return ""
}

// A full disk is told to whoever meets it. Nothing acknowledged is lost, and the
// server goes on by itself when there is room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	k := newKilled(t, "")
	disk := k.mounted()
	token, err := os.ReadFile(filepath.Join(disk, "token"))
	if err != nil {
		t.Fatal(err)
	}
	k.token = strings.TrimSpace(string(token))
	if err := k.api("POST", "/user/repos", map[string]any{"name": "box"}, nil); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", work, "-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	commit := func(name string, size int) {
		t.Helper()
		data := make([]byte, size)
		_, _ = rand.Read(data)
		if err := os.WriteFile(filepath.Join(work, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"add", "-A"}, {"commit", "-qm", name}} {
			if out, err := git(args...); err != nil {
				t.Fatal(out)
			}
		}
	}
	for _, args := range [][]string{{"init", "-qb", "main"}, {"remote", "add", "origin", "http://ann:" + k.token + "@" + k.addr + "/ann/box.git"}} {
		if out, err := git(args...); err != nil {
			t.Fatal(out)
		}
	}
	commit("first", 1000)
	if out, err := git("push", "-q", "origin", "main"); err != nil {
		t.Fatal(out)
	}

	// What is written from now on does not fit; 2 MB stay for the database.
	ballast := filepath.Join(disk, "ballast")
	fill(t, disk, ballast, 2<<20)
	commit("second", 8<<20)
	if out, err := git("push", "-q", "origin", "main"); err == nil || !strings.Contains(out, "remote: the disk of the server is full") {
		t.Errorf("the push: %v\n%s", err, out)
	}
	fill(t, disk, ballast, 0)
	if status, text := k.ask("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(text, "storage") {
		t.Errorf("readyz: %d %s", status, text)
	}
	acked := 0
	body := strings.Repeat("text that takes room ", 3000)
	for range 400 {
		if err = k.api("POST", "/repos/ann/box/issues", map[string]any{"title": "x", "body": body}, nil); err != nil {
			break
		}
		acked++
	}
	if err == nil || !strings.Contains(err.Error(), ": 507 ") && !strings.Contains(err.Error(), ": 503 ") {
		t.Errorf("%d issues, then %v", acked, err)
	}

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	k.until("/readyz", http.StatusOK)
	if out, err := git("push", "-q", "origin", "main"); err != nil {
		t.Errorf("with room again: %s", out)
	}
	var last struct{ Number int }
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if err = k.api("POST", "/repos/ann/box/issues", map[string]any{"title": "room again"}, &last); err == nil || time.Now().After(end) {
			break
		}
	}
	if err != nil || last.Number <= acked {
		t.Errorf("issue %d after %d, %v", last.Number, acked, err)
	}
	for n := 1; n <= acked; n += max(1, acked/20) {
		if err := k.api("GET", fmt.Sprint("/repos/ann/box/issues/", n), nil, nil); err != nil {
			t.Error(err)
		}
	}
}

// fill writes a file until only so many bytes are free.
func fill(t *testing.T, disk, file string, leave int64) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // filled to the brim
	block := make([]byte, 256<<10)
	for {
		var st syscall.Statfs_t
		if err := syscall.Statfs(disk, &st); err != nil {
			t.Fatal(err)
		}
		room := int64(st.Bavail)*st.Bsize - leave
		if room <= 0 {
			return
		}
		if _, err := f.Write(block[:min(room, int64(len(block)))]); err != nil {
			return
		}
	}
}
