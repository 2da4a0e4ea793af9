package eventdb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Filter says which events a list holds; fields that are zero do not filter.
type Filter struct {
	RepoID, AccountID int64
	// ActorID leaves only what this account did.
	ActorID int64
	// Types are the types wanted, such as issue.opened, issue.* or * for all;
	// when there are none, Except are prefixes of types to leave out.
	Types, Except []string
	// Hidden, when true, leaves out what is confidential, except what SeenBy
	// wrote or is assigned to.
	Hidden bool
	SeenBy int64
	// After makes the list start behind this event, oldest first; else it
	// is newest first.
	After *model.Event
	// Limit and Offset cut the list.
	Limit, Offset int
}

// List returns events of the log.
func List(ctx context.Context, ev db.Events, f Filter) ([]*model.Event, error) {
	var list []*model.Event
	q := ev.NewSelect().Model(&list).Limit(int64(f.Limit)).Offset(int64(f.Offset))
	if f.RepoID != 0 {
		q = q.Where("e.repo_id = ?", f.RepoID)
	}
	if f.AccountID != 0 {
		q = q.Where("e.account_id = ?", f.AccountID)
	}
	if f.ActorID != 0 {
		q = q.Where("e.actor_id = ?", f.ActorID)
	}
	switch {
	case slices.Contains(f.Types, "*"):
	case len(f.Types) > 0:
		q = q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
			return ofTypes(q, f.Types)
		})
	default:
		for _, prefix := range f.Except {
			q = q.Where("NOT starts_with(e.type, ?)", prefix)
		}
	}
	if f.Hidden {
		q = q.Where("(NOT e.data @> '{\"confidential\": true}' OR e.data @> ? OR e.data @> ?)",
			fmt.Sprintf(`{"authorId": %d}`, f.SeenBy), fmt.Sprintf(`{"assigneeIds": [%d]}`, f.SeenBy))
	}
	if f.After != nil {
		// The time leaves out the partitions before it.
		q = q.Where("e.at >= ? AND e.seq > ?", f.After.At, f.After.Seq).OrderExpr("e.at, e.seq")
	} else {
		q = q.OrderExpr("e.at DESC, e.seq DESC")
	}
	err := q.Scan(ctx)
	return list, db.Map(err)
}

// ofTypes keeps the types that are named, or begin like a name that ends with
// .*.
func ofTypes(q *bun.SelectQuery, types []string) *bun.SelectQuery {
	var whole []string
	for _, t := range types {
		if prefix, ok := strings.CutSuffix(t, ".*"); ok {
			q = q.WhereOr("starts_with(e.type, ?)", prefix+".")
		} else {
			whole = append(whole, t)
		}
	}
	if len(whole) > 0 {
		q = q.WhereOr("e.type IN (?)", bun.List(whole))
	}
	return q
}

// Range returns the events from one place to another, both included, that
// were numbered at that time: a batch of the sequencer.
func Range(ctx context.Context, ev db.Events, at time.Time, from, to int64) ([]*model.Event, error) {
	var list []*model.Event
	err := ev.NewSelect().Model(&list).Where("e.at = ? AND e.seq BETWEEN ? AND ?", at, from, to).OrderExpr("e.seq").Scan(ctx)
	return list, db.Map(err)
}

// ByID returns the event with this id.
func ByID(ctx context.Context, ev db.Events, id string) (*model.Event, error) {
	e := new(model.Event)
	err := ev.NewSelect().Model(e).Where("e.event_id = ?", id).Limit(1).Scan(ctx)
	return e, db.Map(err)
}

// BySeq returns the event at a place, or the nearest one behind it.
func BySeq(ctx context.Context, ev db.Events, seq int64) (*model.Event, error) {
	e := new(model.Event)
	err := ev.NewSelect().Model(e).Where("e.seq >= ?", seq).OrderExpr("e.at, e.seq").Limit(1).Scan(ctx)
	return e, db.Map(err)
}

// Oldest returns the oldest event that the log still has of a repository or
// account, or of all when both are zero.
func Oldest(ctx context.Context, ev db.Events, repoID, accountID int64) (*model.Event, error) {
	first := &model.Event{At: time.Unix(0, 0).UTC()}
	list, err := List(ctx, ev, Filter{RepoID: repoID, AccountID: accountID, After: first, Limit: 1})
	if err == nil && len(list) == 0 {
		return nil, db.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Last returns the place and time up to which the log is numbered.
func Last(ctx context.Context, ev db.Events) (*model.Event, error) {
	e := new(model.Event)
	err := ev.NewRaw("SELECT last, CASE WHEN at = '-infinity' THEN 'epoch' ELSE at END FROM events.seq").Scan(ctx, &e.Seq, &e.At)
	return e, db.Map(err)
}
