package involvement_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/involvement"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// until waits until the dashboard of c says, or no longer says, all of these.
func until(t *testing.T, c *apptest.Client, says bool, texts ...string) {
	t.Helper()
	var body string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		body = c.Get("/").OK().Text("main")
		all := true
		for _, text := range texts {
			all = all && strings.Contains(body, text) == says
		}
		if all {
			return
		}
	}
	t.Fatalf("the dashboard says %q; want %v: %v", body, texts, says)
}

// TestDashboard follows an issue from its opening to its end on the dashboards
// of those who have to do with it.
func TestDashboard(t *testing.T) {
	t.Parallel()
	s := apptest.NewWorking(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	repo := dbtest.Repo(t, s.DB, ann.Account, "box", dbtest.RepoOpts{Private: true})
	dbtest.Exec(t, s.DB, "INSERT INTO directory.collaborators (repo_id, account_id, role, created_at) VALUES (?, ?, 'write', now())", repo.ID, bob.Account.ID)
	ann.API(http.MethodPost, "/repos/ann/box/issues", map[string]any{"title": "Secret jam"}).Want(http.StatusCreated)
	until(t, ann, true, "Your issues", "Secret jam", "ann/box#1")
	ann.API(http.MethodPost, "/repos/ann/box/issues/1/assignees", map[string]any{"assignees": []string{"bob"}}).Want(http.StatusCreated)
	until(t, bob, true, "Assigned to you", "Secret jam")
	ann.API(http.MethodPatch, "/repos/ann/box/issues/1", map[string]any{"title": "Secret jelly"}).OK()
	until(t, bob, true, "Secret jelly")

	// What one may no longer read is not there, not even its title.
	dbtest.Exec(t, s.DB, "DELETE FROM directory.collaborators WHERE account_id = ?", bob.Account.ID)
	if body := bob.Get("/").OK().Body; strings.Contains(body, "Secret") || strings.Contains(body, "Assigned") {
		t.Error("the title of an issue that may not be read")
	}
	dbtest.Exec(t, s.DB, "INSERT INTO directory.collaborators (repo_id, account_id, role, created_at) VALUES (?, ?, 'write', now())", repo.ID, bob.Account.ID)
	bob.Get("/").OK().Has("Secret jelly")

	ann.API(http.MethodDelete, "/repos/ann/box/issues/1/assignees", map[string]any{"assignees": []string{"bob"}}).OK()
	until(t, bob, false, "Secret jelly")
	ann.API(http.MethodPatch, "/repos/ann/box/issues/1", map[string]any{"state": "closed"}).OK()
	until(t, ann, false, "Secret jelly")
}

// TestBackfill builds the index anew from the repositories, shows how far it
// is, and does the same when it runs again.
func TestBackfill(t *testing.T) {
	t.Parallel()
	s := apptest.New(t) // events reach nobody
	ann := s.User(t, "ann")
	for _, name := range []string{"one", "two"} {
		dbtest.Repo(t, s.DB, ann.Account, name, dbtest.RepoOpts{})
	}
	for i := range 203 { // more than a page
		ann.API(http.MethodPost, "/repos/ann/one/issues", map[string]any{"title": fmt.Sprint("first ", i)}).Want(http.StatusCreated)
	}
	ann.API(http.MethodPost, "/repos/ann/two/issues", map[string]any{"title": "other"}).Want(http.StatusCreated)
	if body := ann.Get("/").OK().Body; strings.Contains(body, "Your issues") {
		t.Fatal("the index is there without events")
	}
	b := s.App.Involvement.Backfill()
	for range 2 {
		pages := 0
		for cursor := ""; ; pages++ {
			next, _, err := b.Page(t.Context(), cursor)
			if err != nil {
				t.Fatal(err)
			}
			if next == "" {
				break
			}
			cursor = next
		}
		if pages < 4 {
			t.Errorf("%d pages", pages)
		}
		ann.Get("/").OK().Has("Your issues").Has("other").Has(">204<")
	}
}

// TestBackfillRuns shows that the jobs run the backfill by themselves, and again
// when an operator asks.
func TestBackfillRuns(t *testing.T) {
	t.Parallel()
	s := apptest.NewWorking(t)
	ann := s.User(t, "ann")
	finished := func() (at time.Time) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			runs, err := s.App.State.Backfills(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range runs {
				if r.Name == involvement.BackfillName && r.Run != nil && r.Run.FinishedAt != nil {
					return *r.Run.FinishedAt
				}
			}
		}
		t.Fatal("the backfill never finished")
		return at
	}
	first := finished()
	ann.Get("/admin/jobs").OK().Has("involvement").Has("Finished")
	ann.Post("/admin/backfills/involvement/run").Want(http.StatusSeeOther)
	if again := finished(); !again.After(first) {
		t.Error("it did not run again")
	}
	ann.Post("/admin/backfills/nothing/run").Want(http.StatusNotFound)
}
