package admin_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// TestDeadLetters lists a job that failed for good, tries it again, and
// deletes another.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	s := apptest.NewWorking(t)
	admin, bob := s.User(t, "ann"), s.User(t, "bob")
	dbtest.Exec(t, s.App.DB, "UPDATE directory.users SET admin = (account_id = ?)", admin.Account.ID)
	bob.Get("/admin/jobs").Want(http.StatusNotFound)
	admin.Get("/admin/jobs").OK().Has("No job has failed for good")
	dead := func() {
		t.Helper()
		if _, err := s.App.DB.JobsPool().Exec(t.Context(), `INSERT INTO jobs.river_job (kind, queue, args, max_attempts, attempt, state, finalized_at, errors)
			VALUES ('events.batch', 'g1t-events-webhooks', '{"subscriber": "webhooks.deliver", "at": 1, "from": 1, "to": 1}', 25, 3, 'discarded', now(),
			ARRAY['{"at": "2026-01-02T03:04:05Z", "attempt": 3, "error": "<b>it broke</b>", "trace": ""}'::jsonb])`); err != nil {
			t.Fatal(err)
		}
	}
	dead()
	page := admin.Get("/admin/jobs").OK().Has("&lt;b&gt;it broke&lt;/b&gt;")
	retry, _ := page.Find("form[action$='/retry']").Attr("action")
	admin.Post(retry).Want(http.StatusSeeOther)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if list, err := s.App.DB.DeadLetters(t.Context(), 9); err == nil && len(list) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("still a dead letter")
		}
	}
	dead()
	drop, _ := admin.Get("/admin/jobs").OK().Find("form[action$='/delete']").Attr("action")
	admin.Post(drop).Want(http.StatusSeeOther)
	admin.Get("/admin/jobs").OK().Has("No job has failed for good")
	if err := s.App.DB.Replay(t.Context(), 999_999); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("replay of nothing: %v", err)
	}
}

func TestEventsPage(t *testing.T) {
	t.Parallel()
	s := apptest.NewWorking(t)
	admin := s.User(t, "ann")
	dbtest.Exec(t, s.App.DB, "UPDATE directory.users SET admin = true")
	repo := dbtest.Repo(t, s.App.DB, admin.Account, "box", dbtest.RepoOpts{})
	err := s.App.DB.InRepo(t.Context(), repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: &model.Viewer{Account: admin.Account}}, renamed{})
	})
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		list, err := s.App.Events.List(t.Context(), events.ListInput{RepoID: repo.ID, Limit: 1})
		if err == nil && len(list) == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("not in the log", err)
		}
	}
	admin.Get("/admin/events").OK().Has("ann/box").Has("branch.renamed").Has("webhooks.deliver")
	admin.Get("/admin/events?q=issue.opened").OK().Has("No such event")
}

// renamed stands for an event; its type is one that the catalogue knows.
type renamed struct {
	From string `json:"from"`
	To   string `json:"to"`
}

func (renamed) EventType() string { return "branch.renamed" }
