package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPrograms drives g1t against a server: signing in, repositories, issues,
// pull requests, the API, and the log through a restart of the server.
func TestPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.admin("admin", "user", "create", "ann", "--email", "ann@example.com")
	token := w.admin("admin", "token", "create", "ann")
	dir := t.TempDir()

	if r := w.try(dir, "", "issue", "list", "--host", w.host()); r.code != exitAuth || !strings.Contains(r.err, "g1t auth login") {
		t.Errorf("not signed in: %+v", r)
	}
	if r := w.try(dir, "g1t_pat_wrong\n", "auth", "login", "--host", w.host(), "--with-token"); r.code != exitAuth {
		t.Errorf("a wrong token: %+v", r)
	}
	if r := w.try(dir, token+"\n", "auth", "login", "--host", w.host(), "--with-token"); r.code != 0 || !strings.Contains(r.err, "as ann") {
		t.Fatalf("login: %+v", r)
	}
	file := filepath.Join(w.home, "g1t", "hosts.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file with the token: %v %v", info, err)
	}
	if out := w.run(dir, "auth", "status"); !strings.Contains(out, "\tann\tworks\tdefault") {
		t.Errorf("status: %q", out)
	}

	t.Run("repo", func(t *testing.T) { w.repos(t, dir) })
	clone := filepath.Join(dir, "box")
	t.Run("issue", func(t *testing.T) { w.issues(t, clone) })
	t.Run("pr", func(t *testing.T) { w.pulls(t, clone) })
	t.Run("api", func(t *testing.T) { w.api(t, clone) })
	t.Run("events", func(t *testing.T) { w.follow(t, clone) })

	w.run(dir, "auth", "logout")
	if b, err := os.ReadFile(file); err != nil || strings.Contains(string(b), token) {
		t.Errorf("after signing out: %v %s", err, b)
	}
	if r := w.try(dir, "", "frobnicate"); r.code != exitUsage && r.code != exitFailed {
		t.Errorf("no such command: %+v", r)
	}
	if r := w.try(dir, "", "issue", "view"); r.code != exitUsage {
		t.Errorf("no number: %+v", r)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if out := w.run(dir, "completion", shell); !strings.Contains(out, "g1t") {
			t.Errorf("completion for %s: %q", shell, out)
		}
	}
}

func (w *world) repos(t *testing.T, dir string) {
	t.Helper()
	if out := w.run(dir, "repo", "create", "box", "--readme", "--clone", "-d", "A\tbox"); out != w.host()+"/ann/box\n" {
		t.Errorf("create: %q", out)
	}
	w.run(dir, "repo", "create", "open", "--public")
	if _, err := os.Stat(filepath.Join(dir, "box", "README.md")); err != nil {
		t.Fatal("not cloned:", err)
	}
	list := w.run(dir, "repo", "list")
	if !strings.Contains(list, "ann/box\tA box\tprivate\t") || !strings.Contains(list, "ann/open\t\tpublic\t") || strings.Count(list, "\n") != 2 {
		t.Errorf("list: %q", list)
	}
	if out := w.run(dir, "repo", "clone", "ann/box", "other", "--", "--depth", "1"); out != "" {
		t.Errorf("clone prints %q", out)
	}
	if out := w.run(dir, "repo", "view", "box"); !strings.Contains(out, "name\tann/box\n") || !strings.Contains(out, "branch\tmain\n") {
		t.Errorf("view: %q", out)
	}
	if out := w.run(dir, "repo", "view", "box", "--json=full_name,private"); strings.TrimSpace(out) != `{"full_name":"ann/box","private":true}` {
		t.Errorf("view as JSON: %q", out)
	}
	if r := w.try(dir, "", "repo", "view", "nosuch"); r.code != exitFailed || !strings.Contains(r.err, "404") {
		t.Errorf("nothing there: %+v", r)
	}
}

func (w *world) issues(t *testing.T, clone string) {
	t.Helper()
	if out := w.run(clone, "issue", "create", "-t", "It \x1b[31mbroke", "-b", "When I press it.", "-l", "bug"); out != w.host()+"/ann/box/issues/1\n" {
		t.Errorf("create: %q", out)
	}
	if r := w.try(clone, "From a pipe\n", "issue", "create", "-t", "Two", "-F", "-"); r.code != 0 {
		t.Errorf("body from a pipe: %+v", r)
	}
	if out := w.run(clone, "issue", "list"); !strings.Contains(out, "#1\topen\tIt [31mbroke\tbug\tann\t") || strings.Contains(out, "\x1b") {
		t.Errorf("list: %q", out)
	}
	if out := w.run(clone, "issue", "comment", "1", "-b", "Me too"); !strings.Contains(out, "/issues/1#") {
		t.Errorf("comment: %q", out)
	}
	if out := w.run(clone, "issue", "view", "#1", "--comments"); !strings.Contains(out, "When I press it.") || !strings.Contains(out, "Me too") {
		t.Errorf("view: %q", out)
	}
	w.run(clone, "issue", "close", "1", "--reason", "not-planned", "-c", "No")
	if out := w.run(clone, "issue", "list", "-s", "closed", "--json=number,state_reason"); !strings.Contains(out, `[{"number":1,"state_reason":"not_planned"}]`) {
		t.Errorf("closed: %q", out)
	}
	w.run(clone, "issue", "reopen", "1")
	if out := w.run(clone, "issue", "list"); strings.Count(out, "\topen\t") != 2 {
		t.Errorf("open again: %q", out)
	}
}

