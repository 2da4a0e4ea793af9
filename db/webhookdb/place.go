// Package webhookdb holds the queries of webhooks and their deliveries. A
// Place is who has them: a repository, an account or the instance; the tables
// are the same.
package webhookdb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/uptrace/bun"
)

// domain is the scopes' domain of webhooks.
const domain = "webhooks"

// Place is who has webhooks: the scope of that name, or the instance.
type Place struct {
	Kind db.Kind
	ID   int64
}

// OfRepo is the place of a repository's webhooks.
func OfRepo(id int64) Place { return Place{db.RepoKind, id} }

// OfAccount is the place of an account's webhooks.
func OfAccount(id int64) Place { return Place{db.AccountKind, id} }

// OfInstance is the place of the instance's webhooks.
func OfInstance() Place { return Place{} }

// PlaceOf reads what String wrote.
func PlaceOf(name string) (Place, error) {
	if name == db.InstanceAlarm {
		return OfInstance(), nil
	}
	s, err := db.ParseScope(name)
	return Place{s.Kind(), s.ID()}, err
}

// String names the place: the scope's name, or "instance".
func (p Place) String() string {
	switch p.Kind {
	case db.RepoKind:
		return db.RepoScope(p.ID).String()
	case db.AccountKind:
		return db.AccountScope(p.ID).String()
	}
	return db.InstanceAlarm
}

// Tx is a transaction of a place.
type Tx struct {
	db.Tx
	Q     bun.IDB
	place Place
	arm   func(ctx context.Context, due time.Time) error
}

// read runs fn on the place's tables; where it has none fn does not run.
func (p Place) read(ctx context.Context, d *db.DB, fn func(q bun.IDB) error) error {
	switch p.Kind {
	case db.RepoKind:
		return d.Repo(p.ID).List(ctx, domain, fn)
	case db.AccountKind:
		return d.Account(p.ID).List(ctx, domain, fn)
	}
	return db.Map(fn(d.Instance()))
}

// In runs fn in a transaction of the place. fn may run twice.
func (p Place) In(ctx context.Context, d *db.DB, fn func(ctx context.Context, tx Tx) error) error {
	switch p.Kind {
	case db.RepoKind:
		return d.InRepo(ctx, p.ID, func(ctx context.Context, tx *db.RepoTx) error {
			q, err := tx.Write(ctx, domain)
			if err != nil {
				return err
			}
			return fn(ctx, Tx{tx, q, p, tx.Arm})
		})
	case db.AccountKind:
		return d.InAccount(ctx, p.ID, func(ctx context.Context, tx *db.AccountTx) error {
			q, err := tx.Write(ctx, domain)
			if err != nil {
				return err
			}
			return fn(ctx, Tx{tx, q, p, tx.Arm})
		})
	}
	return d.InInstance(ctx, func(ctx context.Context, tx *db.InstanceTx) error { return fn(ctx, Tx{tx, tx, p, tx.Arm}) })
}

// Arm makes the place's alarm ring at due or before.
func (t Tx) Arm(ctx context.Context, due time.Time) error { return t.arm(ctx, due) }

// nextIDs takes n ids, unique in the cell.
func (t Tx) nextIDs(ctx context.Context, n int) ([]int64, error) {
	var ids []int64
	err := t.Q.NewRaw("SELECT nextval('cell.webhook_ids') FROM generate_series(1, ?)", n).Scan(ctx, &ids)
	return ids, err
}
