package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"
)

// budget is a row of the table: what was measured against what is allowed.
type budget struct {
	what              string
	measured, allowed string
	queries, most     int
	ok                bool
}

// table measures all that the budgets are about, on the program as built with
// its private database.
type table struct {
	*killed
	rows  []budget
	hooks chan time.Time
	work  string
}

// BenchmarkBudget prints the table of budgets, and writes it to the file that
// GITFOR_BUDGET_FILE names. make bench runs it.
func BenchmarkBudget(b *testing.B) {
	k := newKilled(b, "")
	k.bin = filepath.Join(b.TempDir(), "gitfor")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", k.bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	w := &table{killed: k, hooks: make(chan time.Time, 4096), work: b.TempDir()}
	k.signUp()
	k.start()
	b.Cleanup(w.stop)
	w.seed()
	w.pages()
	w.api()
	w.live()
	w.git()
	w.idle()
	text := w.text()
	fmt.Print("\n", text)
	if file := os.Getenv("GITFOR_BUDGET_FILE"); file != "" {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, r := range w.rows {
		if !r.ok {
			b.Errorf("over the budget: %s: %s, allowed %s", r.what, r.measured, r.allowed)
		}
	}
}

func (w *table) stop() {
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	_ = w.cmd.Wait()
}

func (w *table) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *table) row(what, measured, allowed string, ok bool) {
	w.rows = append(w.rows, budget{what: what, measured: measured, allowed: allowed, ok: ok})
}

func (w *table) exec(dir, name string, args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *table) remote(name string) string {
	return "http://ann:" + w.token + "@" + w.addr + "/ann/" + name + ".git"
}

// seed makes a repository of 10,000 files and 2,000 commits with 1,000 issues,
// one of 50 comments, and a pull request of 50 files.
func (w *table) seed() {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { w.hooks <- time.Now() }))
	w.Cleanup(receiver.Close)
	src := filepath.Join(w.work, "src")
	w.exec(w.work, "git", "init", "-qb", "main", src)
	var in strings.Builder
	commit := func(i int) {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter A <a@example.com> %d +0000\ndata 10\nchange %03d\n", 1700000000+i, i%1000)
	}
	file := func(name, text string) {
		fmt.Fprintf(&in, "M 644 inline %s\ndata %d\n%s\n", name, len(text), text)
	}
	commit(0)
	file("README.md", "# Engine\n\nA **repository** of many files.\n")
	for i := range 10_000 {
		file(fmt.Sprintf("dir%02d/sub%d/file%05d.go", i%100, i/100%10, i), fmt.Sprintf("package p%d\n\nfunc f() int { return %d }\n", i, i*7919))
	}
	for i := range 2000 {
		commit(i + 1)
		file(fmt.Sprintf("dir%02d/sub0/hot.go", i%100), fmt.Sprintf("package hot\n\nconst n = %d\n", i))
	}
	cmd := exec.CommandContext(w.Context(), "git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = src, strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("%v %s", err, out)
	}
	w.exec(src, "git", "reset", "-q", "--hard")
	w.must(w.killed.api("POST", "/user/repos", map[string]any{"name": "engine"}, nil))
	w.exec(src, "git", "push", "-q", w.remote("engine"), "main")
	w.exec(src, "git", "checkout", "-qb", "change")
	for i := range 50 {
		w.must(os.WriteFile(filepath.Join(src, fmt.Sprintf("dir%02d/sub0/hot.go", i)), []byte(fmt.Sprintf("package hot\n\n// changed\nconst n = %d\n", i)), 0o600))
	}
	w.exec(src, "git", "commit", "-qam", "change fifty")
	w.exec(src, "git", "push", "-q", w.remote("engine"), "change")
	for i := range 1000 {
		w.must(w.killed.api("POST", "/repos/ann/engine/issues", map[string]any{"title": fmt.Sprint("Issue number ", i), "body": "Some **text**.", "labels": []string{"bug"}}, nil))
	}
	for i := range 50 {
		w.must(w.killed.api("POST", "/repos/ann/engine/issues/1000/comments", map[string]any{"body": fmt.Sprint("comment ", i, " about #", i+1)}, nil))
	}
	w.must(w.killed.api("POST", "/repos/ann/engine/pulls", map[string]any{"title": "Fifty files", "head": "change", "base": "main"}, nil))
	w.must(w.killed.api("POST", "/repos/ann/engine/hooks", map[string]any{"events": []string{"issue.opened", "git.push"}, "config": map[string]any{"url": receiver.URL}}, nil))
}

