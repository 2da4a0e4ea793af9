package instance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/instance"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func to(s string) *string { return &s }

// TestChangeReachesOthers changes a setting in one process and sees it in the
// other, as a restart would.
func TestChangeReachesOthers(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	open := func() *instance.Service {
		d := dbtest.OpenURL(t, url, db.Options{})
		s, err := instance.New(t.Context(), instance.Deps{DB: d})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Bus().Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Bus().Stop(t.Context()) })
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Stop(t.Context()) })
		return s
	}
	one, two := open(), open()
	if got := two.Get(t.Context()); got != instance.Defaults() {
		t.Fatalf("a new instance has %+v", got)
	}
	if err := one.Change(t.Context(), nil, "127.0.0.1", map[string]*string{"limits.hourly_requests": to("99")}); err != nil {
		t.Fatal(err)
	}
	if got := one.Get(t.Context()).HourlyRequests; got != 99 {
		t.Errorf("the process that changed it has %d", got)
	}
	for end := time.Now().Add(20 * time.Second); two.Get(t.Context()).HourlyRequests != 99; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the other process never learnt of it")
		}
	}
	if err := one.Change(t.Context(), nil, "", map[string]*string{"limits.hourly_requests": nil}); err != nil {
		t.Fatal(err)
	}
	if got := one.Get(t.Context()); got != instance.Defaults() {
		t.Errorf("after the reset: %+v", got)
	}
	history, err := one.History(t.Context(), 10)
	if err != nil || len(history) != 2 || string(history[1].Before) != `"15000"` || string(history[1].After) != `"99"` || history[1].Remote != "127.0.0.1" {
		t.Errorf("history %+v, %v", history, err)
	}
}

func TestEnvironmentComesFirst(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	env := map[string]string{"GITFOR_STATE_SLEEP_DAYS": "7"}
	look := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	s, err := instance.New(t.Context(), instance.Deps{DB: d, Env: look})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Get(t.Context()).SleepAfterDays; got != 7 {
		t.Errorf("%d days", got)
	}
	err = s.Change(t.Context(), nil, "", map[string]*string{"state.sleep_days": to("9")})
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "GITFOR_STATE_SLEEP_DAYS") {
		t.Errorf("changed over the environment: %v", err)
	}
	env["GITFOR_STATE_SLEEP_DAYS"] = "soon"
	if _, err := instance.New(t.Context(), instance.Deps{DB: d, Env: look}); err == nil {
		t.Error("started with a number that is none")
	}
}

func TestRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	s, err := instance.New(t.Context(), instance.Deps{DB: dbtest.Open(t)})
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"signup.mode": "perhaps", "state.sleep_days": "-1", "limits.hourly_requests": "1",
		"site.announcement": strings.Repeat("x", 501), "no.such": "1"} {
		err := s.Change(t.Context(), nil, "", map[string]*string{key: &value, "state.deleted_keep_days": to("5")})
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s = %.20q: %v", key, value, err)
		}
	}
	if got, err := s.Load(t.Context()); err != nil || got != instance.Defaults() {
		t.Errorf("something was changed: %+v, %v", got, err)
	}
}

// TestTable holds what every line of the table needs.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, set := range instance.Table() {
		if seen[set.Key] || set.Label == "" || set.Section == "" || set.Doc == "" {
			t.Errorf("%s is incomplete or stands twice", set.Key)
		}
		seen[set.Key] = true
		if why := set.Check(set.Default); why != "" {
			t.Errorf("the default of %s: %s", set.Key, why)
		}
	}
}
