package db_test

import (
	"context"
	"io/fs"
	"testing"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/schema"
	"github.com/uptrace/bun"
)

// relations is how many relations (tables, indexes, toast tables and their
// indexes) each domain costs a scope that has it: the unit of what scopes cost.
// Whoever adds one writes it down here, and thinks of a column first.
var relations = map[string]int{
	"repo/attachments":    5,
	"repo/deploy":         5,
	"repo/issues":         16,
	"repo/lfs":            9,
	"repo/mirror":         4,
	"repo/protection":     5,
	"repo/pulls":          15,
	"repo/releases":       15,
	"repo/statuses":       5,
	"repo/webhooks":       10,
	"account/deploy":      4,
	"account/drafts":      8,
	"account/inbox":       6,
	"account/involvement": 4,
	"account/oauth":       10,
	"account/push":        5,
	"account/signin":      9,
	"account/webhooks":    10,
}

func TestRelationsPerDomain(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	seen := 0
	for _, kind := range []db.Kind{db.RepoKind, db.AccountKind} {
		folders, err := fs.ReadDir(schema.FS(), string(kind))
		if err != nil {
			t.Fatal(err)
		}
		for i, folder := range folders {
			name, id := string(kind)+"/"+folder.Name(), int64(i+1)
			scope := db.RepoScope(id)
			if kind == db.AccountKind {
				scope = db.AccountScope(id)
				err = d.InAccount(t.Context(), id, func(ctx context.Context, tx *db.AccountTx) error {
					_, err := tx.Write(ctx, folder.Name())
					return err
				})
			} else {
				err = d.InRepo(t.Context(), id, func(ctx context.Context, tx *db.RepoTx) error {
					_, err := tx.Write(ctx, folder.Name())
					return err
				})
			}
			if err != nil {
				t.Fatal(name, err)
			}
			info, err := d.Inspect(t.Context(), scope)
			if err != nil {
				t.Fatal(err)
			}
			if info.Relations != relations[name] {
				t.Errorf("%q: %d, not %d: a scope's cost has changed, see docs/state.md", name, info.Relations, relations[name])
			}
			seen++
		}
	}
	if seen != len(relations) {
		t.Errorf("%d domains, %d in the table", seen, len(relations))
	}
}

// TestDomainMigratesTwice adds a domain, and then two files to it: reads never
// migrate and work on the old version, a write brings the scope to the newest,
// and an older process goes on working.
func TestDomainMigratesTwice(t *testing.T) {
	t.Parallel()
	const second = "ALTER TABLE ?scope.toys ADD COLUMN colour text NOT NULL DEFAULT 'red';"
	const third = "CREATE INDEX toys_colour ON ?scope.toys (colour);"
	url := dbtest.NewURL(t)
	first := dbtest.OpenURL(t, url, db.Options{Domains: toyDomain(toyFirst)})
	putToy(t, first, 7, 1, "one")
	newer := dbtest.OpenURL(t, url, db.Options{Domains: toyDomain(toyFirst, second)})
	// colours is how code reads a column that the newest file added.
	colours := func(d *db.DB) (out string) {
		t.Helper()
		version, err := d.Repo(7).Version(t.Context(), "toys")
		if err != nil {
			t.Fatal(err)
		}
		column := "'red'"
		if version >= 2 {
			column = "colour"
		}
		err = d.Repo(7).List(t.Context(), "toys", func(q bun.IDB) error {
			return q.NewRaw("SELECT string_agg("+column+", ',' ORDER BY id) FROM ?scope.toys").Scan(t.Context(), &out)
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	version := func(d *db.DB, want int) {
		t.Helper()
		info, err := d.Inspect(t.Context(), db.RepoScope(7))
		if err != nil || info.Domains["toys"] != want {
			t.Fatalf("version %d, %v; want %d", info.Domains["toys"], err, want)
		}
	}
	if got := colours(newer); got != "red" {
		t.Errorf("on the old version: %q", got)
	}
	version(newer, 1)
	putToy(t, newer, 7, 2, "two")
	version(newer, 2)
	newest := dbtest.OpenURL(t, url, db.Options{Domains: toyDomain(toyFirst, second, third)})
	if got := colours(newest); got != "red,red" {
		t.Errorf("on the second version: %q", got)
	}
	putToy(t, newest, 7, 3, "three")
	version(newest, 3)
	// The first process knows neither column nor index.
	putToy(t, first, 7, 4, "four")
	version(first, 3)
	if got := colours(newer); got != "red,red,red,red" {
		t.Errorf("the process in between: %q", got)
	}
}
