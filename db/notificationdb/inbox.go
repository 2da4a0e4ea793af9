package notificationdb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Domain is the domain of inboxes in an account's scope.
const Domain = "inbox"

// Thread names what a notification is about.
type Thread struct {
	RepoID    int64
	Kind, Key string
}

// Rows returns the rows of threads, by thread.
func Rows(ctx context.Context, account db.Account, threads []Thread) (map[Thread]*model.Notification, error) {
	out := map[Thread]*model.Notification{}
	if len(threads) == 0 {
		return out, nil
	}
	keys := make([]string, len(threads))
	repos := make([]int64, len(threads))
	for i, t := range threads {
		repos[i], keys[i] = t.RepoID, t.Kind+"/"+t.Key
	}
	var rows []*model.Notification
	err := account.List(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).Where("repo_id IN (?)", bun.List(repos)).Where("kind || '/' || key IN (?)", bun.List(keys)).Scan(ctx)
	})
	for _, r := range rows {
		out[Thread{r.RepoID, r.Kind, r.Key}] = r
	}
	return out, err
}

// Save writes rows, new ones and changed ones, and counts what is unread.
func Save(ctx context.Context, tx *db.AccountTx, rows []*model.Notification) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.ID == 0 {
			if r.ID, err = tx.NextID(ctx); err != nil {
				return err
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	ins := q.NewInsert().Model(&rows).On("CONFLICT (id) DO UPDATE").Returning("NULL")
	for _, c := range []string{"title", "state", "reason", "actor_id", "what", "comment_id", "news", "unread", "saved", "turn_at",
		"snoozed_until", "done_at", "read_at", "digest_at", "seq", "updated_at"} {
		ins.Set("? = EXCLUDED.?", bun.Ident(c), bun.Ident(c))
	}
	_, err = ins.Exec(ctx)
	return db.Map(err)
}

// Delete removes the rows of these ids.
func Delete(ctx context.Context, tx *db.AccountTx, ids []int64) error {
	return remove(ctx, tx, "id IN (?)", ids)
}

// DeleteRepos removes the rows of repositories.
func DeleteRepos(ctx context.Context, tx *db.AccountTx, repoIDs []int64) error {
	return remove(ctx, tx, "repo_id IN (?)", repoIDs)
}

func remove(ctx context.Context, tx *db.AccountTx, where string, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.Notification)(nil)).Where(where, bun.List(ids)).Exec(ctx)
	return db.Map(err)
}

// Forget removes what was done before a time and is not saved.
func Forget(ctx context.Context, tx *db.AccountTx, before time.Time) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewDelete().Model((*model.Notification)(nil)).Where("done_at < ? AND NOT saved", before).Exec(ctx)
	return db.Map(err)
}

// The views of an inbox.
const (
	ViewInbox   = "inbox"
	ViewTurn    = "turn"
	ViewUnread  = "unread"
	ViewSaved   = "saved"
	ViewSnoozed = "snoozed"
	ViewDone    = "done"
)

// Filter chooses rows of an inbox.
type Filter struct {
	View   string
	RepoID int64
	Reason string
	Kind   string
	// Text is a part of the title.
	Text string
	// All includes what is read (for the API); Participating leaves out what
	// came by watching alone.
	All, Participating bool
	Since, Before      time.Time
	// NoTurn leaves out what waits for the person.
	NoTurn bool
	// IDs restricts to these rows.
	IDs []int64
	// After is the last row of the page before.
	After *model.Notification
	Now   time.Time
	Limit int
	// Offset is for the API's pages.
	Offset int
}

// where is a view as a condition; ? is now.
func where(view string) string {
	const here, awake = "done_at IS NULL", "(snoozed_until IS NULL OR snoozed_until <= ?)"
	switch view {
	case ViewTurn:
		return here + " AND turn_at IS NOT NULL AND " + awake
	case ViewUnread:
		return here + " AND unread AND " + awake
	case ViewSaved:
		return "saved AND ?::timestamptz IS NOT NULL"
	case ViewSnoozed:
		return here + " AND snoozed_until > ?"
	case ViewDone:
		return "done_at IS NOT NULL AND ?::timestamptz IS NOT NULL"
	}
	return here + " AND " + awake
}

func (f *Filter) apply(s *bun.SelectQuery) *bun.SelectQuery {
	if f.View != "" {
		s = s.Where("("+where(f.View)+")", f.Now)
	}
	if f.RepoID != 0 {
		s = s.Where("repo_id = ?", f.RepoID)
	}
	if f.Reason != "" {
		s = s.Where("reason = ?", f.Reason)
	}
	if f.Kind != "" {
		s = s.Where("kind = ?", f.Kind)
	}
	if f.Text != "" {
		s = s.Where("strpos(lower(title), ?) > 0", model.Key(f.Text))
	}
	if f.Participating {
		s = s.Where("reason <> ?", model.ToldSubscribed)
	}
	if f.NoTurn {
		s = s.Where("turn_at IS NULL")
	}
	if !f.Since.IsZero() {
		s = s.Where("updated_at >= ?", f.Since)
	}
	if !f.Before.IsZero() {
		s = s.Where("updated_at <= ?", f.Before)
	}
	if f.IDs != nil {
		s = s.Where("id IN (?)", bun.List(f.IDs))
	}
	return s
}

