package accountdb

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gitfor/gitfor/db"
)

// PutChallenge keeps a one-time secret of somebody who need not be signed in.
// A new one of the same id takes the place of the old.
func PutChallenge(ctx context.Context, cell db.Cell, id, kind string, data any, expires time.Time) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	_, err = cell.NewRaw(`INSERT INTO cell.challenges (id, kind, data, expires_at) VALUES (?, ?, ?::jsonb, ?)
		ON CONFLICT (id) DO UPDATE SET kind = EXCLUDED.kind, data = EXCLUDED.data, expires_at = EXCLUDED.expires_at`,
		id, kind, string(b), expires).Exec(ctx)
	return db.Map(err)
}

// TakeChallenge reads a challenge into data and deletes it, so that it is good
// once: of two callers one gets ErrNotFound. What has expired is still
// returned, for a better message.
func TakeChallenge(ctx context.Context, cell db.Cell, id, kind string, data any) (expires time.Time, err error) {
	var raw []byte
	err = cell.NewRaw("DELETE FROM cell.challenges WHERE id = ? AND kind = ? RETURNING data, expires_at", id, kind).
		Scan(ctx, &raw, &expires)
	if err != nil {
		return expires, db.Map(err)
	}
	return expires, json.Unmarshal(raw, data)
}

// Challenge is TakeChallenge without taking it.
func Challenge(ctx context.Context, cell db.Cell, id, kind string, data any) (expires time.Time, err error) {
	var raw []byte
	err = cell.NewRaw("SELECT data, expires_at FROM cell.challenges WHERE id = ? AND kind = ?", id, kind).
		Scan(ctx, &raw, &expires)
	if err != nil {
		return expires, db.Map(err)
	}
	return expires, json.Unmarshal(raw, data)
}

// DropChallenges forgets those that expired before.
func DropChallenges(ctx context.Context, cell db.Cell, before time.Time) error {
	_, err := cell.NewRaw("DELETE FROM cell.challenges WHERE expires_at < ?", before).Exec(ctx)
	return db.Map(err)
}
