package db_test

import (
	"testing"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenWith(t, db.Options{Domains: toyDomain(toyFirst)})
	s := db.RepoScope(7)
	if info, err := d.Inspect(t.Context(), s); err != nil || info.State != "none" || info.TouchedAt != nil {
		t.Fatalf("%+v, %v", info, err)
	}
	putToy(t, d, 7, 1, "x")
	if _, err := d.JobsPool().Exec(t.Context(), "INSERT INTO cell.alarms (scope, due_at) VALUES ('repo_7', '2040-01-01')"); err != nil {
		t.Fatal(err)
	}
	info, err := d.Inspect(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	// Two tables with an index each, and the toast table of one with its own.
	if info.State != "live" || info.Relations != 6 || info.Bytes < 5*8192 || info.Domains["toys"] != 1 || info.Newest["toys"] != 1 ||
		info.Counts["toys"] != 1 || info.AlarmAt == nil || info.AlarmAt.Year() != 2040 || time.Since(*info.TouchedAt) > time.Minute {
		t.Fatalf("%+v", info)
	}
	if err := d.Sleep(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if info, err = d.Inspect(t.Context(), s); err != nil || info.State != "asleep" || info.Relations != 0 || info.Bytes == 0 || info.Bytes > 2000 {
		t.Fatalf("%+v, %v", info, err)
	}
	list, err := d.Scopes(t.Context(), "asleep", 10, 0)
	if err != nil || len(list) != 1 || list[0].Scope != "repo_7" {
		t.Fatalf("%v, %v", list, err)
	}
	if counts, err := d.ScopeCounts(t.Context()); err != nil || counts["asleep"] != 1 || counts["live"] != 0 {
		t.Fatalf("%v, %v", counts, err)
	}
}

func TestSparesAreKeptNew(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	files := func(issues ...string) toy {
		f := toyDomain(toyFirst)
		for i, sql := range issues {
			f["repo/issues/000"+string(rune('1'+i))+"_x.sql"] = toyFile(sql)
		}
		return f
	}
	const first, second = "CREATE TABLE ?scope.issues (id bigint PRIMARY KEY);", "ALTER TABLE ?scope.issues ADD COLUMN x int;"
	older := dbtest.OpenURL(t, url, db.Options{Domains: files(first)})
	newer := dbtest.OpenURL(t, url, db.Options{Domains: files(first, second)})
	if made, err := older.FillSpares(t.Context(), db.RepoKind, 3); err != nil || made != 3 {
		t.Fatalf("made %d, %v", made, err)
	}
	// A spare of the older version serves: the first domain that is written
	// is made, and the older one migrated when it is.
	putToy(t, newer, 7, 1, "x")
	if v, err := newer.Repo(7).Version(t.Context(), "issues"); err != nil || v != 1 {
		t.Fatalf("version %d, %v", v, err)
	}
	if made, err := newer.FillSpares(t.Context(), db.RepoKind, 3); err != nil || made != 3 {
		t.Fatalf("made %d, %v: old ones should go", made, err)
	}
	if n := countSpare(t, newer, `SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname LIKE 'spare_%' AND attname = 'x'`); n != 3 {
		t.Fatalf("%d new spares", n)
	}
	// The older gitfor leaves the newer one's alone.
	if made, err := older.FillSpares(t.Context(), db.RepoKind, 3); err != nil || made != 0 {
		t.Fatalf("made %d, %v", made, err)
	}
	if n := countSpare(t, newer, "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'spare_%'"); n != 3 {
		t.Fatalf("%d spare schemas", n)
	}
}
