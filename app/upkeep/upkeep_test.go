package upkeep_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/git/gittest"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/upkeep"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/upkeepdb"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// fill makes a repository's folder with commits of some size, loose.
func fill(t *testing.T, s *apptest.Server, repo *model.Repo, n int) *gittest.Repo {
	t.Helper()
	g, err := s.App.Repos.Open(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	w := gittest.At(t, g.Path)
	for i := range n {
		w.Commit(gittest.Commit{Message: fmt.Sprint("commit ", i), Files: []gittest.File{gittest.Text(fmt.Sprintf("d%d/f%d", i%7, i), strings.Repeat(fmt.Sprint(i*7919, "\n"), 400))}})
	}
	return w
}

// TestRunsWhenNeeded pushes, in the way of the events, and sees a job that puts
// the folder in order and says what it gained.
func TestRunsWhenNeeded(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	admin := s.User(t, "ann")
	repo := dbtest.Repo(t, s.DB, admin.Account, "box", dbtest.RepoOpts{})
	admin.Get("/admin/git").OK().Has("Nothing needed maintenance yet")
	admin.Get("/admin/git?q=ann/box").OK().Has("it has no folder")
	admin.Get("/admin/git?q=ann/none").Want(http.StatusNotFound)
	w := fill(t, s, repo, 1200)
	push := func(forced bool) {
		t.Helper()
		data := fmt.Sprintf(`{"refs": [{"ref": "refs/heads/main", "forced": %v}], "refs_total": 1}`, forced)
		if err := s.App.Upkeep.OnPush(t.Context(), &model.Event{Type: (repos.Pushed{}).EventType(), RepoID: repo.ID, Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
	}
	jobs := func() (n int) {
		t.Helper()
		if err := s.DB.JobsPool().QueryRow(t.Context(), "SELECT count(*) FROM jobs.river_job WHERE kind = 'git.maintain'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	push(false)
	push(false)
	if n := jobs(); n != 1 {
		t.Fatalf("%d jobs after two pushes, want one that waits", n)
	}
	work := func(why string) *model.GitUpkeep {
		t.Helper()
		if err := s.App.Upkeep.Work(t.Context(), upkeep.Args{RepoID: repo.ID, Why: why}); err != nil {
			t.Fatal(err)
		}
		u, err := upkeepdb.Of(t.Context(), s.DB.Cell(), repo.ID, false)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	u := work(upkeep.WhyPush)
	if got := strings.Join(u.Did, " "); got != "packs commit-graph" || u.FilesAfter >= u.FilesBefore || u.StartedAt == nil || u.Error != "" {
		t.Errorf("first run: %+v", u)
	}
	w.Git("fsck", "--no-dangling")
	first := *u.StartedAt
	if u = work(upkeep.WhyPush); !u.StartedAt.Equal(first) {
		t.Error("a folder that needs nothing was worked on")
	}
	// Commits are dropped: a full repack sets them apart, and a later run is
	// asked for that lets them go.
	w.Git("update-ref", "refs/heads/main", "main~5")
	push(true)
	u = work(upkeep.WhyPush)
	if got := strings.Join(u.Did, " "); !strings.HasPrefix(got, "full repack") || u.FullAt == nil || u.DroppedAt != nil {
		t.Errorf("after a forced push: %+v", u)
	}
	if n := jobs(); n != 2 {
		t.Errorf("%d jobs, want one more that lets the dropped commits go", n)
	}
	admin.Get("/admin/git").OK().Has("ann/box").Has("full repack")
	page := admin.Get("/admin/git?q=ann/box").OK().Has("Packs of unreachable objects")
	action, _ := page.Find("form[action$='/maintain']").Attr("action")
	admin.Post(action).Want(http.StatusSeeOther)
	if n := jobs(); n != 3 {
		t.Errorf("%d jobs after the button", n)
	}
	u = work(upkeep.WhyOperator)
	if !strings.Contains(strings.Join(u.Did, " "), "expiry") {
		t.Errorf("operator's run: %+v", u)
	}
	s.Member(t, "bob").Get("/admin/git").Want(http.StatusNotFound)
}

// TestPoolsKeepEverything lets nothing go of what forks borrow.
func TestPoolsKeepEverything(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	repo := dbtest.Repo(t, s.DB, ann.Account, "box", dbtest.RepoOpts{})
	fill(t, s, repo, 30)
	fork, _, err := s.App.Repos.Fork(t.Context(), &model.Viewer{Account: ann.Account}, repo, repos.ForkInput{Name: "fork"})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.App.Repos.Pools.Open(t.Context(), repo.ID)
	if err != nil {
		t.Fatal(err)
	}
	lost := gittest.At(t, pool.Path).GitIn([]byte("nothing refers to this"), "hash-object", "-w", "--stdin")
	if err := s.App.Upkeep.Work(t.Context(), upkeep.Args{RepoID: repo.ID, Pool: true, Why: upkeep.WhyOperator}); err != nil {
		t.Fatal(err)
	}
	gittest.At(t, pool.Path).Git("cat-file", "-e", lost)
	g, err := s.App.Repos.Open(t.Context(), fork)
	if err != nil {
		t.Fatal(err)
	}
	gittest.At(t, g.Path).Git("fsck")
	if u, err := upkeepdb.Of(t.Context(), s.DB.Cell(), repo.ID, true); err != nil || u.StartedAt == nil || time.Since(*u.StartedAt) > time.Hour {
		t.Errorf("pool: %+v %v", u, err)
	}
}
