package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/schema"
	"github.com/uptrace/bun"
)

// toy is a domain that only tests have.
type toy fstest.MapFS

func (f toy) Files(kind db.Kind, domain string) ([]string, error) {
	return schema.FilesOf(fstest.MapFS(f), string(kind)+"/"+domain)
}

const toyFirst = `CREATE TABLE ?scope.boxes (id bigint PRIMARY KEY, label text NOT NULL, tags text[] NOT NULL DEFAULT '{}', data jsonb, raw bytea);
	CREATE TABLE ?scope.toys (id bigint PRIMARY KEY, box bigint NOT NULL REFERENCES ?scope.boxes (id), twice bigint GENERATED ALWAYS AS (box * 2) STORED);
	INSERT INTO ?scope.boxes (id, label) VALUES (-1, 'made with the tables');`

func toyFile(sql string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(sql)} }

func toyDomain(files ...string) toy {
	f := toy{}
	for i, sql := range files {
		f[fmt.Sprintf("repo/toys/%04d_x.sql", i+1)] = toyFile(sql)
	}
	return f
}

func putToy(t *testing.T, d *db.DB, repo, id int64, label string) {
	t.Helper()
	if err := addToy(t.Context(), d, repo, id, label); err != nil {
		t.Fatal(err)
	}
}

func addToy(ctx context.Context, d *db.DB, repo, id int64, label string) error {
	return d.InRepo(ctx, repo, func(ctx context.Context, tx *db.RepoTx) error {
		q, err := tx.Write(ctx, "toys")
		if err != nil {
			return err
		}
		tx.Count("toys", 1)
		tx.NextNumber()
		_, err = q.NewRaw(`INSERT INTO ?scope.boxes (id, label, tags, data, raw) VALUES (?, ?, ARRAY['a,b', '"'], '{"k": "\\\\\\n"}', '\x00ff0a')`, id, label).Exec(ctx)
		if err != nil {
			return err
		}
		_, err = q.NewRaw("INSERT INTO ?scope.toys (id, box) VALUES (?, ?)", id, id).Exec(ctx)
		return err
	})
}

func toys(ctx context.Context, d *db.DB, repo int64) (string, error) {
	var out string
	err := d.Repo(repo).List(ctx, "toys", func(q bun.IDB) error {
		return q.NewRaw(`SELECT coalesce(string_agg(concat_ws('|', t.id, b.label, b.tags, b.data, b.raw, t.twice), ';' ORDER BY t.id), '')
			FROM ?scope.toys t JOIN ?scope.boxes b ON b.id = t.box`).Scan(ctx, &out)
	})
	return out, err
}

func wantToys(t *testing.T, d *db.DB, repo int64, want string) {
	t.Helper()
	if got, err := toys(t.Context(), d, repo); err != nil || got != want {
		t.Fatalf("toys %q, %v; want %q", got, err, want)
	}
}

