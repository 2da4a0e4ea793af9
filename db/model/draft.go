package model

import (
	"time"

	"github.com/uptrace/bun"
)

// Draft is what a person is writing in one form.
type Draft struct {
	bun.BaseModel `bun:"table:?scope.drafts,alias:dr"`

	// Key names the form, such as /ada/engine/issues/1/reply.
	Key string `bun:"key,pk"`
	// Fields are the texts by the names of their fields.
	Fields map[string]string `bun:"fields,type:jsonb"`
	At     time.Time         `bun:"at"`
}

// SavedReply is a text that a person keeps for writing often.
type SavedReply struct {
	bun.BaseModel `bun:"table:?scope.replies,alias:rp"`

	ID        int64     `bun:"id,pk"`
	Title     string    `bun:"title"`
	Body      string    `bun:"body"`
	UpdatedAt time.Time `bun:"updated_at"`
}
