package model

import (
	"encoding/json"
	"time"

	"github.com/uptrace/bun"
)

// Audit is an entry of the audit log: who did what, from where.
type Audit struct {
	bun.BaseModel `bun:"table:events.audit,alias:a"`

	ID      int64     `bun:"id,pk"`
	At      time.Time `bun:"at"`
	ActorID int64     `bun:"actor_id"`
	// Actor and Target are names as they were then.
	Actor     string `bun:"actor"`
	Action    string `bun:"action"`
	AccountID int64  `bun:"account_id"`
	RepoID    int64  `bun:"repo_id"`
	Target    string `bun:"target"`
	Remote    string `bun:"remote"`
	Agent     string `bun:"agent"`
	// Via is "session", "token" or "ssh"; "" for the server itself.
	Via           string          `bun:"via"`
	Before, After json.RawMessage `bun:",type:jsonb"`
}