func (w *world) pulls(t *testing.T, clone string) {
	t.Helper()
	w.git(clone, "switch", "-c", "fix")
	if err := os.WriteFile(filepath.Join(clone, "new.txt"), []byte("new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.git(clone, "add", ".")
	w.git(clone, "commit", "-m", "Mend it\n\nAt last.")
	w.git(clone, "push", "-u", "origin", "fix")
	if out := w.run(clone, "pr", "create", "--fill"); out != w.host()+"/ann/box/pull/3\n" {
		t.Errorf("create: %q", out)
	}
	if out := w.run(clone, "pr", "list"); !strings.Contains(out, "#3\topen\tMend it\tfix\tann\t") {
		t.Errorf("list: %q", out)
	}
	if out := w.run(clone, "pr", "view", "3"); !strings.Contains(out, "At last.") || !strings.Contains(out, "fits\tyes") {
		t.Errorf("view: %q", out)
	}
	if out := w.run(clone, "issue", "list"); strings.Contains(out, "Mend it") {
		t.Errorf("a pull request among issues: %q", out)
	}
	w.git(clone, "switch", "main")
	w.run(clone, "pr", "checkout", "3", "-b", "look")
	if got := strings.TrimSpace(w.git(clone, "log", "-1", "--format=%s")); got != "Mend it" {
		t.Errorf("checked out %q", got)
	}
	w.git(clone, "switch", "main")
	w.run(clone, "pr", "checkout", "3")
	if got := strings.TrimSpace(w.git(clone, "symbolic-ref", "--short", "HEAD")); got != "fix" {
		t.Errorf("on %q", got)
	}
}

func (w *world) api(t *testing.T, clone string) {
	t.Helper()
	var me struct{ Login string }
	if err := json.Unmarshal([]byte(w.run(clone, "api", "user")), &me); err != nil || me.Login != "ann" {
		t.Error(me, err)
	}
	w.run(clone, "api", "repos/{owner}/{repo}/issues", "-f", "title=From the API", "-f", "labels[]=bug", "-f", "labels[]=new")
	var list []struct{ Number int64 }
	if err := json.Unmarshal([]byte(w.run(clone, "api", "repos/{owner}/{repo}/issues?per_page=1", "--paginate")), &list); err != nil || len(list) != 4 {
		t.Errorf("%d of 4 in all pages: %v", len(list), err)
	}
	if out := w.run(clone, "api", "-X", "PATCH", "/api/v3/repos/ann/box", "-F", "has_issues=true", "-i"); !strings.HasPrefix(out, "HTTP/1.1 200") {
		t.Errorf("patch: %.80q", out)
	}
	if r := w.try(clone, "", "api", "repos/ann/nosuch"); r.code != exitFailed || !strings.Contains(r.out, "documentation_url") {
		t.Errorf("refused: %+v", r)
	}
	if r := w.try(clone, "", "api", "http://elsewhere.example/user"); r.code != exitFailed {
		t.Errorf("the token went elsewhere: %+v", r)
	}
}

// follow follows while issues are opened and the server is killed; then g1t
// too is stopped and goes on by its cursor. Each event is written once, in
// order.
func (w *world) follow(t *testing.T, clone string) {
	t.Helper()
	cursor := filepath.Join(w.home, "cursor")
	lines := make(chan string, 1000)
	begin := func() (stop func()) {
		cmd := w.command(clone, "work", "events", "--follow", "--type", "issue.*", "--json", "--cursor", cursor)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for sc := bufio.NewScanner(out); sc.Scan(); {
				lines <- sc.Text()
			}
		}()
		return func() {
			_ = cmd.Process.Signal(os.Interrupt)
			<-done
			_ = cmd.Wait()
		}
	}
	open := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			w.run(clone, "issue", "create", "-t", fmt.Sprintf("Follow %d", i), "-b", "")
		}
	}
	next := 0
	expect := func(to int) {
		t.Helper()
		for next < to {
			select {
			case line := <-lines:
				var e struct {
					Type string
					Data struct{ Title string }
				}
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Fatal(line, err)
				}
				if next == 0 && !strings.HasPrefix(e.Data.Title, "Follow") {
					continue // the probe by which the test knows that it follows
				}
				if want := fmt.Sprintf("Follow %d", next); e.Type != "issue.opened" || e.Data.Title != want {
					t.Fatalf("%s %q, want %q", e.Type, e.Data.Title, want)
				}
				next++
			case <-time.After(60 * time.Second):
				t.Fatalf("event %d of %d does not come", next, to)
			}
		}
	}
	stop := begin()
	// Following has begun when an event comes through.
	for i := 0; len(lines) == 0; i++ {
		w.run(clone, "issue", "create", "-t", fmt.Sprintf("Probe %d", i), "-b", "")
		time.Sleep(100 * time.Millisecond)
	}
	open(0, 3)
	expect(3)
	w.kill()
	w.start()
	open(3, 6)
	expect(6)
	stop()
	open(6, 8)
	stop = begin()
	open(8, 9)
	expect(9)
	stop()
	if out := w.run(clone, "work", "events", "-L", "3", "--type", "issue.opened"); strings.Count(out, "\n") != 3 || !strings.Contains(strings.Split(out, "\n")[2], "Follow 8") {
		t.Errorf("the newest three: %q", out)
	}
}
