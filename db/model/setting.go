package model

import (
	"encoding/json"
	"time"

	"github.com/uptrace/bun"
)

// Setting is a setting of the instance that somebody changed.
type Setting struct {
	bun.BaseModel `bun:"table:directory.instance_settings,alias:st"`

	Key string `bun:"key,pk"`
	// Value is a JSON text.
	Value     json.RawMessage `bun:"value,type:jsonb"`
	UpdatedBy int64           `bun:"updated_by,nullzero"`
	UpdatedAt time.Time       `bun:"updated_at"`
}

// Text is the value.
func (s *Setting) Text() string {
	var text string
	if json.Unmarshal(s.Value, &text) != nil {
		return string(s.Value)
	}
	return text
}

// AdminAction is what an administrator did to the instance, kept for good.
type AdminAction struct {
	bun.BaseModel `bun:"table:directory.admin_audit_log,alias:aa"`

	ID      int64  `bun:"id,pk,autoincrement"`
	ActorID int64  `bun:"actor_id,nullzero"`
	Action  string `bun:"action"`
	// Subject is what it was done to: a setting's key, an account's name.
	Subject string `bun:"subject"`
	Remote  string `bun:"remote"`
	// Before and After are JSON, null where there was nothing.
	Before    json.RawMessage `bun:"before,type:jsonb"`
	After     json.RawMessage `bun:"after,type:jsonb"`
	CreatedAt time.Time       `bun:"created_at"`
}
