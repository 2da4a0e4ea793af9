package model

import (
	"time"

	"github.com/uptrace/bun"
)

// BackfillRun is how far a backfill is.
type BackfillRun struct {
	bun.BaseModel `bun:"table:directory.backfills,alias:bf"`

	Name string `bun:"name,pk"`
	// Cursor is where the next page begins.
	Cursor     string     `bun:"cursor"`
	Done       int64      `bun:"done"`
	Total      int64      `bun:"total"`
	FinishedAt *time.Time `bun:"finished_at"`
	// Error is why the last page failed, "" when it did not.
	Error     string    `bun:"error"`
	UpdatedAt time.Time `bun:"updated_at"`
}