func state(t *testing.T, d *db.DB, s db.Scope) string {
	t.Helper()
	var out string
	err := d.JobsPool().QueryRow(t.Context(), `SELECT concat_ws(' ', (SELECT state FROM cell.scopes WHERE scope = $1),
		(SELECT count(*) FROM cell.asleep WHERE scope = $1), (SELECT count(*) FROM pg_namespace WHERE nspname = $1))`, s.String()).Scan(&out)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// States of a scope: in the register, parts kept, schemas.
const (
	awake  = "live 0 1"
	asleep = "asleep 1 0"
)

func TestSleepAndWake(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenWith(t, db.Options{Domains: toyDomain(toyFirst)})
	s := db.RepoScope(7)
	putToy(t, d, 7, 1, "tab\there, line\nthere, back\\slash, \\N and ?scope")
	before, err := toys(t.Context(), d, 7)
	if err != nil || !strings.Contains(before, "line\nthere") {
		t.Fatalf("%q, %v", before, err)
	}
	for range 2 {
		if err := d.Sleep(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got := state(t, d, s); got != asleep {
			t.Fatalf("after sleep: %s", got)
		}
	}
	if counts, err := d.Repo(7).Counts(t.Context()); err != nil || counts["toys"] != 1 || state(t, d, s) != asleep {
		t.Fatalf("counters %v, %v: they should not wake", counts, err)
	}
	wantToys(t, d, 7, before)
	if got := state(t, d, s); got != awake {
		t.Fatalf("after a read: %s", got)
	}
	if err := d.Sleep(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	putToy(t, d, 7, 2, "second")
	if got := state(t, d, s); got != awake {
		t.Fatalf("after a write: %s", got)
	}
	if got, err := toys(t.Context(), d, 7); err != nil || !strings.HasPrefix(got, before+";2|second") {
		t.Fatalf("after a write: %q, %v", got, err)
	}
	if err := d.Sleep(t.Context(), db.RepoScope(8)); !errors.Is(err, db.ErrNotFound) {
		t.Fatalf("sleep of nothing: %v", err)
	}
}

func TestSleepOfALargeScopeIsKeptInParts(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenWith(t, db.Options{Domains: toyDomain(toyFirst)})
	err := d.InRepo(t.Context(), 7, func(ctx context.Context, tx *db.RepoTx) error {
		q, err := tx.Write(ctx, "toys")
		if err != nil {
			return err
		}
		// Hashes do not compress below half.
		_, err = q.NewRaw(`INSERT INTO ?scope.boxes (id, label) SELECT i, (SELECT string_agg(md5(i::text || j), '') FROM generate_series(1, 100) j)
			FROM generate_series(1, 12000) i`).Exec(ctx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const sum = "SELECT md5(string_agg(label, '' ORDER BY id)) FROM repo_7.boxes"
	var before, after string
	if err := d.JobsPool().QueryRow(t.Context(), sum).Scan(&before); err != nil {
		t.Fatal(err)
	}
	if err := d.Sleep(t.Context(), db.RepoScope(7)); err != nil {
		t.Fatal(err)
	}
	if n := countSpare(t, d, "SELECT count(*) FROM cell.asleep WHERE scope = 'repo_7'"); n < 2 {
		t.Fatalf("%d parts, want several", n)
	}
	if err := d.Wake(t.Context(), db.RepoScope(7)); err != nil {
		t.Fatal(err)
	}
	if err := d.JobsPool().QueryRow(t.Context(), sum).Scan(&after); err != nil || before != after {
		t.Fatalf("%s became %s, %v", before, after, err)
	}
}

func TestHundredTouchesOfASleepingScope(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenWith(t, db.Options{MaxConns: 12, Domains: toyDomain(toyFirst)})
	s := db.RepoScope(7)
	putToy(t, d, 7, 1000, "first")
	for round := range 3 {
		if err := d.Sleep(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				var err error
				switch {
				case i%10 == 0:
					err = addToy(t.Context(), d, 7, int64(round*100+i), "more")
				case i%10 == 1:
					_, err = d.SleepIdle(t.Context(), s, time.Now().Add(time.Hour))
				default:
					var got string
					if got, err = toys(t.Context(), d, 7); err == nil && !strings.Contains(got, "1000|first") {
						err = fmt.Errorf("read %q", got)
					}
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	if _, err := toys(t.Context(), d, 7); err != nil {
		t.Fatal(err)
	}
	if n := countSpare(t, d, "SELECT count(*) FROM repo_7.boxes"); n != 32 || state(t, d, s) != awake {
		t.Fatalf("%d boxes, %s", n, state(t, d, s))
	}
	if counts, err := d.Repo(7).Counts(t.Context()); err != nil || counts["toys"] != 31 {
		t.Fatalf("counts %v, %v", counts, err)
	}
}

func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	opts := db.Options{Domains: toyDomain(toyFirst)}
	one, two := dbtest.OpenURL(t, url, opts), dbtest.OpenURL(t, url, opts)
	s := db.RepoScope(7)
	putToy(t, one, 7, 1, "first")
	before, err := toys(t.Context(), two, 7)
	if err != nil || before == "" {
		t.Fatalf("%q, %v", before, err)
	}
	// The other process's cached register still says that the tables exist.
	if err := one.Sleep(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	wantToys(t, two, 7, before)
	if err := two.Sleep(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	putToy(t, one, 7, 2, "second")
	if got, err := toys(t.Context(), two, 7); err != nil || !strings.HasPrefix(got, before+";2") {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestCrashAtEachStepOfSleepAndWake(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, step := range []string{"sleep.locked", "sleep.exported", "sleep.written", "sleep.dropped", "wake.imported", "wake.done"} {
		for _, kill := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", step, kill), func(t *testing.T) {
				t.Parallel()
				url, armed := dbtest.NewURL(t), true
				plain := dbtest.OpenURL(t, url, db.Options{Domains: toyDomain(toyFirst)})
				broken := dbtest.OpenURL(t, url, db.Options{Domains: toyDomain(toyFirst), FailPoint: func(at string) error {
					if at != step || !armed {
						return nil
					}
					armed = false
					if kill { // the server ends the connection that is in a transaction
						if n := countSpare(t, plain, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
							WHERE datname = current_database() AND state LIKE 'idle in transaction%'`); n != 1 {
							t.Errorf("%d connections ended", n)
						}
						return nil
					}
					return boom
				}})
				putToy(t, plain, 7, 1, "kept")
				before, err := toys(t.Context(), plain, 7)
				if err != nil {
					t.Fatal(err)
				}
				want, run := awake, func() error { return broken.Sleep(t.Context(), db.RepoScope(7)) }
				if strings.HasPrefix(step, "wake") {
					if err := plain.Sleep(t.Context(), db.RepoScope(7)); err != nil {
						t.Fatal(err)
					}
					want, run = asleep, func() error { _, err := toys(t.Context(), broken, 7); return err }
				}
				if err := run(); err == nil {
					t.Fatal("the step did not fail")
				}
				if got := state(t, plain, db.RepoScope(7)); got != want {
					t.Fatalf("after the crash: %s, want %s", got, want)
				}
				if err := run(); err != nil {
					t.Fatalf("once more: %v", err)
				}
				wantToys(t, plain, 7, before)
			})
		}
	}
}

func TestStrangersWakeOnlySoMany(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenWith(t, db.Options{Domains: toyDomain(toyFirst), StrangerWakes: 2})
	for id := range int64(4) {
		putToy(t, d, id+1, 1, "x")
		if err := d.Sleep(t.Context(), db.RepoScope(id+1)); err != nil {
			t.Fatal(err)
		}
	}
	strange := db.ForStranger(t.Context())
	for id := range int64(2) {
		if _, err := toys(strange, d, id+1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := toys(strange, d, 3); !errors.Is(err, db.ErrAsleep) {
		t.Fatalf("third: %v", err)
	}
	if _, err := toys(strange, d, 1); err != nil {
		t.Fatalf("one that is awake: %v", err)
	}
	if _, err := toys(db.ForPerson(t.Context()), d, 4); err != nil {
		t.Fatalf("somebody signed in: %v", err)
	}
	// What a stranger woke sleeps again after an hour, what a person woke
	// does not.
	if _, err := d.JobsPool().Exec(t.Context(), "UPDATE cell.scopes SET sleep_at = sleep_at - interval '2 hours'"); err != nil {
		t.Fatal(err)
	}
	idle, err := d.Idle(t.Context(), time.Now().Add(-time.Hour), "", 10)
	if err != nil || len(idle) != 2 || idle[0] != db.RepoScope(1) || idle[1] != db.RepoScope(2) {
		t.Fatalf("idle %v, %v", idle, err)
	}
	// A person's reads are noted with the next flush.
	if _, err := toys(db.ForPerson(t.Context()), d, 2); err != nil {
		t.Fatal(err)
	}
	if err := d.FlushTouches(t.Context()); err != nil {
		t.Fatal(err)
	}
	if idle, err = d.Idle(t.Context(), time.Now().Add(-time.Hour), "", 10); err != nil || len(idle) != 1 {
		t.Fatalf("idle %v, %v", idle, err)
	}
	if slept, err := d.SleepIdle(t.Context(), db.RepoScope(2), time.Now().Add(-time.Hour)); err != nil || slept {
		t.Fatalf("slept %v, %v though it was read", slept, err)
	}
	if slept, err := d.SleepIdle(t.Context(), db.RepoScope(1), time.Now().Add(-time.Hour)); err != nil || !slept {
		t.Fatalf("slept %v, %v", slept, err)
	}
}

func TestDomainsMigrateAndAreReadOnTheOldVersion(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	second := "ALTER TABLE ?scope.boxes ADD COLUMN colour text NOT NULL DEFAULT 'red';"
	third := "UPDATE ?scope.boxes SET colour = 'blue' WHERE id = 1; CREATE INDEX boxes_colour ON ?scope.boxes (colour);"
	first := dbtest.OpenURL(t, url, db.Options{Domains: toyDomain(toyFirst)})
	newest := dbtest.OpenURL(t, url, db.Options{Domains: toyDomain(toyFirst, second, third)})
	for id := range int64(2) {
		putToy(t, first, id+1, 1, "old")
	}
	old, err := toys(t.Context(), first, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Sleep(t.Context(), db.RepoScope(2)); err != nil {
		t.Fatal(err)
	}
	for id := range int64(2) {
		// A read migrates nothing, awake or asleep.
		wantToys(t, newest, id+1, old)
		if v, err := newest.Repo(id+1).Version(t.Context(), "toys"); err != nil || v != 1 {
			t.Fatalf("version %d, %v after a read", v, err)
		}
		putToy(t, newest, id+1, 2, "new")
		if v, err := newest.Repo(id+1).Version(t.Context(), "toys"); err != nil || v != 3 {
			t.Fatalf("version %d, %v after a write", v, err)
		}
		if n := countSpare(t, newest, fmt.Sprintf("SELECT count(*) FROM repo_%d.boxes WHERE colour = 'blue'", id+1)); n != 1 {
			t.Fatalf("%d boxes were changed by the migration", n)
		}
	}
	// What slept at a version that this gitfor does not know stays asleep.
	if err := newest.Sleep(t.Context(), db.RepoScope(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := toys(t.Context(), first, 1); err == nil || !strings.Contains(err.Error(), "newer gitfor") {
		t.Fatalf("an older gitfor: %v", err)
	}
	if got := state(t, first, db.RepoScope(1)); got != asleep {
		t.Fatal(got)
	}
}

func TestExportAndImport(t *testing.T) {
	t.Parallel()
	from := dbtest.OpenWith(t, db.Options{Domains: toyDomain(toyFirst)})
	to := dbtest.OpenWith(t, db.Options{Domains: toyDomain(toyFirst)})
	putToy(t, from, 7, 1, "moved")
	want, err := toys(t.Context(), from, 7)
	if err != nil {
		t.Fatal(err)
	}
	var live, slept bytes.Buffer
	if _, err := from.Export(t.Context(), db.RepoScope(7), &live, nil); err != nil {
		t.Fatal(err)
	}
	if err := from.Sleep(t.Context(), db.RepoScope(7)); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Export(t.Context(), db.RepoScope(7), &slept, nil); err != nil {
		t.Fatal(err)
	}
	if state(t, from, db.RepoScope(7)) != asleep {
		t.Fatal("the export woke it")
	}
	for i, b := range [][]byte{live.Bytes(), slept.Bytes()} {
		if err := to.Import(t.Context(), db.RepoScope(9), bytes.NewReader(b), i > 0); err != nil {
			t.Fatal(err)
		}
		wantToys(t, to, 9, want)
	}
	if err := to.Import(t.Context(), db.RepoScope(9), bytes.NewReader(live.Bytes()), false); !errors.Is(err, db.ErrConflict) {
		t.Fatalf("over what is there: %v", err)
	}
	if err := to.Import(t.Context(), db.RepoScope(9), bytes.NewReader(live.Bytes()[:live.Len()-9]), true); err == nil {
		t.Fatal("half an export was taken")
	}
	wantToys(t, to, 9, want)
	putToy(t, to, 9, 2, "next")
}
