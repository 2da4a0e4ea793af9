package notifications

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/notificationdb"
)

// keepDone is how long what is done can still be found.
const keepDone = 120 * 24 * time.Hour

// keepWaiting is how long something waits for a person who does not come: as
// long as the log of events.
const keepWaiting = 90 * 24 * time.Hour

// Expire drops what waited too long for people who do not come.
func (s *Service) Expire(ctx context.Context, now time.Time) error {
	return s.DB.InCell(ctx, func(ctx context.Context, tx db.CellTx) error {
		return notificationdb.Expire(ctx, tx, now.Add(-keepWaiting))
	})
}

// take brings what waits into the account's inbox.
func (s *Service) take(ctx context.Context, accountID int64) error {
	waits, err := notificationdb.Waiting(ctx, s.DB.Cell(), accountID)
	for err == nil && waits {
		err = s.DB.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
			return takeTx(ctx, tx)
		})
		if err == nil {
			waits, err = notificationdb.Waiting(ctx, s.DB.Cell(), accountID)
		}
	}
	return err
}

// takeTx takes in a bounded number of deliveries, in the order of the log.
func takeTx(ctx context.Context, tx *db.AccountTx) error {
	list, err := notificationdb.Take(ctx, tx)
	if err != nil || len(list) == 0 {
		return err
	}
	var keys []notificationdb.Thread
	for _, d := range list {
		keys = append(keys, notificationdb.Thread{RepoID: d.Item.RepoID, Kind: d.Item.Kind, Key: d.Item.Key})
	}
	rows, err := notificationdb.Rows(ctx, tx.Account, keys)
	if err != nil {
		return err
	}
	var gone []int64
	for i, d := range list {
		row := rows[keys[i]]
		if d.Item.Gone {
			if row != nil && row.ID != 0 {
				gone = append(gone, row.ID)
			}
			delete(rows, keys[i])
			continue
		}
		if row = merge(row, d); row != nil {
			rows[keys[i]] = row
		}
	}
	changed := make([]*model.Notification, 0, len(rows))
	for _, row := range rows {
		changed = append(changed, row)
	}
	if err := notificationdb.Delete(ctx, tx, gone); err != nil {
		return err
	}
	if len(changed) == 0 {
		return nil
	}
	if err := notificationdb.Save(ctx, tx, changed); err != nil {
		return err
	}
	return notificationdb.Forget(ctx, tx, tx.Now().Add(-keepDone))
}

// merge puts a delivery into the row of its thread; nil when there is no row
// and the delivery makes none. What is older than the row changes no state.
func merge(row *model.Notification, d *model.InboxDelivery) *model.Notification {
	it := &d.Item
	if row == nil {
		if it.Quiet {
			return nil
		}
		row = &model.Notification{RepoID: it.RepoID, Kind: it.Kind, Key: it.Key, AuthorID: it.AuthorID, CreatedAt: it.At}
	}
	if d.Seq > row.Seq {
		row.Seq, row.Title, row.State = d.Seq, it.Title, it.State
		switch it.Turn {
		case model.TurnBegins:
			if row.TurnAt == nil {
				at := it.At
				row.TurnAt = &at
			}
		case model.TurnEnds:
			row.TurnAt = nil
		}
	}
	if it.Quiet {
		return row
	}
	if !row.Unread || row.Reason == "" || stronger(it.Reason, row.Reason) || it.Turn == model.TurnBegins {
		row.Reason = it.Reason
	}
	row.ActorID, row.What, row.CommentID = it.ActorID, it.What, it.CommentID
	if row.UpdatedAt.Before(it.At) {
		row.UpdatedAt = it.At
	}
	if it.DigestAt != nil && (row.DigestAt == nil || it.DigestAt.Before(*row.DigestAt)) {
		row.DigestAt = it.DigestAt
	}
	if it.Hidden {
		if row.ID == 0 && row.DoneAt == nil && !row.Unread {
			at := it.At
			row.DoneAt, row.ReadAt = &at, &at
		}
		return row
	}
	// Done and snoozed rows come back: something that concerns the person
	// happened.
	row.News++
	row.Unread, row.DoneAt, row.SnoozedUntil = true, nil, nil
	return row
}
