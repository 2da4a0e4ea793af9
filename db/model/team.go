package model

import (
	"time"

	"github.com/uptrace/bun"
)

// Team is a group of people in an organisation. Who is in a team has what its
// parents have.
type Team struct {
	bun.BaseModel `bun:"table:directory.teams,alias:t"`

	ID          int64     `bun:"id,pk,autoincrement"`
	OrgID       int64     `bun:"org_id"`
	ParentID    int64     `bun:"parent_id,nullzero"`
	Name        string    `bun:"name"`
	Slug        string    `bun:"slug"`
	Description string    `bun:"description"`
	Secret      bool      `bun:"secret"`
	CreatedAt   time.Time `bun:"created_at"`

	Org    *Account `bun:"rel:belongs-to,join:org_id=id"`
	Parent *Team    `bun:"rel:belongs-to,join:parent_id=id"`
}

// Roles in a team.
const (
	TeamMaintainer = "maintainer"
	TeamMember     = "member"
)
