package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) {
	if os.Getenv(armedServer) != "" {
		failPoint = strike
		main()
		return
	}
	dbtest.Main(m)
}

// killed is a server that is killed and started again.
type killed struct {
	testing.TB
	bin, data, url, addr, token string
	cmd                         *exec.Cmd
}

// newKilled makes a server of a database; url "" is one of its own. Its program
// is this test's own binary, see TestMain.
func newKilled(t testing.TB, url string) *killed {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close() //nolint:errcheck // only its port is wanted
	bin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &killed{TB: t, bin: bin, data: t.TempDir(), url: url, addr: ln.Addr().String()}
}

// environ makes the program of this binary; a file "armed" in the data folder
// arms it.
func (k *killed) environ() []string {
	return append(os.Environ(), armedServer+"="+filepath.Join(k.data, "armed"))
}

func (k *killed) where() []string {
	if k.url == "" {
		return []string{"--data", k.data}
	}
	return []string{"--data", k.data, "--database-url", k.url}
}

func (k *killed) run(args ...string) string {
	k.Helper()
	cmd := exec.CommandContext(k.Context(), k.bin, append(args, k.where()...)...)
	var errs bytes.Buffer
	cmd.Stderr, cmd.Env = &errs, k.environ()
	out, err := cmd.Output()
	if err != nil {
		k.Fatalf("gitfor %v: %v\n%s", args, err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

func (k *killed) start() {
	k.Helper()
	log, err := os.OpenFile(filepath.Join(k.data, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		k.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // the child has its own
	k.cmd = exec.CommandContext(context.WithoutCancel(k.Context()), k.bin, append(k.where(), "serve",
		"--listen", k.addr, "--ssh-listen", "off", "--outbound-allow", "127.0.0.1")...)
	k.cmd.Stdout, k.cmd.Stderr, k.cmd.Env = log, log, k.environ()
	if err := k.cmd.Start(); err != nil {
		k.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if res, err := http.Get("http://" + k.addr + "/readyz"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(filepath.Join(k.data, "log"))
			k.Fatalf("never ready:\n%s", text)
		}
	}
}

func (k *killed) kill() {
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait()
}

// api calls the server; an error where it was killed meanwhile.
func (k *killed) api(method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(k.Context(), method, "http://"+k.addr+"/api/v3"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+k.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode > 299 {
		err = fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	return err
}

// TestKilledServer kills the server while issues are opened. Afterwards every
// issue that was acknowledged is in the log exactly once, the log has no gap,
// a follower that went on through all of it saw each event once and in order,
// and the webhook got each, with a record that says so.
// GITFOR_KILLS sets how often it is killed.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	kills, err := strconv.Atoi(os.Getenv("GITFOR_KILLS"))
	if err != nil {
		kills = 3
	}
	k := newKilled(t, dbtest.NewURL(t))
	var mu sync.Mutex
	hooked := map[int64]int{}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var doc struct{ Data struct{ Number int64 } }
		if json.NewDecoder(r.Body).Decode(&doc) == nil {
			mu.Lock()
			hooked[doc.Data.Number]++
			mu.Unlock()
		}
	}))
	t.Cleanup(receiver.Close)
	k.run("admin", "user", "create", "ann", "--email", "ann@example.com")
	k.token = k.run("admin", "token", "create", "ann")
	k.start()
	t.Cleanup(func() { k.kill() })
	for path, in := range map[string]any{"/user/repos": map[string]any{"name": "box"}} {
		if err := k.api("POST", path, in, nil); err != nil {
			t.Fatal(err)
		}
	}
	hook := map[string]any{"events": []string{"issue.*"}, "config": map[string]any{"url": receiver.URL}}
	if err := k.api("POST", "/repos/ann/box/hooks", hook, nil); err != nil {
		t.Fatal(err)
	}
	// The follower starts behind the newest event.
	type event struct {
		ID   string
		Seq  int64
		Type string
		Data struct{ Number int64 }
	}
	var newest []event
	for len(newest) == 0 {
		if err := k.api("GET", "/repos/ann/box/event-log?per_page=1", nil, &newest); err != nil {
			t.Fatal(err)
		}
	}
	var acked sync.Map
	var opened, stop atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for stop.Load() == 0 {
				var issue struct{ Number int64 }
				if err := k.api("POST", "/repos/ann/box/issues", map[string]any{"title": "x"}, &issue); err == nil {
					acked.Store(issue.Number, true)
					opened.Add(1)
				} else {
					time.Sleep(5 * time.Millisecond)
				}
			}
		})
	}
	seen := map[int64]int{}
	var followed atomic.Int64
	quit := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		after, seq := newest[0].ID, newest[0].Seq
		for {
			var list []event
			if err := k.api("GET", "/repos/ann/box/event-log?wait=1&per_page=50&after="+after, nil, &list); err != nil {
				time.Sleep(5 * time.Millisecond)
			}
			for _, e := range list {
				if e.Seq <= seq {
					t.Errorf("seq %d comes after %d", e.Seq, seq)
				}
				after, seq = e.ID, e.Seq
				seen[e.Data.Number]++
				followed.Add(1)
			}
			select {
			case <-quit:
				if len(list) == 0 {
					return
				}
			default:
			}
		}
	}()
	for i := range kills {
		want := opened.Load() + 5 + int64(i*7%40)
		for end := time.Now().Add(time.Minute); opened.Load() < want; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("no issue is opened any more")
			}
		}
		k.kill()
		k.start()
	}
	stop.Store(1)
	wg.Wait()
	conn, err := pgx.Connect(t.Context(), k.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // the test is over
	count := func(sql string) (n int64) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(sql, err)
		}
		return n
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("never: %s", what)
			}
		}
	}
	// Attempts that were cut off come again when their lease ends: now.
	until("every delivery is done", func() bool {
		for _, sql := range []string{"UPDATE repo_1.deliveries SET next_at = now() WHERE next_at < now() + interval '2 minutes' AND created_at < now() - interval '5 seconds'",
			"UPDATE cell.alarms SET due_at = now() WHERE scope = 'repo_1' AND due_at > now()", "SELECT pg_notify('gitfor', 'alarm:')"} {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		return count("SELECT count(*) FROM events.incoming") == 0 &&
			count("SELECT count(*) FROM repo_1.deliveries WHERE state = 'done'") == count("SELECT count(*) FROM repo_1.issues")
	})
	close(quit)
	<-done
	issues := count("SELECT count(*) FROM repo_1.issues")
	log := count("SELECT count(*) FROM events.log WHERE type = 'issue.opened'")
	distinct := count("SELECT count(DISTINCT data->>'number') FROM events.log WHERE type = 'issue.opened'")
	gaps := count("SELECT max(seq) - count(*) FROM events.log")
	if log != issues || distinct != issues || gaps != 0 {
		t.Errorf("%d issues, %d events about %d of them, %d gaps", issues, log, distinct, gaps)
	}
	mu.Lock()
	defer mu.Unlock()
	acked.Range(func(n, _ any) bool {
		number, _ := n.(int64)
		if seen[number] != 1 {
			t.Errorf("the follower saw issue %d %d times", number, seen[number])
		}
		if hooked[number] == 0 {
			t.Errorf("the webhook never got issue %d", number)
		}
		return true
	})
	if dead := count("SELECT count(*) FROM jobs.river_job WHERE state = 'discarded'"); dead != 0 {
		t.Errorf("%d dead letters", dead)
	}
	t.Logf("%d issues through %d kills, %d followed", issues, kills, followed.Load())
}
