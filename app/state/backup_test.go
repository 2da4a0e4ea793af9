package state_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/state"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
)

// run runs git and returns what it prints.
func run(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "user.name=Ann", "-c", "user.email=ann@example.com"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return strings.TrimSpace(string(out)), err
}

func mustRun(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := run(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// worker pushes commits and opens issues until it is told to stop.
type worker struct {
	name   string
	dir    string
	client *apptest.Client

	mu     sync.Mutex
	commit string // the last that was acknowledged
	issues int
}

func newWorker(t *testing.T, s *apptest.Server, client *apptest.Client, name string) *worker {
	t.Helper()
	w := &worker{name: name, dir: t.TempDir(), client: client}
	mustRun(t, w.dir, "init", "-q", "-b", "main")
	mustRun(t, w.dir, "remote", "add", "origin", strings.Replace(s.URL, "//", "//x:"+client.Token+"@", 1)+"/ann/"+name+".git")
	if err := w.push(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *worker) push(ctx context.Context, n int) error {
	file := filepath.Join(w.dir, "file")
	if err := os.WriteFile(file, fmt.Appendf(nil, "%s %d\n", w.name, n), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"add", "file"}, {"commit", "-qm", fmt.Sprint(n)}, {"push", "-q", "origin", "main"}} {
		if _, err := run(ctx, w.dir, args...); err != nil {
			return err
		}
	}
	head, err := run(ctx, w.dir, "rev-parse", "HEAD")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commit = head
	return err
}

func (w *worker) issue(n int) error {
	res := w.client.API(http.MethodPost, "/repos/ann/"+w.name+"/issues", map[string]any{"title": fmt.Sprintf("issue %d", n)})
	if res.Status != http.StatusCreated {
		return fmt.Errorf("issue: status %d", res.Status)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.issues++
	return nil
}

func (w *worker) done() (commit string, issues int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.commit, w.issues
}

// restored is a running instance from a backup.
func restored(t *testing.T, file, passphrase string) (*apptest.Server, *state.BackupInfo) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d := dbtest.OpenURL(t, dbtest.NewEmptyURL(t), db.Options{})
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	info, err := state.Restore(t.Context(), state.RestoreDeps{DB: d, DataDir: dir, SecretKeyFile: filepath.Join(dir, "secret.key"), Passphrase: passphrase}, in)
	if err != nil {
		t.Fatal(err)
	}
	return apptest.Over(t, d, func(c *app.Config) { c.DataDir = dir }), info
}

func TestBackupWhileTheServerIsBusy(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := apptest.NewWorking(t, func(c *app.Config) { c.DataDir = data })
	ann := s.User(t, "ann")
	workers := make([]*worker, 3)
	for i := range workers {
		workers[i] = newWorker(t, s, ann, fmt.Sprintf("repo%d", i))
	}
	if err := s.DB.Sleep(t.Context(), db.RepoScope(1)); err != nil { // one sleeps when it begins
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, w := range workers {
		for _, do := range []func(n int) error{func(n int) error { return w.push(t.Context(), n) }, w.issue} {
			wg.Go(func() {
				for n := 1; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					if err := do(n); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	type promise struct {
		commit string
		issues int
	}
	for round := range 3 {
		var promised []promise
		for _, w := range workers {
			commit, issues := w.done()
			promised = append(promised, promise{commit, issues})
		}
		file := filepath.Join(t.TempDir(), "backup.tar.zst")
		if _, err := s.App.State.Backup(t.Context(), file, "words"); err != nil {
			t.Fatal(err)
		}
		if round == 2 {
			close(stop)
			wg.Wait()
		}
		again, info := restored(t, file, "words")
		if info.Repositories != len(workers) {
			t.Errorf("round %d: %+v", round, info)
		}
		for i, w := range workers {
			id := int64(i + 1)
			path := again.App.Git.Path(id)
			mustRun(t, path, "fsck", "--strict", "--no-dangling")
			mustRun(t, path, "merge-base", "--is-ancestor", promised[i].commit, "main")
			counts, err := again.DB.Repo(id).Counts(t.Context())
			if err != nil || counts["open_issues"] < int64(promised[i].issues) {
				t.Errorf("round %d, %s: %v issues, %v; %d were acknowledged", round, w.name, counts, err, promised[i].issues)
			}
		}
		checkPushes(t, again)
	}
	// The same token works, and new issues go on with the next number.
	again, _ := restored(t, backupOf(t, s, ""), "")
	client := again.Anon()
	client.Token = ann.Token
	_, issues := workers[0].done()
	res := client.API(http.MethodPost, "/repos/ann/repo0/issues", map[string]any{"title": "after"}).Want(http.StatusCreated)
	if n := res.JSON()["number"]; n != float64(issues+1) {
		t.Errorf("number %v after %d issues", n, issues)
	}
	if n := len(leftovers(t, data)); n > 0 {
		t.Errorf("%d files left below tmp", n)
	}
}

// checkPushes proves that each push that the log knows is in its repository.
func checkPushes(t *testing.T, s *apptest.Server) {
	t.Helper()
	rows, err := s.DB.JobsPool().Query(t.Context(), `SELECT repo_id, data::text FROM events.log WHERE type = 'git.push'
		UNION ALL SELECT repo_id, data::text FROM events.incoming WHERE type = 'git.push'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var id int64
		var data string
		if err := rows.Scan(&id, &data); err != nil {
			t.Fatal(err)
		}
		for _, word := range strings.FieldsFunc(data, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) }) {
			if len(word) == 40 && strings.Trim(word, "0") != "" {
				mustRun(t, s.App.Git.Path(id), "cat-file", "-e", word)
				n++
			}
		}
	}
	if n == 0 {
		t.Error("the log has no pushes")
	}
}

func backupOf(t *testing.T, s *apptest.Server, passphrase string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "backup.tar.zst")
	if _, err := s.App.State.Backup(t.Context(), file, passphrase); err != nil {
		t.Fatal(err)
	}
	return file
}

func leftovers(t *testing.T, data string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(data, "tmp"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	s.User(t, "ann")
	file := backupOf(t, s, "words")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	try := func(url string, passphrase string, in []byte) error {
		dir := t.TempDir()
		d := dbtest.OpenURL(t, url, db.Options{})
		_, err := state.Restore(t.Context(), state.RestoreDeps{DB: d, DataDir: dir, SecretKeyFile: filepath.Join(dir, "secret.key"), Passphrase: passphrase},
			io.MultiReader(bytes.NewReader(in)))
		return err
	}
	if err := try(dbtest.NewURL(t), "words", whole); !errors.Is(err, state.ErrHasData) {
		t.Errorf("a database with data: %v", err)
	}
	if err := try(dbtest.NewEmptyURL(t), "other", whole); !errors.Is(err, state.ErrPassphrase) {
		t.Errorf("another passphrase: %v", err)
	}
	for _, part := range []int{2, 10} {
		if err := try(dbtest.NewEmptyURL(t), "words", whole[:len(whole)*(part-1)/part]); err == nil {
			t.Errorf("a backup that is cut off by 1/%d was taken", part)
		}
	}
	if err := try(dbtest.NewEmptyURL(t), "words", []byte("something else")); err == nil {
		t.Error("something else was taken")
	}
	if err := try(dbtest.NewEmptyURL(t), "words", whole); err != nil {
		t.Errorf("the whole: %v", err)
	}
	dir := t.TempDir()
	if err := state.CheckEmpty(dir); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := state.CheckEmpty(dir); !errors.Is(err, state.ErrHasData) {
		t.Errorf("a folder with a file: %v", err)
	}
}

func TestBackupHasBlobs(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	whole, err := s.App.Blobs.Space("lfs").Put(t.Context(), strings.NewReader("a large file"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.App.Blobs.Partial("half").Append(t.Context(), 0, 10, strings.NewReader("half")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup.tar.zst")
	if _, err := s.App.State.Backup(t.Context(), file, ""); err != nil {
		t.Fatal(err)
	}
	back, _ := restored(t, file, "")
	f, _, err := back.App.Blobs.Space("lfs").Open(t.Context(), whole.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); err != nil || string(b) != "a large file" {
		t.Errorf("restored %q, %v", b, err)
	}
	if size, err := back.App.Blobs.Partial("half").Size(); err != nil || size != 0 {
		t.Errorf("the unfinished upload was restored: %d, %v", size, err)
	}
}
