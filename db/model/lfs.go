package model

import (
	"time"

	"github.com/uptrace/bun"
)

// LFSObject is a large file that a repository has.
type LFSObject struct {
	bun.BaseModel `bun:"table:?scope.lfs_objects,alias:lo"`

	// OID is the SHA-256 of the content in hexadecimal digits.
	OID string `bun:"oid,pk"`
	// Size is in bytes.
	Size int64 `bun:"size"`
	// AccountID is who brought it.
	AccountID int64     `bun:"account_id"`
	CreatedAt time.Time `bun:"created_at"`
}

// LFSLock says that only one person may change a file.
type LFSLock struct {
	bun.BaseModel `bun:"table:?scope.lfs_locks,alias:ll"`

	ID   int64  `bun:"id,pk"`
	Path string `bun:"path"`
	// Ref is what the client named, "" for none.
	Ref       string    `bun:"ref"`
	AccountID int64     `bun:"account_id"`
	CreatedAt time.Time `bun:"created_at"`
}
