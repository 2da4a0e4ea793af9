package notifications

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/notificationdb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/riverqueue/river"
)

// crowd is how many watchers one transaction tells.
const crowd = 2000

// Tell makes deliveries of an event, one per person; mail and pushes go out as
// jobs of the same transaction. Calling it again for the same event tells nobody twice.
func (s *Service) Tell(ctx context.Context, e *model.Event) error {
	if e.RepoID == 0 {
		return nil
	}
	repos, err := repodb.ByIDs(ctx, s.DB.Directory(), []int64{e.RepoID})
	if err != nil {
		return err
	}
	repo := repos[e.RepoID]
	if repo == nil {
		return nil
	}
	t, err := read(e, repo)
	if err != nil || t == nil {
		return err
	}
	if err := s.concern(ctx, t); errors.Is(err, db.ErrNotFound) {
		return nil // the scope is gone
	} else if err != nil {
		return err
	}
	direct := slices.Sorted(maps.Keys(t.direct))
	watches, err := notificationdb.WatchesOf(ctx, s.DB.Directory(), repo.ID, direct)
	if err != nil {
		return err
	}
	reasons := map[int64]string{}
	for id, reason := range t.direct {
		w, watching := watches[id]
		switch {
		case watching && w.Level == model.WatchIgnore:
			reason = ""
		case reason == "" && watching && t.watchers && t.wants(w) && id != e.ActorID && !t.ignored[id]:
			reason = model.ToldSubscribed
		}
		reasons[id] = reason
	}
	if err := s.tell(ctx, t, reasons, 0); err != nil || !t.watchers {
		return err
	}
	for part, after := 1, int64(0); ; part++ {
		list, err := notificationdb.WatchersAfter(ctx, s.DB.Directory(), repo.ID, after, crowd)
		if err != nil {
			return err
		}
		reasons := map[int64]string{}
		for _, w := range list {
			after = w.AccountID
			if _, done := t.direct[w.AccountID]; !done && t.wants(w) {
				reasons[w.AccountID] = model.ToldSubscribed
			}
		}
		if err := s.tell(ctx, t, reasons, part); err != nil || len(list) < crowd {
			return err
		}
	}
}

// tell delivers to some people, in one transaction of the cell.
func (s *Service) tell(ctx context.Context, t *told, reasons map[int64]string, part int) error {
	people, err := notificationdb.People(ctx, s.DB.Directory(), t.repo, slices.Sorted(maps.Keys(reasons)))
	if err != nil || len(people) == 0 {
		return err
	}
	now := time.Now().UTC()
	var list []*model.InboxDelivery
	due := map[int64]time.Time{}
	var out []river.InsertManyParams
	for _, p := range people {
		item, mailed, pushed := t.item(p, reasons[p.ID], now)
		if item == nil {
			continue
		}
		if item.DigestAt != nil {
			due[p.ID] = *item.DigestAt
		}
		if mailed {
			out = append(out, river.InsertManyParams{Args: MailArgs{AccountID: p.ID, Seq: t.event.Seq, Reason: reasons[p.ID]},
				InsertOpts: &river.InsertOpts{Queue: MailArgs{}.InsertOpts().Queue}})
		}
		if pushed {
			out = append(out, river.InsertManyParams{Args: PushArgs{AccountID: p.ID, Seq: t.event.Seq},
				InsertOpts: &river.InsertOpts{Queue: PushQueue}})
		}
		list = append(list, &model.InboxDelivery{AccountID: p.ID, EventID: t.event.EventID, Seq: t.event.Seq, Item: *item})
	}
	if len(list) == 0 {
		return nil
	}
	first, once := false, t.event.EventID
	if t.once != "" {
		once = t.once
	}
	err = s.DB.InCell(ctx, func(ctx context.Context, tx db.CellTx) error {
		var err error
		if first, err = tx.Handled(ctx, "notifications/"+strconv.Itoa(part), once); err != nil || !first {
			return err
		}
		if err := notificationdb.Deliver(ctx, tx, list); err != nil {
			return err
		}
		if err := notificationdb.Arm(ctx, tx, due); err != nil {
			return err
		}
		return tx.EnqueueMany(ctx, out)
	})
	if err != nil || !first {
		return err
	}
	ids := make([]int64, len(list))
	for i, d := range list {
		ids[i] = d.AccountID
	}
	s.changed(ctx, ids...)
	return nil
}

// item is what one person is delivered, and whether a mail and pushes go out
// now; nil for nothing.
func (t *told) item(p *notificationdb.Person, reason string, now time.Time) (item *model.InboxItem, mailed, pushed bool) {
	item = &model.InboxItem{RepoID: t.repo.ID, Kind: t.Kind, Key: t.key, Title: t.Title, State: t.state(), AuthorID: t.AuthorID,
		Reason: reason, ActorID: t.event.ActorID, What: t.event.Type, CommentID: t.CommentID, At: t.event.Time}
	switch {
	case !t.visible(p):
		return &model.InboxItem{RepoID: t.repo.ID, Kind: t.Kind, Key: t.key, Gone: true, At: t.event.Time}, false, false
	case t.turn[p.ID] && reason != "":
		item.Turn = model.TurnBegins
	case t.allEnd || t.ends[p.ID]:
		item.Turn = model.TurnEnds
	}
	if reason == "" {
		item.Quiet = true
		return item, false, false
	}
	set := p.Settings()
	ways := set.For(reason)
	pushed = ways.Push && p.Pushes
	if !ways.Web && !ways.Mail && !ways.Digest && !pushed {
		item.Quiet = true
		return item, false, false
	}
	item.Hidden = !ways.Web
	mailed = ways.Mail
	if until := set.HoldUntil(now, p.TimeZone); until.After(now) {
		if mailed {
			item.DigestAt = &until
		}
		mailed, pushed = false, false
	}
	if ways.Digest && !ways.Mail {
		if at := set.NextDigest(now, p.TimeZone); !at.IsZero() {
			item.DigestAt = &at
		}
	}
	return item, mailed, pushed
}
