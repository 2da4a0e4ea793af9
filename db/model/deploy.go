package model

import (
	"time"

	"github.com/uptrace/bun"
)

// Kinds of deploy credentials.
const (
	DeployKey   = "key"
	DeployToken = "token"
)

// DeployCredential is a key or token that opens one repository.
type DeployCredential struct {
	bun.BaseModel `bun:"table:?scope.deploy_credentials,alias:dc"`

	ID   int64  `bun:"id,pk"`
	Kind string `bun:"kind"`
	Name string `bun:"name"`
	// Key is a key's fingerprint, a token's SHA-256.
	Key []byte `bun:"key"`
	// Public is a key as OpenSSH writes it.
	Public string `bun:"public"`
	// Writes says that it may push, and not only fetch.
	Writes bool `bun:"writes"`
	// AccountID is who made it.
	AccountID int64      `bun:"account_id"`
	CreatedAt time.Time  `bun:"created_at"`
	UsedAt    *time.Time `bun:"used_at"`
	ExpiresAt *time.Time `bun:"expires_at"`
}

// DeployTokenEntry says in its maker's scope where a deploy token is.
type DeployTokenEntry struct {
	bun.BaseModel `bun:"table:?scope.deploy_token_index,alias:dti"`

	RepoID    int64     `bun:"repo_id,pk"`
	TokenID   int64     `bun:"token_id,pk"`
	Name      string    `bun:"name"`
	CreatedAt time.Time `bun:"created_at"`
}
