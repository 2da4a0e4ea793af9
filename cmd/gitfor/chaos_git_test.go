package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/git/protocol"
	"github.com/gitfor/gitfor/db/embedpg"
	"github.com/jackc/pgx/v5"
)

// armedServer is the variable that makes of this test's binary the program,
// with fail points; its value is the file that arms one: a point and the victim.
const armedServer = "GITFOR_TEST_ARMED"

// The victims of a kill.
const (
	victimServer   = "server"
	victimDatabase = "database"
)

// strike kills the armed victim when its point is reached.
func strike(step string) {
	file := os.Getenv(armedServer)
	text, err := os.ReadFile(file)
	point, victim, _ := strings.Cut(string(text), " ")
	if err != nil || point != step || os.Remove(file) != nil {
		return // not armed, or another push was faster
	}
	pid := os.Getpid()
	if victim == victimDatabase {
		if pid, err = postmaster(filepath.Dir(file)); err != nil {
			panic(err)
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	if victim == victimServer {
		select {}
	}
}

func postmaster(data string) (int, error) {
	text, err := os.ReadFile(filepath.Join(data, "postgres", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.SplitN(string(text), "\n", 2)[0])
}

// pusher pushes one commit after another to its branch, each until it is
// acknowledged.
type pusher struct {
	k            *killed
	dir, branch  string
	acknowledged []string
	repeated     int
}

func (p *pusher) git(args ...string) (string, error) {
	cmd := exec.CommandContext(p.k.Context(), "git", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("git %v: %w\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out)), err
}

// push makes a commit and pushes it.
func (p *pusher) push() error {
	n := len(p.acknowledged)
	if err := os.WriteFile(filepath.Join(p.dir, "file"), fmt.Appendf(nil, "%s %d\n", p.branch, n), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"add", "file"}, {"commit", "-q", "-m", strconv.Itoa(n)}} {
		if _, err := p.git(args...); err != nil {
			return err
		}
	}
	head, err := p.git("rev-parse", "HEAD")
	if err != nil {
		return err
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		_, err := p.git("push", "-q", "http://x:"+p.k.token+"@"+p.k.addr+"/ann/box.git", "HEAD:refs/heads/"+p.branch)
		if err == nil {
			p.acknowledged = append(p.acknowledged, head)
			return nil
		}
		if p.repeated++; time.Now().After(end) {
			return err
		}
	}
}

// TestKilledPushes kills the server, and every third time its database, at each
// step of a push while others are under way. Afterwards no acknowledged
// push is lost, no object is missing, and each push has exactly one event.
// GITFOR_KILLS is how often the server dies at each step, GITFOR_PUSHES how many pushes
// there are at least.
func TestKilledPushes(t *testing.T) {
	t.Parallel()
	number := func(name string, def int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return def
	}
	kills, pushes := number("GITFOR_KILLS", 1), number("GITFOR_PUSHES", 12)
	k := newKilled(t, "")
	armed := filepath.Join(k.data, "armed")
	k.signUp()
	k.start()
	t.Cleanup(func() { k.kill() })
	if err := k.api("POST", "/user/repos", map[string]any{"name": "box"}, nil); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var stop atomic.Bool
	var done atomic.Int64
	list := make([]*pusher, 3)
	for i := range list {
		p := &pusher{k: k, dir: t.TempDir(), branch: fmt.Sprintf("b%d", i)}
		if _, err := p.git("init", "-q"); err != nil {
			t.Fatal(err)
		}
		list[i] = p
		wg.Go(func() {
			for !stop.Load() {
				if err := p.push(); err != nil {
					t.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	await := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
			if time.Now().After(end) || t.Failed() {
				stop.Store(true)
				t.Fatalf("never: %s", what)
			}
		}
	}
	for round := range kills {
		for i, point := range protocol.Points() {
			victims := []string{victimServer}
			switch {
			case kills == 1 && i%3 == 2:
				victims = []string{victimDatabase}
			case kills > 1 && (round+i)%2 == 1:
				victims = append(victims, victimDatabase)
			}
			for _, victim := range victims {
				before := done.Load()
				if err := os.WriteFile(armed+".new", []byte(point+" "+victim), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(armed+".new", armed); err != nil {
					t.Fatal(err)
				}
				await("a push comes to "+point, func() bool { return !exists(armed) })
				if victim == victimServer {
					_ = k.cmd.Wait()
					k.start()
				}
				await("a push after the kill at "+point, func() bool { return done.Load() > before+1 })
			}
		}
	}
	await("enough pushes", func() bool { return done.Load() >= int64(pushes) })
	stop.Store(true)
	wg.Wait()
	// What the last kill left is settled when a server starts.
	k.kill()
	k.start()
	checkPushes(t, k, list)
}

// checkPushes compares what was acknowledged with the refs, the objects and
// the log.
func checkPushes(t *testing.T, k *killed, list []*pusher) {
	t.Helper()
	url, ok := embedpg.Running(filepath.Join(k.data, "postgres"))
	if !ok {
		t.Fatal("the database is not there")
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // the test is over
	left := -1
	for end := time.Now().Add(time.Minute); left != 0; time.Sleep(10 * time.Millisecond) {
		err := conn.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM cell.push_intents) + (SELECT count(*) FROM events.incoming)").Scan(&left)
		if err != nil || time.Now().After(end) {
			t.Fatalf("%d pushes and events are not settled: %v", left, err)
		}
	}
	rows, err := conn.Query(t.Context(), "SELECT data FROM events.log WHERE type = 'git.push' ORDER BY seq")
	if err != nil {
		t.Fatal(err)
	}
	events, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		t.Fatal(err)
	}
	told := map[string][]string{}
	for _, text := range events {
		var data struct {
			Refs []struct{ Ref, Before, After string }
		}
		if err := json.Unmarshal(text, &data); err != nil || len(data.Refs) != 1 {
			t.Fatalf("%s: %v", text, err)
		}
		told[data.Refs[0].Ref] = append(told[data.Refs[0].Ref], data.Refs[0].After)
	}
	all, repeated := 0, 0
	bare, err := filepath.Glob(filepath.Join(k.data, "git", "*", "1.git"))
	if err != nil || len(bare) != 1 {
		t.Fatalf("repositories %v, %v", bare, err)
	}
	for _, p := range list {
		if got := told["refs/heads/"+p.branch]; !slices.Equal(got, p.acknowledged) {
			t.Errorf("%s: %d pushes acknowledged, the log tells of %d:\n%v\n%v", p.branch, len(p.acknowledged), len(got), p.acknowledged, got)
		}
		head, err := p.git("--git-dir="+bare[0], "rev-parse", "refs/heads/"+p.branch)
		if err != nil || head != p.acknowledged[len(p.acknowledged)-1] {
			t.Errorf("%s is at %s, %v", p.branch, head, err)
		}
		all += len(p.acknowledged)
		repeated += p.repeated
	}
	if out, err := list[0].git("--git-dir="+bare[0], "fsck", "--strict", "--no-dangling"); err != nil {
		t.Errorf("fsck: %v\n%s", err, out)
	}
	t.Logf("%d pushes acknowledged, %d attempts cut off, %d events", all, repeated, len(events))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
