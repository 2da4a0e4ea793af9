package model

import (
	"time"

	"github.com/uptrace/bun"
)

// Invitation asks somebody into a repository or an organisation; one of
// RepoID and OrgID is set.
type Invitation struct {
	bun.BaseModel `bun:"table:directory.invitations,alias:inv"`

	ID     int64 `bun:"id,pk,autoincrement"`
	RepoID int64 `bun:"repo_id,nullzero"`
	OrgID  int64 `bun:"org_id,nullzero"`
	// AccountID is who is invited; 0 for an invitation by email or link,
	// which whoever holds the link may accept.
	AccountID int64  `bun:"account_id,nullzero"`
	Email     string `bun:"email"`
	// Hash is the SHA-256 of the link's token.
	Hash []byte `bun:"hash"`
	// Role is the role in the repository, or "owner" or "member".
	Role      string    `bun:"role"`
	TeamIDs   []int64   `bun:"team_ids,array"`
	InviterID int64     `bun:"inviter_id"`
	CreatedAt time.Time `bun:"created_at"`
	ExpiresAt time.Time `bun:"expires_at"`

	Account *Account `bun:"rel:belongs-to,join:account_id=id"`
	Inviter *Account `bun:"rel:belongs-to,join:inviter_id=id"`
	Org     *Account `bun:"rel:belongs-to,join:org_id=id"`
}

// Expired says that the invitation is no longer good at now.
func (i *Invitation) Expired(now time.Time) bool { return !now.Before(i.ExpiresAt) }
