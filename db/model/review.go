package model

import (
	"time"

	"github.com/uptrace/bun"
)

// States of a review, in the words of GitHub's API in lower case.
const (
	ReviewPending   = "pending"
	ReviewCommented = "commented"
	ReviewApproved  = "approved"
	ReviewChanges   = "changes_requested"
	ReviewDismissed = "dismissed"
)

// Sides of a diff on which a comment stands.
const (
	SideLeft  = "LEFT"
	SideRight = "RIGHT"
)

// Review is one person's look at a round of a pull request.
type Review struct {
	bun.BaseModel `bun:"table:?scope.reviews,alias:rv"`

	ID       int64  `bun:"id,pk"`
	Number   int64  `bun:"number"`
	AuthorID int64  `bun:"author_id"`
	State    string `bun:"state"`
	Body     string `bun:"body"`
	// SHA is the head that was reviewed, in Round.
	SHA   string `bun:"sha"`
	Round int    `bun:"round"`
	// Counts says that the author could write when it was submitted; other
	// approvals count for no rule.
	Counts      bool       `bun:"counts"`
	Reactions   []Reaction `bun:"reactions,type:jsonb"`
	Dismissal   string     `bun:"dismissal"`
	SubmittedAt *time.Time `bun:"submitted_at"`
	CreatedAt   time.Time  `bun:"created_at"`
	UpdatedAt   time.Time  `bun:"updated_at"`
}

// Decides says that the review is a vote: for, or against.
func (r *Review) Decides() bool { return r.State == ReviewApproved || r.State == ReviewChanges }

// ReviewComment is a comment on a pull request's changes.
type ReviewComment struct {
	bun.BaseModel `bun:"table:?scope.review_comments,alias:rc"`

	ID       int64 `bun:"id,pk"`
	Number   int64 `bun:"number"`
	ReviewID int64 `bun:"review_id"`
	// Thread is the id of the comment that this one answers, its own for the
	// first of a thread.
	Thread   int64  `bun:"thread"`
	AuthorID int64  `bun:"author_id"`
	Body     string `bun:"body"`

	// What it was written about. Line 0 is the file as a whole; StartLine is
	// set for a range.
	Path      string `bun:"path"`
	Side      string `bun:"side"`
	Line      int    `bun:"line"`
	StartLine int    `bun:"start_line"`
	StartSide string `bun:"start_side"`
	// SHA and BaseSHA are the head and the merge base at the time.
	SHA     string `bun:"sha"`
	BaseSHA string `bun:"base_sha"`
	Round   int    `bun:"round"`
	// Hunk is the piece of the diff that ends with the line, as text.
	Hunk string `bun:"hunk"`
	// Place is where that is in a later round, nil while it was not looked for.
	Place *ReviewPlace `bun:"place,type:jsonb"`

	Pending    bool       `bun:"pending"`
	ResolvedBy int64      `bun:"resolved_by,nullzero"`
	ResolvedAt *time.Time `bun:"resolved_at"`
	Reactions  []Reaction `bun:"reactions,type:jsonb"`
	Version    int        `bun:"version"`
	EditedAt   *time.Time `bun:"edited_at"`
	CreatedAt  time.Time  `bun:"created_at"`
	UpdatedAt  time.Time  `bun:"updated_at"`
}

// ReviewPlace is where a comment stands in Round.
type ReviewPlace struct {
	Round int `json:"round"`
	// Base is the state before the change that it was found in, for comments
	// on that side.
	Base  string `json:"base,omitempty"`
	Path  string `json:"path"`
	Line  int    `json:"line,omitempty"`
	Start int    `json:"start,omitempty"`
	// Gone says that what it is about is no longer there.
	Gone bool `json:"gone,omitempty"`
}

// Placed says that it is known where the comment stands in a round that is
// compared with base.
func (c *ReviewComment) Placed(round int, base string) bool {
	return c.Place != nil && c.Place.Round == round && (!c.Left() || c.Place.Base == base)
}

// First says that the comment began its thread.
func (c *ReviewComment) First() bool { return c.ID == c.Thread }

// Outdated says that what it is about is no longer there.
func (c *ReviewComment) Outdated() bool { return c.Place != nil && c.Place.Gone }

// Left says that it is about the state before the change.
func (c *ReviewComment) Left() bool { return c.Side == SideLeft }

// Resolved says that somebody took the conversation for finished.
func (c *ReviewComment) Resolved() bool { return c.ResolvedAt != nil }
