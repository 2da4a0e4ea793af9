package model

import (
	"time"

	"github.com/uptrace/bun"
)

// PushBrowser is a browser in which a person has turned pushes on.
type PushBrowser struct {
	bun.BaseModel `bun:"table:?scope.push_browsers,alias:pb"`

	ID int64 `bun:"id,pk"`
	// Key is the SHA-256 of the endpoint, Session the hash of the session
	// that turned pushes on.
	Key     []byte `bun:"key"`
	Session []byte `bun:"session"`
	// Name is the browser as people call it.
	Name string `bun:"name"`
	// Sealed is the endpoint with its keys.
	Sealed    []byte    `bun:"sealed"`
	CreatedAt time.Time `bun:"created_at"`
}
