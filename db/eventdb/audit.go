package eventdb

import (
	"context"
	"strings"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// AuditFilter says which entries of the audit log a list holds; fields that
// are zero do not filter.
type AuditFilter struct {
	// AccountID or RepoID is whose log it is; PersonID is a person's: what
	// they did, and what was done to their account.
	AccountID, RepoID, PersonID int64
	// Actions are names, or beginnings of names that end with *.
	Actions []string
	// Actor is a name, Text a part of what the entry is about.
	Actor, Text, Remote string
	// From and Until bound the time: from included, until excluded.
	From, Until time.Time
	// Before and After are the ids between which the list lies. With Oldest
	// it begins with the oldest entry.
	Before, After int64
	Oldest        bool
	Limit         int
}

// Audit lists entries of the audit log, newest first unless the filter says
// otherwise.
func Audit(ctx context.Context, ev db.Events, f AuditFilter) ([]*model.Audit, error) {
	var list []*model.Audit
	q := ev.NewSelect().Model(&list).Limit(int64(f.Limit))
	if f.AccountID != 0 {
		q = q.Where("a.account_id = ?", f.AccountID)
	}
	if f.RepoID != 0 {
		q = q.Where("a.repo_id = ?", f.RepoID)
	}
	if f.PersonID != 0 {
		q = q.Where("(a.actor_id = ?0 OR a.account_id = ?0)", f.PersonID)
	}
	if len(f.Actions) > 0 {
		q = q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
			for _, a := range f.Actions {
				q = q.WhereOr("a.action LIKE ?", like(a))
			}
			return q
		})
	}
	if f.Actor != "" {
		q = q.Where("lower(a.actor) = lower(?)", f.Actor)
	}
	if f.Remote != "" {
		q = q.Where("a.remote = ?", f.Remote)
	}
	if f.Text != "" {
		q = q.Where("(a.target ILIKE ?0 OR a.action ILIKE ?0)", "%"+escapeLike(f.Text)+"%")
	}
	if !f.From.IsZero() {
		q = q.Where("a.at >= ?", f.From)
	}
	if !f.Until.IsZero() {
		q = q.Where("a.at < ?", f.Until)
	}
	if f.Before != 0 {
		q = q.Where("a.id < ?", f.Before)
	}
	if f.After != 0 {
		q = q.Where("a.id > ?", f.After)
	}
	if f.Oldest {
		q = q.OrderExpr("a.id")
	} else {
		q = q.OrderExpr("a.id DESC")
	}
	return list, db.Map(q.Scan(ctx))
}

// like is the pattern of an action, which may end with *.
func like(action string) string {
	if prefix, open := strings.CutSuffix(action, "*"); open {
		return escapeLike(prefix) + "%"
	}
	return escapeLike(action)
}

func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}