var countOf = regexp.MustCompile(`desc="(\d+) queries"`)

// times asks often for the same and returns the median until the first byte,
// and how many statements it took.
func (w *table) times(method, path string, body any, times int) (time.Duration, int) {
	w.Helper()
	var list []time.Duration
	queries := 0
	for i := range times + times/5 {
		var in strings.Builder
		if body != nil {
			w.must(json.NewEncoder(&in).Encode(body))
		}
		req, err := http.NewRequestWithContext(w.Context(), method, "http://"+w.addr+path, strings.NewReader(in.String()))
		w.must(err)
		req.Header.Set("Authorization", "Bearer "+w.token)
		start := time.Now()
		res, err := http.DefaultClient.Do(req)
		w.must(err)
		took := time.Since(start)
		discard := make([]byte, 64<<10)
		for {
			if _, err := res.Body.Read(discard); err != nil {
				break
			}
		}
		_ = res.Body.Close()
		if res.StatusCode > 299 {
			w.Fatalf("%s %s: %d", method, path, res.StatusCode)
		}
		if m := countOf.FindStringSubmatch(strings.Join(res.Header.Values("Server-Timing"), " ")); m != nil {
			queries, _ = strconv.Atoi(m[1])
		}
		if i >= times/5 { // the first ones warm it
			list = append(list, took)
		}
	}
	return median(list), queries
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func (w *table) page(what, path string, most int, allowed time.Duration) {
	took, queries := w.times("GET", path, nil, 50)
	w.rows = append(w.rows, budget{what, ms(took), "p50 ≤ " + ms(allowed), queries, most, took <= allowed && queries <= most})
}

func (w *table) pages() {
	w.page("repository home, signed in", "/ann/engine", 6, 8*time.Millisecond)
	w.page("issues list of 25", "/ann/engine/issues", 6, 6*time.Millisecond)
	w.page("one issue with 50 comments", "/ann/engine/issues/1000", 6, 6*time.Millisecond)
	w.page("pull request files page, 50 files", "/ann/engine/pull/1001/files", 10, 60*time.Millisecond)
	w.page("tree page", "/ann/engine/tree/main/dir00", 6, 8*time.Millisecond)
	w.page("blob page", "/ann/engine/blob/main/dir00/sub0/hot.go", 6, 8*time.Millisecond)
	w.page("commits page", "/ann/engine/commits/main", 6, 8*time.Millisecond)
}

func (w *table) api() {
	took, queries := w.times("POST", "/api/v3/repos/ann/engine/issues", map[string]any{"title": "Another", "body": "text"}, 100)
	w.rows = append(w.rows, budget{"API: create an issue", ms(took), "p50 ≤ 8.0 ms", queries, 8, took <= 8*time.Millisecond && queries <= 8})
}

// live measures from the answer to the other person: a webhook's receiver, an
// open page.
func (w *table) live() {
	var repo struct{ ID int64 }
	w.must(w.killed.api("GET", "/repos/ann/engine", nil, &repo))
	ws, _, err := websocket.Dial(w.Context(), "ws://"+w.addr+"/-/live", nil) //nolint:bodyclose // the library closes it
	w.must(err)
	defer ws.CloseNow() //nolint:errcheck // measured
	w.must(ws.Write(w.Context(), websocket.MessageText, fmt.Appendf(nil, `{"subscribe":["repo:%d"]}`, repo.ID)))
	pages := make(chan time.Time, 4096)
	go func() {
		for {
			if _, _, err := ws.Read(context.WithoutCancel(w.Context())); err != nil {
				return
			}
			pages <- time.Now()
		}
	}()
	time.Sleep(2 * time.Second) // what was made before is on its way still
	drain(w.hooks)
	drain(pages)
	var hooked, shown []time.Duration
	for range 15 {
		w.must(w.killed.api("POST", "/repos/ann/engine/issues", map[string]any{"title": "Told"}, nil))
		done := time.Now()
		hooked = append(hooked, max(0, w.next(w.hooks).Sub(done)))
		shown = append(shown, max(0, w.next(pages).Sub(done)))
		time.Sleep(1200 * time.Millisecond) // a page is told of a topic once a second
		drain(pages)
	}
	w.row("issue created → webhook at the receiver", ms(median(hooked)), "p50 ≤ 30 ms", median(hooked) <= 30*time.Millisecond)
	w.row("event committed → other person's open page", ms(median(shown)), "p50 ≤ 100 ms", median(shown) <= 100*time.Millisecond)
}

func (w *table) next(c chan time.Time) time.Time {
	w.Helper()
	select {
	case at := <-c:
		return at
	case <-time.After(20 * time.Second):
		w.Fatal("nothing came")
		return time.Time{}
	}
}

func drain(c chan time.Time) {
	for {
		select {
		case <-c:
		default:
			return
		}
	}
}

// git measures pushes and clones by turns against plain git http-backend on the
// same repository.
func (w *table) git() {
	program, err := exec.LookPath("git")
	w.must(err)
	plain := filepath.Join(w.work, "plain")
	w.exec(w.work, "git", "clone", "-q", "--bare", w.remote("engine"), filepath.Join(plain, "engine.git"))
	w.exec(filepath.Join(plain, "engine.git"), "git", "config", "http.receivepack", "true")
	floor := httptest.NewServer(&cgi.Handler{Path: program, Args: []string{"http-backend"},
		Env: []string{"GIT_PROJECT_ROOT=" + plain, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null"}})
	w.Cleanup(floor.Close)
	src := filepath.Join(w.work, "src")
	var ours, theirs, hooked []time.Duration
	for i := range 14 {
		w.must(os.WriteFile(filepath.Join(src, "README.md"), fmt.Appendf(nil, "# Engine %d\n", i), 0o600))
		w.exec(src, "git", "commit", "-qam", fmt.Sprint("small ", i))
		drain(w.hooks)
		start := time.Now()
		w.exec(src, "git", "push", "-q", w.remote("engine"), "HEAD:refs/heads/small")
		end := time.Now()
		at := w.next(w.hooks)
		middle := time.Now()
		w.exec(src, "git", "push", "-q", floor.URL+"/engine.git", "HEAD:refs/heads/small")
		if i >= 2 {
			ours, theirs, hooked = append(ours, end.Sub(start)), append(theirs, time.Since(middle)), append(hooked, max(0, at.Sub(end)))
		}
	}
	w.row("push ended → webhook at the receiver", ms(median(hooked)), "p50 ≤ 60 ms", median(hooked) <= 60*time.Millisecond)
	w.ratio("push of one small commit over HTTP", median(ours), median(theirs), 1.5)
	ours, theirs = nil, nil
	clone := func(from string) time.Duration {
		to := filepath.Join(w.work, "clone")
		start := time.Now()
		w.exec(w.work, "git", "clone", "-q", "--bare", from, to)
		took := time.Since(start)
		w.must(os.RemoveAll(to))
		return took
	}
	for i := range 7 {
		a, b := clone(w.remote("engine")), clone(floor.URL+"/engine.git")
		if i >= 1 {
			ours, theirs = append(ours, a), append(theirs, b)
		}
	}
	w.ratio("full clone over HTTP", median(ours), median(theirs), 1.05)
	w.eight()
}

func (w *table) ratio(what string, ours, theirs time.Duration, most float64) {
	r := float64(ours) / float64(theirs)
	w.row(what, fmt.Sprintf("%.2f × (%s, http-backend %s)", r, ms(ours), ms(theirs)), fmt.Sprintf("≤ %.2f × http-backend", most), r <= most)
}

// eight compares the server's CPU time for eight clones at once with that for
// one.
func (w *table) eight() {
	clones := func(n int) time.Duration {
		before := w.cpu()
		done := make(chan struct{})
		for i := range n {
			go func() {
				defer func() { done <- struct{}{} }()
				to := filepath.Join(w.work, fmt.Sprint("many", i))
				cmd := exec.CommandContext(w.Context(), "git", "clone", "-q", "--bare", w.remote("engine"), to)
				if out, err := cmd.CombinedOutput(); err != nil {
					w.Errorf("%v %s", err, out)
				}
				_ = os.RemoveAll(to)
			}()
		}
		for range n {
			<-done
		}
		return w.cpu() - before
	}
	if runtime.GOOS != "linux" {
		return
	}
	// What was packed before must not count: each is the first after a push.
	var one, many []time.Duration
	src := filepath.Join(w.work, "src")
	fresh := func() {
		w.exec(src, "git", "commit", "-q", "--allow-empty", "-m", "again")
		w.exec(src, "git", "push", "-q", w.remote("engine"), "HEAD:refs/heads/small")
		time.Sleep(time.Second)
	}
	for range 3 {
		fresh()
		one = append(one, clones(1))
		fresh()
		many = append(many, clones(8))
	}
	r := float64(median(many)) / float64(max(median(one), 10*time.Millisecond))
	w.row("eight clones at once, CPU of the server", fmt.Sprintf("%.2f × (%s, one %s)", r, ms(median(many)), ms(median(one))), "≤ 2 × the CPU of one", r <= 2)
}

// cpu is the time that the server and its ended children used.
func (w *table) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.cmd.Process.Pid))
	w.must(err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
	var ticks int64
	for _, f := range fields[11:15] {
		n, _ := strconv.ParseInt(f, 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// idle looks at what is left when nobody does anything, and at a new start.
func (w *table) idle() {
	w.must(w.killed.api("POST", "/user/repos", map[string]any{"name": "quiet"}, nil))
	w.exec(filepath.Join(w.work, "src"), "git", "push", "-q", w.remote("quiet"), "main")
	conn, err := pgx.Connect(w.Context(), w.killed.run("admin", "database-url"))
	w.must(err)
	var tables int
	w.must(conn.QueryRow(w.Context(), `SELECT count(*) FROM pg_tables WHERE schemaname = 'repo_' || (SELECT id FROM directory.repos WHERE name = 'quiet')`).Scan(&tables))
	w.must(conn.Close(w.Context()))
	w.row("tables of a repository that was only pushed to", strconv.Itoa(tables), "0", tables == 0)
	if runtime.GOOS == "linux" {
		time.Sleep(45 * time.Second)
		kb := w.rss()
		w.row("idle server without Postgres, after all of this", fmt.Sprintf("%d MB", kb>>10), "≤ 80 MB", kb>>10 <= 80)
	}
	w.stop()
	began := time.Now()
	w.start()
	took := time.Since(began)
	w.row("start with existing data to /readyz", ms(took), "≤ 2 s", took <= 2*time.Second)
}

func (w *table) rss() (kb int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	w.must(err)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ = strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		}
	}
	return kb
}

func (w *table) text() string {
	var b strings.Builder
	b.WriteString("| what | measured | budget | queries | |\n|---|---:|---:|---:|---|\n")
	for _, r := range w.rows {
		queries, verdict := "", "ok"
		if r.most > 0 {
			queries = fmt.Sprintf("%d of %d", r.queries, r.most)
		}
		if !r.ok {
			verdict = "over"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.what, r.measured, r.allowed, queries, verdict)
	}
	return b.String()
}
