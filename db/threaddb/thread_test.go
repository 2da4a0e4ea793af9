package threaddb_test

import (
	"context"
	"sync"
	"testing"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func open(ctx context.Context, tx *db.RepoTx, title string) (*model.Issue, error) {
	id, err := tx.NextID(ctx)
	if err != nil {
		return nil, err
	}
	i := &model.Issue{Number: tx.NextNumber(), ID: id, Kind: model.KindIssue, Title: title, State: model.StateOpen,
		AuthorID: 1, Version: 1, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
	tx.Count("open_issues", 1)
	return i, threaddb.Insert(ctx, tx, i)
}

// A hundred transactions at once, a third of which fail after taking a
// number, leave numbers without a gap and without a double.
func TestNumbers(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	repo := dbtest.Repo(t, d, dbtest.User(t, d, "ada"), "engine", dbtest.RepoOpts{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int64]bool{}
	for n := range 100 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var number int64
			err := d.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
				i, err := open(ctx, tx, "x")
				if err != nil {
					return err
				}
				number = i.Number
				if n%3 == 0 {
					cancel()
				}
				return ctx.Err()
			})
			if n%3 == 0 {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil || seen[number] {
				t.Errorf("number %d again, or %v", number, err)
			}
			seen[number] = true
		})
	}
	wg.Wait()
	for n := range int64(len(seen)) {
		if !seen[n+1] {
			t.Errorf("no number %d", n+1)
		}
	}
	counts, err := d.Repo(repo.ID).Counts(t.Context())
	if err != nil || counts["open_issues"] != int64(len(seen)) {
		t.Errorf("counted %v, %v", counts, err)
	}
}

func TestTimelineWindow(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	repo := dbtest.Repo(t, d, dbtest.User(t, d, "ada"), "engine", dbtest.RepoOpts{})
	err := d.InRepo(t.Context(), repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := open(ctx, tx, "x"); err != nil {
			return err
		}
		var items []*model.TimelineItem
		for range 30 {
			items = append(items, &model.TimelineItem{Number: 1, Kind: model.ItemComment, AuthorID: 1, Body: "y", Refs: []int64{1, 99}})
		}
		items = append(items, &model.TimelineItem{Number: 1, Kind: model.ItemLocked, AuthorID: 1, Data: model.TimelineData{Reason: "spam"}})
		return threaddb.Append(ctx, tx, items...)
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		w            threaddb.Window
		want, hidden int
	}{
		"all":      {threaddb.Window{}, 31, 0},
		"comments": {threaddb.Window{Kinds: []string{model.ItemComment}}, 30, 0},
		"ends":     {threaddb.Window{Head: 10, Tail: 5}, 15, 16},
		"overlap":  {threaddb.Window{Head: 20, Tail: 20}, 31, 0},
		"tail":     {threaddb.Window{Tail: 3}, 3, 28},
	} {
		items, hidden, err := threaddb.Timeline(t.Context(), d.Repo(repo.ID), 1, c.w)
		if err != nil || len(items) != c.want || hidden != c.hidden {
			t.Errorf("%s: %d items, %d hidden, %v", name, len(items), hidden, err)
			continue
		}
		for i := 1; i < len(items); i++ {
			if items[i-1].ID >= items[i].ID {
				t.Errorf("%s: not in order at %d", name, i)
			}
		}
		if name == "tail" && items[2].Data.Reason != "spam" {
			t.Errorf("tail ends with %+v", items[2])
		}
	}
	c, err := threaddb.LoadContext(t.Context(), d.Repo(repo.ID), 1, 1)
	if err != nil || len(c.Known) != 1 || c.Known[1].Title != "x" || c.Counts["open_issues"] != 1 {
		t.Errorf("context %+v, %v", c, err)
	}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	repo := dbtest.Repo(t, d, dbtest.User(t, d, "ada"), "engine", dbtest.RepoOpts{})
	err := d.InRepo(t.Context(), repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		for n := range int64(12) {
			if _, err := open(ctx, tx, "x"); err != nil {
				return err
			}
			if err := threaddb.Subscribe(ctx, tx, n+1, 7, threaddb.Subscription{Ignored: n%2 == 0}); err != nil {
				return err
			}
			if err := threaddb.KeepEdit(ctx, tx, n+1, 0, model.Edit{By: 7, Version: 1, Body: "old"}); err != nil {
				return err
			}
		}
		return threaddb.Delete(ctx, tx, 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	h := d.Repo(repo.ID)
	if s, err := threaddb.Subscriptions(t.Context(), h, 1); err != nil || len(s) != 0 {
		t.Errorf("a deleted thread's subscriptions: %v, %v", s, err)
	}
	if s, err := threaddb.Subscriptions(t.Context(), h, 11); err != nil || !s[7].Ignored {
		t.Errorf("subscriptions of 11: %v, %v", s, err)
	}
	if e, err := threaddb.Edits(t.Context(), h, 12, 0); err != nil || len(e) != 1 || e[0].Body != "old" {
		t.Errorf("edits %v, %v", e, err)
	}
	if p, err := threaddb.Participants(t.Context(), h, 12); err != nil || len(p) != 1 {
		t.Errorf("participants %v, %v", p, err)
	}
}
