package model

import (
	"time"

	"github.com/uptrace/bun"
)

// Kinds of credentials that apps hold.
const (
	CredentialOAuth   = "oauth"
	CredentialRefresh = "oauth_refresh"
)

// OAuthApp is a program that people may let act for them, in the scope of the
// account that made it.
type OAuthApp struct {
	bun.BaseModel `bun:"table:?scope.apps,alias:app"`

	ID          int64  `bun:"id,pk"`
	ClientID    string `bun:"client_id"`
	Name        string `bun:"name"`
	Description string `bun:"description"`
	Homepage    string `bun:"homepage"`
	// Callbacks are the addresses that people may be sent back to.
	Callbacks []string `bun:"callbacks,array"`
	// Device lets the app use the device flow.
	Device bool `bun:"device"`
	// Expires gives tokens that end, with others that renew them.
	Expires   bool          `bun:"expires"`
	Secrets   []OAuthSecret `bun:"secrets,type:jsonb"`
	CreatedAt time.Time     `bun:"created_at"`
	UpdatedAt time.Time     `bun:"updated_at"`
}

// OAuthSecret is a client secret of an app, as its SHA-256.
type OAuthSecret struct {
	ID   int64  `json:"id"`
	Hash []byte `json:"hash"`
	// End are its last characters, to tell secrets apart.
	End       string    `json:"end"`
	CreatedAt time.Time `json:"created_at"`
}

// OAuthGrant is an app that an account lets act for it.
type OAuthGrant struct {
	bun.BaseModel `bun:"table:?scope.grants,alias:g"`

	ID        int64     `bun:"id,pk"`
	ClientID  string    `bun:"client_id"`
	Scopes    []string  `bun:"scopes,array"`
	CreatedAt time.Time `bun:"created_at"`
	UpdatedAt time.Time `bun:"updated_at"`
}
