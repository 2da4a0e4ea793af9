package model

import (
	"time"

	"github.com/uptrace/bun"
)

// Attachment is a file in a text of a repository.
type Attachment struct {
	bun.BaseModel `bun:"table:?scope.attachments,alias:att"`

	// ID is what its address says; it cannot be guessed.
	ID          string `bun:"id,pk"`
	UploaderID  int64  `bun:"uploader_id"`
	Name        string `bun:"name"`
	ContentType string `bun:"content_type"`
	Size        int64  `bun:"size"` // bytes
	SHA256      string `bun:"sha256"`
	// Threads are the numbers of the threads whose texts have it; 0 stands
	// for a text that everyone who reads the repository sees.
	Threads []int64 `bun:"threads,array"`
	// LooseAt is since when no text has it, nil while one does.
	LooseAt *time.Time `bun:"loose_at"`
	// GoneAt is when it was given up.
	GoneAt    *time.Time `bun:"gone_at"`
	CreatedAt time.Time  `bun:"created_at"`
}
