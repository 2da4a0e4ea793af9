package state_test

import (
	"context"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestIdleScopesSleep(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	d := s.App.DB
	for id := range int64(3) {
		err := d.InRepo(t.Context(), id+1, func(ctx context.Context, tx *db.RepoTx) error {
			_, err := tx.Write(ctx, "issues")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	age := func(scope string, days int) {
		t.Helper()
		_, err := d.JobsPool().Exec(t.Context(), "UPDATE cell.scopes SET touched_at = now() - $2 * interval '1 day' WHERE scope = $1", scope, days)
		if err != nil {
			t.Fatal(err)
		}
	}
	age("repo_1", 61)
	age("repo_2", 59)
	age("repo_3", 61)
	if _, err := d.JobsPool().Exec(t.Context(), "INSERT INTO cell.alarms (scope, due_at) VALUES ('repo_3', now() + interval '1 hour')"); err != nil {
		t.Fatal(err)
	}
	want := func(step string, slept int, states ...string) {
		t.Helper()
		if n, err := s.App.State.SleepIdle(t.Context()); err != nil || n != slept {
			t.Fatalf("%s: %d slept, %v; want %d", step, n, err, slept)
		}
		for i, state := range states {
			info, err := d.Inspect(t.Context(), db.RepoScope(int64(i+1)))
			if err != nil || info.State != state {
				t.Errorf("%s: scope %d is %s, %v; want %s", step, i+1, info.State, err, state)
			}
		}
	}
	want("60 days", 1, "asleep", "live", "live")
	set := func(value string) {
		t.Helper()
		err := s.App.Instance.Change(t.Context(), nil, "", map[string]*string{"state.sleep_days": &value})
		if err != nil {
			t.Fatal(err)
		}
	}
	set("0")
	want("never", 0, "asleep", "live")
	set("30")
	want("30 days", 1, "asleep", "asleep", "live")
	if after, err := s.App.State.SleepAfter(t.Context()); err != nil || after != 30*24*time.Hour {
		t.Fatalf("after %v, %v", after, err)
	}
}
