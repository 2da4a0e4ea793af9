package limits_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/limits"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func used(t *testing.T, r *apptest.Response) int {
	t.Helper()
	n, err := strconv.Atoi(r.Header.Get("X-RateLimit-Used"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCountsOutliveAProcess counts in two instances over one database: each
// knows of the other's requests after both have written, and a new one begins
// with them.
func TestCountsOutliveAProcess(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	one := apptest.Over(t, d)
	ann := one.User(t, "ann")
	two := apptest.Over(t, d, apptest.SameKey(one))
	there := two.Anon()
	there.Token = ann.Token
	for range 5 {
		ann.API(http.MethodGet, "/user", nil).OK()
		there.API(http.MethodGet, "/user", nil).OK()
	}
	here := limits.New(d, one.App.Kit, nil)
	if err := here.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := limits.New(d, two.App.Kit, nil).Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := used(t, there.API(http.MethodGet, "/user", nil)); n != 11 {
		t.Errorf("the second counts %d, want 11", n)
	}
	three := apptest.Over(t, d, apptest.SameKey(one))
	again := three.Anon()
	again.Token = ann.Token
	if n := used(t, again.API(http.MethodGet, "/user", nil)); n < 11 {
		t.Errorf("a new process counts %d, want 11 or more", n)
	}
}

func TestKindsOfCost(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	for range 3 {
		ann.API(http.MethodGet, "/rate_limit", nil).OK()
	}
	r := ann.API(http.MethodGet, "/search/repositories?q=x", nil)
	if r.Header.Get("X-RateLimit-Resource") != "search" || r.Header.Get("X-RateLimit-Limit") != "3000" || used(t, r) != 1 {
		t.Errorf("searching: %v", r.Header)
	}
	r = ann.API(http.MethodGet, "/user", nil).OK()
	if r.Header.Get("X-RateLimit-Resource") != "core" || r.Header.Get("X-RateLimit-Limit") != "15000" || used(t, r) != 1 {
		t.Errorf("reading: %v", r.Header)
	}
	got := ann.API(http.MethodGet, "/rate_limit", nil).OK().JSON()["resources"].(map[string]any)
	if got["search"].(map[string]any)["used"] != float64(1) || got["core"].(map[string]any)["remaining"] != float64(14_999) {
		t.Errorf("limits: %v", got)
	}
}
