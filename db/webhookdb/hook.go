package webhookdb

import (
	"context"
	"errors"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Hooks lists a place's webhooks, the oldest first.
func Hooks(ctx context.Context, d *db.DB, p Place) (list []*model.Hook, err error) {
	err = p.read(ctx, d, func(q bun.IDB) error { return q.NewSelect().Model(&list).OrderExpr("h.id").Scan(ctx) })
	return list, err
}

// Hook returns one of a place's webhooks.
func Hook(ctx context.Context, d *db.DB, p Place, id int64) (*model.Hook, error) {
	list := []*model.Hook{}
	err := p.read(ctx, d, func(q bun.IDB) error { return q.NewSelect().Model(&list).Where("h.id = ?", id).Scan(ctx) })
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, db.ErrNotFound
	}
	return list[0], nil
}

// Insert adds a webhook and sets its id and times. seal makes the secret of
// the id, because a sealed secret opens only for the hook that it is of.
func Insert(ctx context.Context, tx Tx, h *model.Hook, seal func(id int64) []byte) error {
	ids, err := tx.nextIDs(ctx, 1)
	if err != nil {
		return err
	}
	h.ID, h.CreatedAt, h.UpdatedAt = ids[0], tx.Now(), tx.Now()
	h.Secret = seal(h.ID)
	if _, err := tx.Q.NewInsert().Model(h).Exec(ctx); err != nil {
		return err
	}
	return mark(ctx, tx)
}

// Update writes what a person can change of a webhook.
func Update(ctx context.Context, tx Tx, h *model.Hook) error {
	h.UpdatedAt = tx.Now()
	_, err := tx.Q.NewUpdate().Model(h).
		Column("active", "format", "url", "content_type", "events", "secret", "failures", "failing_since", "updated_at").WherePK().Exec(ctx)
	if err != nil {
		return err
	}
	return mark(ctx, tx)
}

// Delete removes a webhook and its deliveries.
func Delete(ctx context.Context, tx Tx, id int64) error {
	if _, err := tx.Q.NewRaw("DELETE FROM ?scope.deliveries WHERE hook_id = ?", id).Exec(ctx); err != nil {
		return err
	}
	if _, err := tx.Q.NewRaw("DELETE FROM ?scope.hooks WHERE id = ?", id).Exec(ctx); err != nil {
		return err
	}
	return mark(ctx, tx)
}

// mark keeps cell.hooked in step with the place's active webhooks.
func mark(ctx context.Context, tx Tx) error {
	var active bool
	if err := tx.Q.NewRaw("SELECT EXISTS (SELECT FROM ?scope.hooks WHERE active)").Scan(ctx, &active); err != nil {
		return err
	}
	sql := "DELETE FROM cell.hooked WHERE scope = ?"
	if active {
		sql = "INSERT INTO cell.hooked (scope) VALUES (?) ON CONFLICT DO NOTHING"
	}
	_, err := tx.Q.NewRaw(sql, tx.place.String()).Exec(ctx)
	return err
}

// Hooked returns those of the places that have active webhooks.
func Hooked(ctx context.Context, d *db.DB, places ...Place) ([]Place, error) {
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.String()
	}
	var have []string
	err := d.Cell().NewRaw("SELECT scope FROM cell.hooked WHERE scope IN (?)", bun.List(names)).Scan(ctx, &have)
	if err != nil {
		return nil, db.Map(err)
	}
	var errs error
	out := make([]Place, 0, len(have))
	for _, name := range have {
		p, err := PlaceOf(name)
		errs = errors.Join(errs, err)
		out = append(out, p)
	}
	return out, errs
}
