package model

import (
	"time"

	"github.com/uptrace/bun"
)

// Roles in a thread.
const (
	InvolvedAuthor   = "author"
	InvolvedAssignee = "assignee"
	// InvolvedReviewer is who was asked for a review and has not given one,
	// InvolvedReviewed who has given one.
	InvolvedReviewer = "reviewer"
	InvolvedReviewed = "reviewed"
)

// Involvement is what an account has to do with a thread, in its own scope.
type Involvement struct {
	bun.BaseModel `bun:"table:?scope.involvements,alias:inv"`

	RepoID    int64     `bun:"repo_id,pk"`
	Number    int64     `bun:"number,pk"`
	Pull      bool      `bun:"pull"`
	Open      bool      `bun:"open"`
	Title     string    `bun:"title"`
	Roles     []string  `bun:"roles,array"`
	Seq       int64     `bun:"seq"`
	UpdatedAt time.Time `bun:"updated_at"`

	// Repo is loaded by who lists them.
	Repo *Repo `bun:"-"`
}