// List returns rows, the newest first, or in the view of turns the one that
// waits longest first. It asks for one more than Limit.
func List(ctx context.Context, account db.Account, f Filter) ([]*model.Notification, error) {
	var rows []*model.Notification
	err := account.List(ctx, Domain, func(q bun.IDB) error {
		s := f.apply(q.NewSelect().Model(&rows)).Limit(int64(f.Limit) + 1).Offset(int64(f.Offset))
		switch {
		case f.View == ViewTurn:
			s = s.OrderExpr("turn_at, id")
		default:
			s = s.OrderExpr("updated_at DESC, id DESC")
			if f.After != nil {
				s = s.Where("(updated_at, id) < (?, ?)", f.After.UpdatedAt, f.After.ID)
			}
		}
		return s.Scan(ctx)
	})
	return rows, err
}

// ByID returns one row.
func ByID(ctx context.Context, account db.Account, id int64) (*model.Notification, error) {
	n := new(model.Notification)
	err := account.Find(ctx, Domain, func(q bun.IDB) error { return q.NewSelect().Model(n).Where("id = ?", id).Scan(ctx) })
	return n, err
}

// Tally is how many rows of a repository are in each view.
type Tally struct {
	RepoID  int64 `bun:"repo_id"`
	Inbox   int   `bun:"inbox"`
	Turn    int   `bun:"turn"`
	Unread  int   `bun:"unread"`
	Saved   int   `bun:"saved"`
	Snoozed int   `bun:"snoozed"`
	Done    int   `bun:"done"`
}

// Tallies counts the views by repository.
func Tallies(ctx context.Context, account db.Account, now time.Time) ([]Tally, error) {
	var out []Tally
	err := account.List(ctx, Domain, func(q bun.IDB) error {
		s := q.NewSelect().Model((*model.Notification)(nil)).Column("repo_id").Group("repo_id")
		for _, v := range []string{ViewInbox, ViewTurn, ViewUnread, ViewSaved, ViewSnoozed, ViewDone} {
			s = s.ColumnExpr("count(*) FILTER (WHERE "+where(v)+") AS "+v, now)
		}
		return s.Scan(ctx, &out)
	})
	return out, err
}

// Woken returns the rows whose snooze is over, and when the next one ends.
func Woken(ctx context.Context, account db.Account, now time.Time) (rows []*model.Notification, next time.Time, err error) {
	err = account.List(ctx, Domain, func(q bun.IDB) error {
		var all []*model.Notification
		if err := q.NewSelect().Model(&all).Where("snoozed_until IS NOT NULL").OrderExpr("snoozed_until").Limit(1000).Scan(ctx); err != nil {
			return err
		}
		rows, next = nil, time.Time{}
		for _, n := range all {
			if n.SnoozedUntil.After(now) {
				next = *n.SnoozedUntil
				break
			}
			rows = append(rows, n)
		}
		return nil
	})
	return rows, next, err
}

// Due returns the rows whose digest is due, and when the next one is.
func Due(ctx context.Context, account db.Account, now time.Time, limit int) (rows []*model.Notification, next time.Time, err error) {
	err = account.List(ctx, Domain, func(q bun.IDB) error {
		rows, next = nil, time.Time{}
		if err := q.NewSelect().Model(&rows).Where("digest_at <= ?", now).OrderExpr("updated_at DESC, id DESC").Limit(int64(limit)).Scan(ctx); err != nil {
			return err
		}
		var at *time.Time
		if err := q.NewSelect().Model((*model.Notification)(nil)).ColumnExpr("min(digest_at)").Where("digest_at > ?", now).Scan(ctx, &at); err != nil {
			return err
		}
		if at != nil {
			next = *at
		}
		return nil
	})
	return rows, next, err
}

// Settle takes the mark of the digest from the rows that are due, and says how
// many they were.
func Settle(ctx context.Context, tx *db.AccountTx, now time.Time) (int64, error) {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return 0, err
	}
	res, err := q.NewUpdate().Model((*model.Notification)(nil)).Set("digest_at = NULL").Where("digest_at <= ?", now).Exec(ctx)
	if err != nil {
		return 0, db.Map(err)
	}
	return res.RowsAffected()
}

// Wake brings back the rows whose snooze is over, unread and on top.
func Wake(ctx context.Context, tx *db.AccountTx, now time.Time) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewUpdate().Model((*model.Notification)(nil)).Set("snoozed_until = NULL, unread = true, news = greatest(news, 1), updated_at = ?", now).
		Where("snoozed_until <= ?", now).Exec(ctx)
	return db.Map(err)
}
