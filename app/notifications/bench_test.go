package notifications_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/notificationdb"
)

// BenchmarkInbox shows the first page of an inbox of 10,000 rows.
func BenchmarkInbox(b *testing.B) {
	s := apptest.New(b)
	ann := s.User(b, "ann")
	var repos []*model.Repo
	for i := range 20 {
		repos = append(repos, dbtest.Repo(b, s.DB, ann.Account, "r"+strconv.Itoa(i), dbtest.RepoOpts{}))
	}
	err := s.DB.InAccount(b.Context(), ann.Account.ID, func(ctx context.Context, tx *db.AccountTx) error {
		for part := range 10 {
			var rows []*model.Notification
			for i := range 1000 {
				n := part*1000 + i
				at := tx.Now().Add(-time.Duration(n) * time.Minute)
				row := &model.Notification{RepoID: repos[n%len(repos)].ID, Kind: model.KindIssue, Key: strconv.Itoa(n), Title: "Issue " + strconv.Itoa(n),
					State: "open", Reason: model.ToldSubscribed, What: "issue.opened", Unread: n%3 == 0, Seq: int64(n), CreatedAt: at, UpdatedAt: at}
				if n%50 == 0 {
					row.TurnAt = &at
				}
				rows = append(rows, row)
			}
			if err := notificationdb.Save(ctx, tx, rows); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	dbtest.Exec(b, s.DB, "ANALYZE")
	for b.Loop() {
		ann.Get("/notifications").OK()
	}
}

// BenchmarkFanOut tells 1,000 watchers of one event.
func BenchmarkFanOut(b *testing.B) {
	s := apptest.New(b)
	ann := s.User(b, "ann")
	ann.API("POST", "/user/repos", map[string]any{"name": "engine"}).Want(201)
	dbtest.Exec(b, s.DB, `INSERT INTO directory.accounts (kind, name, name_key, created_at, updated_at)
		SELECT 'user', 'w' || i, 'w' || i, now(), now() FROM generate_series(1, 1000) i`)
	dbtest.Exec(b, s.DB, `INSERT INTO directory.users (account_id, email) SELECT id, name || '@example.com' FROM directory.accounts WHERE name LIKE 'w%'`)
	dbtest.Exec(b, s.DB, `INSERT INTO directory.watches (repo_id, account_id, level, created_at)
		SELECT r.id, a.id, 'all', now() FROM directory.repos r, directory.accounts a WHERE a.name LIKE 'w%'`)
	dbtest.Exec(b, s.DB, "ANALYZE")
	ann.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "It smokes"}).Want(201)
	var list []*model.Event
	var repoID int64
	if err := s.DB.Directory().NewRaw("SELECT id FROM directory.repos").Scan(b.Context(), &repoID); err != nil {
		b.Fatal(err)
	}
	for _, e := range dbtest.Events(b.Context(), b, s.DB) {
		if e.Type == "issue.opened" {
			list = append(list, &model.Event{Seq: 1, At: time.Now(), EventID: e.EventID, Type: e.Type, Time: time.Now(), RepoID: repoID, ActorID: ann.Account.ID, Data: e.Data})
		}
	}
	if len(list) != 1 {
		b.Fatalf("%d events", len(list))
	}
	n := 0
	for b.Loop() {
		n++
		e := *list[0]
		e.EventID = fmt.Sprintf("evt_bench_%d", n)
		if err := s.App.Notifications.Tell(b.Context(), &e); err != nil {
			b.Fatal(err)
		}
	}
	var got int
	if err := s.DB.Directory().NewRaw("SELECT count(*) FROM cell.deliveries").Scan(b.Context(), &got); err != nil || got < 1000*n {
		b.Fatalf("%d deliveries, %v", got, err)
	}
}

// BenchmarkSearch asks the palette among 100,000 accounts.
func BenchmarkSearch(b *testing.B) {
	s := apptest.New(b)
	ann := s.User(b, "ann")
	dbtest.Exec(b, s.DB, `INSERT INTO directory.accounts (kind, name, name_key, display_name, created_at, updated_at)
		SELECT 'user', n, n, initcap(n), now(), now() FROM (SELECT substr(md5(i::text), 1, 4 + i % 9) || i AS n FROM generate_series(1, 100000) i) x`)
	dbtest.Exec(b, s.DB, "ANALYZE")
	for _, q := range []string{"c4", "c4ca", "annn", "zzqqxx"} {
		b.Run(q, func(b *testing.B) {
			for b.Loop() {
				ann.HTMX("/-/palette?q="+q+"&at=/", "").OK()
			}
		})
	}
}
