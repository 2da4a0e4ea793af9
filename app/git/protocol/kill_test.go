package protocol_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gitfor/gitfor/app/git/protocol"
)

// The environment of a server that kills itself: the folder of its store, and
// the fail point.
const (
	killFolder = "PROTOCOL_TEST_FOLDER"
	killPoint  = "PROTOCOL_TEST_POINT"
)

func TestMain(m *testing.M) {
	if root := os.Getenv(killFolder); root != "" {
		if err := serveUntilKilled(root, os.Getenv(killPoint)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func serveUntilKilled(root, point string) error {
	s := &server{id: 7, runs: map[string]int{}}
	if err := s.open(root); err != nil {
		return err
	}
	s.receive.FailPoint = func(name string) {
		if name == point {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	record := func(name string) {
		_ = os.WriteFile(filepath.Join(root, name), nil, 0o600)
	}
	s.hooks = protocol.Hooks{
		Prepare: func(context.Context, *protocol.Push) error { record("intent"); return nil },
		Done: func(context.Context, *protocol.Push, []protocol.Result) ([]string, error) {
			record("event")
			return nil, nil
		},
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/r.git\n", l.Addr())
	return http.Serve(l, s.handler()) //nolint:gosec // a test that is killed
}

// TestKilledBetweenSteps kills the server at each fail point of a push. What
// was answered is there; what is there is whole; the next server cleans up and
// works.
func TestKilledBetweenSteps(t *testing.T) {
	t.Parallel()
	for i, point := range protocol.Points() {
		for _, few := range []string{"loose", "packed"} {
			t.Run(point+"/"+few, func(t *testing.T) {
				t.Parallel()
				s := newServer(t)
				c := s.client()
				c.work(s.url, 1)
				c.git("work", "push", "-q", "origin", "main")
				old := s.ref("refs/heads/main")
				n := 1
				if few == "packed" {
					n = 40
				}
				c.commits("work", n)
				url := startKilled(t, s.root, point)
				_, pushed := c.try("work", "push", "-q", url, "main")
				head, now := c.git("work", "rev-parse", "HEAD"), s.ref("refs/heads/main")
				moved := now == head
				if !moved && now != old {
					t.Fatalf("main is %s, which is neither before nor after", now)
				}
				if pushed == nil && !moved {
					t.Fatal("a push that was acknowledged is lost")
				}
				if want := i >= 3; moved != want {
					t.Fatalf("killed at %s: moved %v, want %v", point, moved, want)
				}
				if got, want := exists(s.root+"/intent"), i >= 1; got != want {
					t.Fatalf("killed at %s: intent %v, want %v", point, got, want)
				}
				if got, want := exists(s.root+"/event"), i >= 4; got != want {
					t.Fatalf("killed at %s: event %v, want %v", point, got, want)
				}
				c.git("", "--git-dir="+s.path(), "fsck", "--strict")
				must(t, s.receive.CleanQuarantine())
				if list, _ := os.ReadDir(s.receive.Quarantine); len(list) != 0 {
					t.Fatalf("%d folders are left in quarantine", len(list))
				}
				c.git("work", "push", "-q", "origin", "main")
				if s.ref("refs/heads/main") != head {
					t.Fatal("the push after the kill did not arrive")
				}
			})
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// startKilled starts a server on the same store that dies at point.
func startKilled(t *testing.T, root, point string) (url string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killFolder+"="+root, killPoint+"="+point)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	return strings.TrimSpace(line)
}

func TestCleanQuarantineSparesLivePushes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.client()
	c.work(s.url, 1)
	s.hooks.Check = func(context.Context, *protocol.Push) error {
		other := &protocol.ReceivePack{Quarantine: s.receive.Quarantine}
		return other.CleanQuarantine()
	}
	c.git("work", "push", "-q", "origin", "main")
	if s.ref("refs/heads/main") == "" {
		t.Fatal("the push did not arrive")
	}
}
