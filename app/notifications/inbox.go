package notifications

import (
	"context"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/notificationdb"
	"github.com/gitfor/gitfor/db/repodb"
)

// Counts are how many rows each view of an inbox has.
type Counts struct {
	Inbox, Turn, Unread, Saved, Snoozed, Done int
	// Repos are the rows of the inbox by repository.
	Repos map[int64]int
}

// Counts takes in what waits, prunes what the person may not read any more,
// and counts.
func (s *Service) Counts(ctx context.Context, accountID int64) (*Counts, error) {
	if err := s.take(ctx, accountID); err != nil {
		return nil, err
	}
	tallies, err := notificationdb.Tallies(ctx, s.scope(accountID), time.Now().UTC())
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(tallies))
	for i, t := range tallies {
		ids[i] = t.RepoID
	}
	readable, err := repodb.ReadableIDs(ctx, s.DB.Directory(), ids, accountID)
	if err != nil {
		return nil, err
	}
	c := &Counts{Repos: map[int64]int{}}
	var stale []int64
	for _, t := range tallies {
		if !readable[t.RepoID] {
			stale = append(stale, t.RepoID)
			continue
		}
		c.Inbox += t.Inbox
		c.Turn += t.Turn
		c.Unread += t.Unread
		c.Saved += t.Saved
		c.Snoozed += t.Snoozed
		c.Done += t.Done
		if t.Inbox > 0 {
			c.Repos[t.RepoID] = t.Inbox
		}
	}
	if len(stale) > 0 {
		err = s.DB.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
			return notificationdb.DeleteRepos(ctx, tx, stale)
		})
		if err != nil {
			return nil, err
		}
	}
	s.remember(accountID, c.Unread, badgeTime)
	return c, nil
}

func (s *Service) remember(accountID int64, n int, long time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.unread) >= maxBadges {
		clear(s.unread)
	}
	s.unread[accountID] = badge{n, time.Now().Add(long)}
}

// Unread is the badge: how many rows are unread. From memory where it was
// counted a moment ago and nothing has come since.
func (s *Service) Unread(ctx context.Context, accountID int64) int {
	s.mu.Lock()
	b, ok := s.unread[accountID]
	none := s.known != nil && !s.known[accountID]
	s.mu.Unlock()
	if none {
		return 0
	}
	if ok && time.Now().Before(b.until) {
		return b.n
	}
	empty, err := notificationdb.Empty(ctx, s.DB.Cell(), accountID)
	if err == nil && empty {
		s.remember(accountID, 0, emptyTime)
		return 0
	}
	var c *Counts
	if err == nil {
		c, err = s.Counts(ctx, accountID)
	}
	if err != nil {
		s.Log.WarnContext(ctx, "unread notifications not counted", "account", accountID, "err", err)
		return b.n
	}
	return c.Unread
}

// List returns rows of the inbox. Counts was called before it in the same
// request, so that nothing waits and nothing is there that may not be read.
func (s *Service) List(ctx context.Context, accountID int64, f notificationdb.Filter) (rows []*model.Notification, more bool, err error) {
	f.Now = time.Now().UTC()
	rows, err = notificationdb.List(ctx, s.scope(accountID), f)
	if len(rows) > f.Limit {
		rows, more = rows[:f.Limit], true
	}
	return rows, more, err
}

// Seen marks the notification of a thread as read, because the person opened
// it. It costs nothing where the inbox holds nothing unread.
func (s *Service) Seen(ctx context.Context, viewer *model.Viewer, repo *model.Repo, i *model.Issue) {
	accountID := viewer.ID()
	if s.Unread(ctx, accountID) == 0 {
		return
	}
	t := notificationdb.Thread{RepoID: repo.ID, Kind: i.Kind, Key: strconv.FormatInt(i.Number, 10)}
	rows, err := notificationdb.Rows(ctx, s.scope(accountID), []notificationdb.Thread{t})
	if row := rows[t]; err == nil && row != nil && row.Unread {
		_, err = s.Act(ctx, accountID, []int64{row.ID}, ActRead, time.Time{})
	}
	if err != nil {
		s.Log.WarnContext(ctx, "notification not marked as read", "account", accountID, "err", err)
	}
}
