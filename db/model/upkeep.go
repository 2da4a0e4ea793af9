package model

import (
	"time"

	"github.com/uptrace/bun"
)

// GitUpkeep is what maintenance did to a git folder the last time.
type GitUpkeep struct {
	bun.BaseModel `bun:"table:cell.git_upkeep,alias:gu"`

	RepoID int64 `bun:"repo_id,pk"`
	// Pool says that it is the pool that forks of RepoID borrow from.
	Pool bool `bun:"pool,pk"`
	// DroppedAt is when a push first dropped commits since FullAt, the last
	// full repack.
	DroppedAt *time.Time `bun:"dropped_at"`
	FullAt    *time.Time `bun:"full_at"`
	StartedAt *time.Time `bun:"started_at"`
	TookMS    int64      `bun:"took_ms"`
	// Did names the steps that were done.
	Did         []string `bun:"did,array"`
	BytesBefore int64    `bun:"bytes_before"`
	BytesAfter  int64    `bun:"bytes_after"`
	// FilesBefore and FilesAfter count loose objects, loose refs and packs.
	FilesBefore int64  `bun:"files_before"`
	FilesAfter  int64  `bun:"files_after"`
	Error       string `bun:"error"`
}
