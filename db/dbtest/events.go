package dbtest

import (
	"context"
	"testing"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Events are the events that were published so far, in the log or on their way
// to it, at most 2,000.
func Events(ctx context.Context, t testing.TB, d *db.DB) []*model.Event {
	t.Helper()
	var list []*model.Event
	err := d.Events().NewRaw(`SELECT event_id, type, data FROM events.log
		UNION ALL SELECT event_id, type, data FROM events.incoming LIMIT 2000`).Scan(ctx, &list)
	if err != nil {
		t.Errorf("read events: %v", err)
	}
	return list
}
