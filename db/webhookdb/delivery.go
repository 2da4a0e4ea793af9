package webhookdb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Lease is how long an attempt may take before it is taken for lost and
// another begins.
const Lease = time.Minute

// Keep is how long deliveries are kept.
const Keep = 14 * 24 * time.Hour

// Begin adds deliveries whose first attempt the caller makes now, and returns
// those that are new: an event is delivered to a hook once. When the caller
// dies the place's alarm makes the next attempt.
func Begin(ctx context.Context, tx Tx, list []*model.Delivery) ([]*model.Delivery, error) {
	if len(list) == 0 {
		return nil, nil
	}
	ids, err := tx.nextIDs(ctx, len(list))
	if err != nil {
		return nil, err
	}
	due := tx.Now().Add(Lease)
	for i, dl := range list {
		dl.ID, dl.State, dl.Attempt, dl.NextAt, dl.CreatedAt = ids[i], model.DeliveryPending, 1, &due, tx.Now()
		dl.Attempts = []model.HookTry{}
	}
	var added []int64
	if err := tx.Q.NewInsert().Model(&list).On("CONFLICT DO NOTHING").Returning("id").Scan(ctx, &added); err != nil {
		return nil, err
	}
	fresh := make(map[int64]bool, len(added))
	for _, id := range added {
		fresh[id] = true
	}
	out := make([]*model.Delivery, 0, len(added))
	for _, dl := range list {
		if fresh[dl.ID] {
			out = append(out, dl)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, tx.Arm(ctx, due)
}

// Claim begins the attempts that are due, at most limit of them.
func Claim(ctx context.Context, tx Tx, limit int) ([]*model.Delivery, error) {
	var list []*model.Delivery
	err := tx.Q.NewRaw(`UPDATE ?scope.deliveries AS dl SET attempt = dl.attempt + 1, next_at = ?
		WHERE dl.id IN (SELECT id FROM ?scope.deliveries WHERE next_at <= ? ORDER BY next_at LIMIT ?) RETURNING dl.*`,
		tx.Now().Add(Lease), tx.Now(), limit).Scan(ctx, &list)
	return list, err
}

// End notes how an attempt ended: the delivery's state, its next time where
// there is one, and the hook's health, which it returns; nil when it was not
// the attempt's to note.
func End(ctx context.Context, tx Tx, dl *model.Delivery, try model.HookTry) (*model.Hook, error) {
	res, err := tx.Q.NewUpdate().Model(dl).Column("state", "next_at", "response", "attempts").
		Where("id = ? AND attempt = ?", dl.ID, dl.Attempt).Exec(ctx)
	if err != nil {
		return nil, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return nil, err // another attempt has begun, or the hook was deleted
	}
	h := &model.Hook{ID: dl.HookID, Last: &try}
	up := tx.Q.NewUpdate().Model(h).Column("last").WherePK()
	if try.OK() {
		up = up.Set("failures = 0").Set("failing_since = NULL")
	} else {
		up = up.Set("failures = h.failures + 1").Set("failing_since = coalesce(h.failing_since, ?)", try.At)
	}
	if _, err := up.Returning("failures, failing_since").Exec(ctx); err != nil {
		return nil, err
	}
	if dl.NextAt != nil {
		return h, tx.Arm(ctx, *dl.NextAt)
	}
	return h, nil
}

// Next is when the place's deliveries want attention: an attempt is due, or
// one is to be forgotten. False when there is nothing.
func Next(ctx context.Context, tx Tx) (time.Time, bool, error) {
	var due, oldest *time.Time
	err := tx.Q.NewRaw("SELECT min(next_at), min(created_at) FROM ?scope.deliveries").Scan(ctx, &due, &oldest)
	if err != nil || oldest == nil {
		return time.Time{}, false, err
	}
	next := oldest.Add(Keep + time.Hour)
	if due != nil && due.Before(next) {
		next = *due
	}
	return next, true, nil
}

// Purge forgets the deliveries that are older than Keep.
func Purge(ctx context.Context, tx Tx) error {
	_, err := tx.Q.NewRaw("DELETE FROM ?scope.deliveries WHERE created_at < ? AND next_at IS NULL", tx.Now().Add(-Keep)).Exec(ctx)
	return err
}

// Deliveries lists a hook's deliveries, the newest first, from before the id
// cursor where it is not zero; event "" is any.
func Deliveries(ctx context.Context, d *db.DB, p Place, hookID, cursor int64, event string, limit int) (list []*model.Delivery, err error) {
	err = p.read(ctx, d, func(q bun.IDB) error {
		sel := q.NewSelect().Model(&list).Where("dl.hook_id = ?", hookID).OrderExpr("dl.id DESC").Limit(int64(limit))
		if cursor > 0 {
			sel = sel.Where("dl.id < ?", cursor)
		}
		if event != "" {
			sel = sel.Where("(dl.event = ? OR dl.event_id = ? OR dl.guid = ?)", event, event, event)
		}
		return sel.Scan(ctx)
	})
	return list, err
}

// Delivery returns one delivery of a hook.
func Delivery(ctx context.Context, d *db.DB, p Place, hookID, id int64) (*model.Delivery, error) {
	list := []*model.Delivery{}
	err := p.read(ctx, d, func(q bun.IDB) error {
		return q.NewSelect().Model(&list).Where("dl.hook_id = ? AND dl.id = ?", hookID, id).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, db.ErrNotFound
	}
	return list[0], nil
}
