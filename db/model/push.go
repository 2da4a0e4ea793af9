package model

import (
	"encoding/json"
	"time"

	"github.com/uptrace/bun"
)

// PushIntent says that refs are about to move: written before they do and
// deleted with the event, so that each push has exactly one event whatever is
// killed when.
type PushIntent struct {
	bun.BaseModel `bun:"table:cell.push_intents,alias:pi"`

	// ID is also the id of the event.
	ID        string          `bun:"id,pk"`
	RepoID    int64           `bun:"repo_id"`
	ActorID   int64           `bun:"actor_id"`
	Data      json.RawMessage `bun:"data,type:jsonb"`
	CreatedAt time.Time       `bun:"created_at"`
}
