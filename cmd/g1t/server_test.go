package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// world is both programs, as they are built, over a server of the test's own.
type world struct {
	*testing.T
	gitfor, g1t           string
	data, url, addr, home string
	server                *exec.Cmd
}

func newWorld(t *testing.T) *world {
	t.Helper()
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin+"/", "../gitfor", ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	w := &world{T: t, gitfor: filepath.Join(bin, "gitfor"), g1t: filepath.Join(bin, "g1t"), data: t.TempDir(), url: dbtest.NewURL(t),
		addr: ln.Addr().String(), home: t.TempDir()}
	w.start()
	t.Cleanup(w.kill)
	return w
}

func (w *world) host() string { return "http://localhost" + w.addr[strings.LastIndex(w.addr, ":"):] }

func (w *world) start() {
	w.Helper()
	log, err := os.OpenFile(filepath.Join(w.data, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // the child has its own
	w.server = exec.CommandContext(context.WithoutCancel(w.Context()), w.gitfor, "serve", "--data", w.data, "--database-url", w.url,
		"--listen", w.addr, "--url", w.host(), "--ssh-listen", "off")
	w.server.Stdout, w.server.Stderr = log, log
	if err := w.server.Start(); err != nil {
		w.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if res, err := http.Get(w.host() + "/readyz"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(filepath.Join(w.data, "log"))
			w.Fatalf("never ready:\n%s", text)
		}
	}
}

func (w *world) kill() {
	_ = w.server.Process.Kill()
	_ = w.server.Wait()
}

// admin runs a command of gitfor and returns what it prints.
func (w *world) admin(args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), w.gitfor, append(args, "--data", w.data, "--database-url", w.url)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		w.Fatalf("gitfor %v: %v\n%s", args, err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

// command is g1t in a folder, with a home of its own and no keyring.
func (w *world) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.Context(), w.g1t, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "G1T_CONFIG_DIR="+filepath.Join(w.home, "g1t"), "HOME="+w.home, "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent",
		"GIT_CONFIG_GLOBAL="+filepath.Join(w.home, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "G1T_HOST=", "G1T_TOKEN=",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com")
	return cmd
}

// result is what a run of g1t left.
type result struct {
	out, err string
	code     int
}

func (w *world) try(dir, input string, args ...string) result {
	w.Helper()
	cmd := w.command(dir, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		w.Fatal(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// run is try that must succeed; it returns what was printed.
func (w *world) run(dir string, args ...string) string {
	w.Helper()
	r := w.try(dir, "", args...)
	if r.code != 0 {
		w.Fatalf("g1t %v: exit %d\n%s%s", args, r.code, r.out, r.err)
	}
	return r.out
}

// git runs git in a folder.
func (w *world) git(dir string, args ...string) string {
	w.Helper()
	cmd := w.command(dir)
	cmd.Path, cmd.Args = "", append([]string{"git"}, args...)
	path, err := exec.LookPath("git")
	if err != nil {
		w.Fatal(err)
	}
	cmd.Path = path
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}
