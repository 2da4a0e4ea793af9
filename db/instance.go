package db

import (
	"context"

	"github.com/uptrace/bun"
)

// instanceSchema holds what the instance has like a scope has it: tables of
// the event store with the names that they have in scopes.
const instanceSchema = "events"

// Instance is the handle of what the instance has like a scope: its tables
// are named ?scope.<table>.
type Instance struct{ bun.IDB }

// Instance is the handle of what the instance has like a scope, for reading.
func (d *DB) Instance() Instance {
	return Instance{d.bun.WithNamedArg("scope", bun.Safe(instanceSchema))}
}

// InstanceTx is a transaction of what the instance has like a scope.
type InstanceTx struct {
	Instance
	*tx
}

// InInstance runs fn in a transaction of what the instance has like a scope.
// fn may run twice.
func (d *DB) InInstance(ctx context.Context, fn func(ctx context.Context, tx *InstanceTx) error) error {
	return d.run(ctx, d.bun.WithNamedArg("scope", bun.Safe(instanceSchema)), func(ctx context.Context, t *tx) error {
		return fn(ctx, &InstanceTx{Instance{t.bun}, t})
	})
}
