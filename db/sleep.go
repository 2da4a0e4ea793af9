package db

import (
	"context"
	"fmt"
)

// wakeScope brings a sleeping scope back before a read goes on.
func (d *DB) wakeScope(ctx context.Context, s Scope) error {
	return d.inScope(ctx, s, func(context.Context, *scopeTx) error { return nil })
}

// wakeLocked brings the scope back inside a transaction that holds its row.
func (d *DB) wakeLocked(_ context.Context, _ *tx, s Scope, _ *scopeRow) error {
	return fmt.Errorf("scope %s is asleep", s)
}
