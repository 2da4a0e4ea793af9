package state_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
	"github.com/jackc/pgx/v5"
)

// traces lists where an id is found: in every row of every table of every
// schema, in the names of schemas, and in the names below a folder.
func traces(t *testing.T, d *db.DB, dir, id string) (found []string) {
	t.Helper()
	rows, err := d.JobsPool().Query(t.Context(), `SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Schema, Name string }])
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if strings.Contains(table.Schema, id) {
			found = append(found, "schema "+table.Schema)
		}
		where := ""
		switch table.Schema + "." + table.Name {
		case "events.audit":
			continue // it remembers, for 400 days
		case "events.log":
			where = " AND (actor_id IS NULL OR actor_id::text <> $1 OR account_id::text = $1)" // what one did elsewhere stays
		case "jobs.river_job":
			where = " AND state <> 'completed'" // gone within the hour
		}
		var n int
		name := pgx.Identifier{table.Schema, table.Name}.Sanitize()
		if err := d.JobsPool().QueryRow(t.Context(), "SELECT count(*) FROM "+name+" AS r WHERE r::text LIKE '%' || $1 || '%'"+where, id).Scan(&n); err != nil {
			t.Fatal(name, err)
		}
		if n > 0 {
			found = append(found, fmt.Sprintf("%d rows of %s", n, name))
		}
	}
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && strings.Contains(filepath.Base(p), id) {
			found = append(found, p)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

const farID = 987654321

// keeping starts an instance whose next repository has the id farID.
func keeping(t *testing.T) (s *apptest.Server, dir string) {
	t.Helper()
	dir = t.TempDir()
	s = apptest.NewWorking(t, func(c *app.Config) { c.DataDir = dir })
	dbtest.Exec(t, s.DB, "SELECT setval(pg_get_serial_sequence('directory.repos', 'id'), ?, false)", farID)
	return s, dir
}

func TestDeletedForGood(t *testing.T) {
	t.Parallel()
	s, dir := keeping(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	newWorker(t, s, ann, "box")
	ok := func(res *apptest.Response) {
		t.Helper()
		if res.Status >= 300 {
			t.Fatal(res.Status, res.Body)
		}
	}
	ok(ann.API(http.MethodPatch, "/repos/ann/box", map[string]any{"private": false}))
	for i := range 3 {
		ok(bob.API(http.MethodPost, "/repos/ann/box/issues", map[string]any{"title": fmt.Sprint("issue ", i)}))
	}
	ok(ann.API(http.MethodPost, "/repos/ann/box/hooks", map[string]any{"config": map[string]any{"url": "https://example.com/hook"}, "events": []string{"*"}}))
	ok(bob.API(http.MethodPut, "/user/starred/ann/box", nil))
	if len(traces(t, s.DB, dir, fmt.Sprint(farID))) < 5 {
		t.Fatal("the search finds nothing in a repository that is there")
	}
	ann.Get("/ann/box/settings/delete").OK().Has("3 open issues")
	ann.Post("/ann/box/settings/delete", "confirm", "box").Want(http.StatusUnprocessableEntity).Has("Type ann/box to confirm.")
	ann.API(http.MethodDelete, "/repos/ann/box", nil).Want(http.StatusNoContent)
	ann.Get("/ann/box").Want(http.StatusNotFound)

	// Within the window the owner, and nobody else, can have it back.
	bob.Get("/settings/deleted").OK().Has("Nothing was deleted lately")
	path := fmt.Sprintf("/settings/deleted/repositories/%d", farID)
	bob.Post(path).Want(http.StatusNotFound)
	ann.Get("/settings/deleted").OK().Has("ann/box").Has(path)
	if done, err := s.App.State.Purge(t.Context(), time.Now().AddDate(0, 0, 30)); err != nil || done.Repos != 0 {
		t.Fatalf("%+v removed within the window, %v", done, err)
	}
	ann.Post(path).Want(http.StatusSeeOther)
	ann.Get("/ann/box/issues").OK().Has("issue 2")
	ann.Post("/ann/box/settings/delete", "confirm", "ann/box").Want(http.StatusSeeOther)
	settle(t, s)

	later := time.Now().AddDate(0, 0, 31)
	if done, err := s.App.State.Purge(t.Context(), later); err != nil || done.Repos != 1 {
		t.Fatalf("%+v removed, %v", done, err)
	}
	// The mark in the register goes a while later; until then nobody makes
	// the scope anew.
	if err := s.DB.InRepo(t.Context(), farID, func(context.Context, *db.RepoTx) error { return nil }); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("written after the end: %v", err)
	}
	if _, err := s.App.State.Purge(t.Context(), later.AddDate(0, 0, 8)); err != nil {
		t.Fatal(err)
	}
	if left := traces(t, s.DB, dir, fmt.Sprint(farID)); len(left) > 0 {
		t.Errorf("left behind: %s", strings.Join(left, ", "))
	}
	ann.Post(path).Want(http.StatusNotFound)
	bob.API(http.MethodGet, "/user/starred", nil).OK()
}

func viewer(c *apptest.Client) *model.Viewer { return &model.Viewer{Account: c.Account, All: true} }

// settle waits until no event is on its way.
func settle(t *testing.T, s *apptest.Server) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var n int
		err := s.DB.JobsPool().QueryRow(t.Context(), `SELECT (SELECT count(*) FROM events.incoming) +
			(SELECT count(*) FROM jobs.river_job WHERE state IN ('available', 'running') OR state = 'retryable' AND scheduled_at < now())`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("events are still on their way")
		}
	}
}

// TestForksOutliveTheirSource removes the source of a network for good, then
// the fork: what the fork borrows is there as long as it is.
func TestForksOutliveTheirSource(t *testing.T) {
	t.Parallel()
	s, dir := keeping(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	newWorker(t, s, ann, "box")
	ann.API(http.MethodPatch, "/repos/ann/box", map[string]any{"private": false}).OK()
	bob.API(http.MethodPost, "/repos/ann/box/forks", nil).Want(http.StatusAccepted)
	ann.API(http.MethodDelete, "/repos/ann/box", nil).Want(http.StatusNoContent)
	settle(t, s)
	if done, err := s.App.State.Purge(t.Context(), time.Now().AddDate(0, 0, 31)); err != nil || done.Repos != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	mustRun(t, "", "clone", "-q", s.URL+"/bob/box.git", clone)
	mustRun(t, clone, "fsck", "--full")
	pool := s.App.State.Pools.Path(farID)
	if _, err := os.Stat(pool); err != nil {
		t.Fatalf("the pool: %v", err)
	}
	bob.API(http.MethodDelete, "/repos/bob/box", nil).Want(http.StatusNoContent)
	settle(t, s)
	for _, days := range []int{31, 39} {
		if _, err := s.App.State.Purge(t.Context(), time.Now().AddDate(0, 0, days)); err != nil {
			t.Fatal(err)
		}
	}
	if left := traces(t, s.DB, dir, fmt.Sprint(farID)); len(left) > 0 {
		t.Errorf("left behind: %s", strings.Join(left, ", "))
	}
}

func TestAccountDeletedForGood(t *testing.T) {
	t.Parallel()
	s, dir := keeping(t)
	ann := s.User(t, "ann")
	const id = 876543210
	dbtest.Exec(t, s.DB, "SELECT setval(pg_get_serial_sequence('directory.accounts', 'id'), ?, false)", id)
	bob := s.User(t, "bob")
	newWorker(t, s, ann, "hers")
	ann.API(http.MethodPatch, "/repos/ann/hers", map[string]any{"private": false}).OK()
	bob.API(http.MethodPost, "/user/repos", map[string]any{"name": "his"}).Want(http.StatusCreated)
	bob.API(http.MethodPut, "/user/starred/ann/hers", nil).Want(http.StatusNoContent)
	settle(t, s)
	if err := s.App.Accounts.Delete(t.Context(), viewer(bob), "bob"); err != nil {
		t.Fatal(err)
	}
	settle(t, s)
	later := time.Now().AddDate(0, 0, 31)
	done, err := s.App.State.Purge(t.Context(), later)
	if err != nil || done.Accounts+done.Repos != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, err := s.App.State.Purge(t.Context(), later.AddDate(0, 0, 8)); err != nil {
		t.Fatal(err)
	}
	if left := traces(t, s.DB, dir, fmt.Sprint(id)); len(left) > 0 {
		t.Errorf("left behind: %s", strings.Join(left, ", "))
	}
	if got := ann.API(http.MethodGet, "/repos/ann/hers", nil).OK().JSON()["stargazers_count"]; got != float64(0) {
		t.Errorf("%v stars", got)
	}
	// Others may link to what was public there.
	msg := s.Anon().Post("/signup", "username", "bob", "email", "b@example.com").Want(http.StatusUnprocessableEntity).Text("main")
	if !strings.Contains(msg, "retired") {
		t.Error(msg)
	}
}
