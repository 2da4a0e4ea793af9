package model

import (
	"encoding/json"
	"time"

	"github.com/uptrace/bun"
)

// Session is a browser that is signed in, in its account's scope.
type Session struct {
	bun.BaseModel `bun:"table:?scope.sessions,alias:ses"`

	// Hash is the SHA-256 of the cookie's token; the token is not stored.
	Hash      []byte          `bun:"hash,pk"`
	Data      json.RawMessage `bun:"data,type:jsonb"`
	CreatedAt time.Time       `bun:"created_at"`
	SeenAt    time.Time       `bun:"seen_at"`
	ExpiresAt time.Time       `bun:"expires_at"`
}

// Kinds of credentials.
const (
	CredentialPasskey  = "passkey"
	CredentialRecovery = "recovery"
	CredentialToken    = "token"
	CredentialSSHKey   = "ssh_key"
	CredentialGPGKey   = "gpg_key"
	CredentialTOTP     = "totp"
)

// Credential is one thing by which an account proves itself.
type Credential struct {
	bun.BaseModel `bun:"table:?scope.credentials,alias:cr"`

	ID   int64  `bun:"id,pk"`
	Kind string `bun:"kind"`
	// Key finds the credential: a token's SHA-256, a passkey's credential
	// id, a key's fingerprint, a recovery code's keyed hash.
	Key       []byte          `bun:"key"`
	Name      string          `bun:"name"`
	Data      json.RawMessage `bun:"data,type:jsonb"`
	CreatedAt time.Time       `bun:"created_at"`
	UsedAt    *time.Time      `bun:"used_at"`
	ExpiresAt *time.Time      `bun:"expires_at"`
}
