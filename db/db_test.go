package db_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/uptrace/bun"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func countSpare(t *testing.T, d *db.DB, sql string, args ...any) int {
	t.Helper()
	var n int
	if err := d.JobsPool().QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestReadOfMissingDomainIsEmptyAndCreatesNothing(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	repo := d.Repo(7)
	err := repo.List(t.Context(), "issues", func(bun.IDB) error { t.Error("ran"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.Find(t.Context(), "issues", func(bun.IDB) error { return nil }); !errors.Is(err, db.ErrNotFound) {
		t.Fatalf("find: %v, want ErrNotFound", err)
	}
	if n := countSpare(t, d, "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'repo%'"); n != 0 {
		t.Fatalf("%d schemas after reads", n)
	}
}

func TestHundredFirstWritersMakeOneDomain(t *testing.T) {
	t.Parallel()
	for _, spares := range []int{0, 2} {
		d := dbtest.OpenWith(t, db.Options{MaxConns: 12})
		if _, err := d.FillSpares(t.Context(), db.RepoKind, spares); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		numbers := make([]int64, 100)
		for i := range numbers {
			wg.Go(func() {
				err := d.InRepo(t.Context(), 7, func(ctx context.Context, tx *db.RepoTx) error {
					q, err := tx.Write(ctx, "issues")
					if err != nil {
						return err
					}
					numbers[i] = tx.NextNumber()
					tx.Count("open_issues", 1)
					_, err = q.NewRaw(`INSERT INTO ?scope.issues (number, id, title, author_id, created_at, updated_at)
						VALUES (?, ?, 'x', 1, ?, ?)`, numbers[i], i+1, tx.Now(), tx.Now()).Exec(ctx)
					if err != nil {
						return err
					}
					return tx.Publish(ctx, db.Event{Type: "issue.opened", Source: "test", RepoID: 7})
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		seen := map[int64]bool{}
		for _, n := range numbers {
			if n < 1 || n > 100 || seen[n] {
				t.Fatalf("number %d given twice or out of range", n)
			}
			seen[n] = true
		}
		counts, err := d.Repo(7).Counts(t.Context())
		if err != nil || counts["open_issues"] != 100 {
			t.Fatalf("counts %v, %v", counts, err)
		}
		if n := countSpare(t, d, "SELECT count(*) FROM events.incoming"); n != 100 {
			t.Fatalf("%d events, want 100", n)
		}
	}
}

func TestRollbackLeavesNeitherRowEventNorJob(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	boom := errors.New("boom")
	err := d.InRepo(t.Context(), 3, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := tx.Write(ctx, "issues"); err != nil {
			return err
		}
		if err := tx.Publish(ctx, db.Event{Type: "issue.opened", Source: "test"}); err != nil {
			return err
		}
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatalf("err = %v", err)
	}
	if n := countSpare(t, d, "SELECT (SELECT count(*) FROM cell.scopes) + (SELECT count(*) FROM events.incoming)"); n != 0 {
		t.Fatalf("%d rows left behind", n)
	}
}

func TestOneStore(t *testing.T) {
	t.Parallel()
	for sql, ok := range map[string]bool{
		`SELECT 1 FROM "repo_1"."issues" JOIN repo_1.timeline USING (number)`: true,
		`SELECT 1 FROM "repo_1"."issues" JOIN "repo_2"."issues" USING (id)`:   false,
		`SELECT 1 FROM "repo_1"."issues" JOIN directory.accounts ON true`:     false,
		`INSERT INTO repo_1.issues VALUES ('see directory.accounts')`:         true,
		`INSERT INTO events.incoming SELECT 1 FROM directory.repos`:           true,
	} {
		if err := dbtest.OneStore(sql); (err == nil) != ok {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
