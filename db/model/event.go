package model

import (
	"encoding/json"
	"time"

	"github.com/uptrace/bun"
)

// Event is one event of the log.
type Event struct {
	bun.BaseModel `bun:"table:events.log,alias:e"`

	// Seq is the event's place in the log, without gaps.
	Seq int64 `bun:"seq,pk"`
	// At is when the event got its place; it never goes back with Seq.
	At        time.Time       `bun:"at,pk"`
	EventID   string          `bun:"event_id"`
	Type      string          `bun:"type"`
	Source    string          `bun:"source"`
	Time      time.Time       `bun:"time"`
	RepoID    int64           `bun:"repo_id,nullzero"`
	AccountID int64           `bun:"account_id,nullzero"`
	ActorID   int64           `bun:"actor_id,nullzero"`
	Data      json.RawMessage `bun:"data,type:jsonb"`
}
