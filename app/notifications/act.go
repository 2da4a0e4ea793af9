package notifications

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/notificationdb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// What can be done to rows of an inbox.
const (
	ActRead        = "read"
	ActUnread      = "unread"
	ActDone        = "done"
	ActMove        = "inbox" // back into the inbox
	ActSave        = "save"
	ActUnsave      = "unsave"
	ActSnooze      = "snooze"
	ActUnsubscribe = "unsubscribe"
)

// maxActs bounds the rows of one action.
const maxActs = 200

// before is what a row was, for undoing.
type before struct {
	ID      int64      `json:"i"`
	Unread  bool       `json:"u,omitempty"`
	Saved   bool       `json:"s,omitempty"`
	News    int        `json:"n,omitempty"`
	TurnAt  *time.Time `json:"t,omitempty"`
	DoneAt  *time.Time `json:"d,omitempty"`
	Snoozed *time.Time `json:"z,omitempty"`
	ReadAt  *time.Time `json:"r,omitempty"`
}

// Act does something to rows of a person's inbox and returns what undoes it.
// until is for ActSnooze. Rows that are gone are left out.
func (s *Service) Act(ctx context.Context, accountID int64, ids []int64, action string, until time.Time) (undo string, err error) {
	switch {
	case len(ids) == 0:
		return "", fault.New(fault.Invalid, "Choose at least one notification.")
	case len(ids) > maxActs:
		return "", fault.New(fault.Invalid, fmt.Sprintf("At most %d notifications at once.", maxActs))
	case action == ActSnooze && !until.After(time.Now()):
		return "", fault.New(fault.Invalid, "Choose a time that is still to come.")
	case !slices.Contains([]string{ActRead, ActUnread, ActDone, ActMove, ActSave, ActUnsave, ActSnooze, ActUnsubscribe}, action):
		return "", fault.New(fault.Invalid, "Choose what to do with them.")
	}
	var was []before
	var rows []*model.Notification
	err = s.DB.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		was = was[:0]
		rows, err = notificationdb.List(ctx, tx.Account, notificationdb.Filter{IDs: ids, Limit: maxActs})
		if err != nil {
			return err
		}
		for _, n := range rows {
			was = append(was, before{n.ID, n.Unread, n.Saved, n.News, n.TurnAt, n.DoneAt, n.SnoozedUntil, n.ReadAt})
			act(n, action, tx.Now(), until)
		}
		if action == ActSnooze {
			if err := tx.Arm(ctx, until); err != nil {
				return err
			}
		}
		return notificationdb.Save(ctx, tx, rows)
	})
	if err != nil {
		return "", err
	}
	if action == ActUnsubscribe {
		for _, n := range rows {
			if err := s.Ignore(ctx, accountID, n.RepoID, n.Key); err != nil {
				return "", err
			}
		}
	}
	s.changed(ctx, accountID)
	return s.sealUndo(accountID, was)
}

func act(n *model.Notification, action string, now, until time.Time) {
	read := func() { n.Unread, n.News, n.ReadAt = false, 0, &now }
	switch action {
	case ActRead:
		read()
	case ActUnread:
		n.Unread, n.DoneAt = true, nil
		if n.News == 0 {
			n.News = 1
		}
	case ActDone, ActUnsubscribe:
		read()
		n.DoneAt, n.TurnAt, n.SnoozedUntil = &now, nil, nil
	case ActMove:
		n.DoneAt, n.SnoozedUntil = nil, nil
	case ActSave:
		n.Saved = true
	case ActUnsave:
		n.Saved = false
	case ActSnooze:
		n.SnoozedUntil = &until
	}
}

const undoPurpose = "undo of inbox actions"

func (s *Service) sealUndo(accountID int64, was []before) (string, error) {
	text, err := json.Marshal(was)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.Ring.Seal(fmt.Sprint(undoPurpose, accountID), text)), nil
}

// Undo brings rows back to what they were before Act.
func (s *Service) Undo(ctx context.Context, accountID int64, undo string) error {
	var was []before
	sealed, err := base64.RawURLEncoding.DecodeString(undo)
	if err == nil {
		var text []byte
		if text, err = s.Ring.Open(fmt.Sprint(undoPurpose, accountID), sealed); err == nil {
			err = json.Unmarshal(text, &was)
		}
	}
	if err != nil {
		return fault.New(fault.BadRequest, "This cannot be undone any more.")
	}
	ids := make([]int64, len(was))
	for i, b := range was {
		ids[i] = b.ID
	}
	if len(ids) == 0 {
		return nil
	}
	err = s.DB.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		rows, err := notificationdb.List(ctx, tx.Account, notificationdb.Filter{IDs: ids, Limit: maxActs})
		if err != nil {
			return err
		}
		for _, n := range rows {
			b := was[slices.IndexFunc(was, func(b before) bool { return b.ID == n.ID })]
			n.Unread, n.Saved, n.News, n.TurnAt, n.DoneAt, n.SnoozedUntil, n.ReadAt = b.Unread, b.Saved, b.News, b.TurnAt, b.DoneAt, b.Snoozed, b.ReadAt
		}
		return notificationdb.Save(ctx, tx, rows)
	})
	if err == nil {
		s.changed(ctx, accountID)
	}
	return err
}

// ReadAll marks what came until a time as read: all of it, or one
// repository's.
func (s *Service) ReadAll(ctx context.Context, accountID, repoID int64, until time.Time) error {
	if err := s.take(ctx, accountID); err != nil {
		return err
	}
	for {
		rows, more, err := s.List(ctx, accountID, notificationdb.Filter{View: notificationdb.ViewUnread, RepoID: repoID, Before: until, Limit: maxActs})
		if err != nil || len(rows) == 0 {
			return err
		}
		ids := make([]int64, len(rows))
		for i, n := range rows {
			ids[i] = n.ID
		}
		if _, err := s.Act(ctx, accountID, ids, ActRead, time.Time{}); err != nil || !more {
			return err
		}
	}
}

// Ignore keeps that a person wants to hear nothing more of a thread.
func (s *Service) Ignore(ctx context.Context, accountID, repoID int64, key string) error {
	return s.choose(ctx, accountID, repoID, key, &threaddb.Subscription{Ignored: true})
}

// choose keeps what a person chose for a thread; nil forgets it.
func (s *Service) choose(ctx context.Context, accountID, repoID int64, key string, sub *threaddb.Subscription) error {
	number, err := number(key)
	if err != nil {
		return nil //nolint:nilerr // a release is no thread: there is nothing to follow
	}
	return s.DB.InRepo(ctx, repoID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := threaddb.Find(ctx, tx.Repo, number); err != nil {
			return err
		}
		if sub != nil {
			return threaddb.Subscribe(ctx, tx, number, accountID, *sub)
		}
		return threaddb.Unsubscribe(ctx, tx, number, accountID)
	})
}
