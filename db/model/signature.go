package model

import (
	"time"

	"github.com/uptrace/bun"
)

// CommitSignature is what was found about the signature of a commit or tag.
type CommitSignature struct {
	bun.BaseModel `bun:"table:directory.commit_signatures,alias:cs"`

	OID      string `bun:"oid,pk"`
	RepoID   int64  `bun:"repo_id,pk"`
	Verified bool   `bun:"verified"`
	// Reason is GitHub's word for it, "valid" when Verified.
	Reason string `bun:"reason"`
	// AccountID is whose key it is, 0 for nobody's and for the instance's own.
	AccountID int64     `bun:"account_id,nullzero"`
	KeyID     string    `bun:"key_id"`
	CheckedAt time.Time `bun:"checked_at"`
}
