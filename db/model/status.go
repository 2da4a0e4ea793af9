package model

import (
	"encoding/json"
	"time"

	"github.com/uptrace/bun"
)

// Kinds of statuses.
const (
	StatusReport = "status"
	StatusCheck  = "check"
)

// States of commit statuses (https://docs.github.com/rest/commits/statuses).
const (
	StatusError   = "error"
	StatusFailure = "failure"
	StatusPending = "pending"
	StatusSuccess = "success"
)

// Status is what somebody, mostly a machine, says of a commit.
type Status struct {
	bun.BaseModel `bun:"table:?scope.statuses,alias:st"`

	ID          int64     `bun:"id,pk"`
	SHA         string    `bun:"sha"`
	Kind        string    `bun:"kind"`
	Context     string    `bun:"context"`
	State       string    `bun:"state"`
	Description string    `bun:"description"`
	TargetURL   string    `bun:"target_url"`
	CreatorID   int64     `bun:"creator_id"`
	Check       *Check    `bun:"data,type:jsonb"`
	CreatedAt   time.Time `bun:"created_at"`
	UpdatedAt   time.Time `bun:"updated_at"`
}

// Check is what a check run has beyond a status
// (https://docs.github.com/rest/checks/runs).
type Check struct {
	// Status is queued, in_progress, completed, waiting, requested or pending.
	Status      string          `json:"status"`
	Conclusion  string          `json:"conclusion,omitempty"`
	ExternalID  string          `json:"external_id,omitempty"`
	StartedAt   *time.Time      `json:"started_at,omitempty"`
	CompletedAt *time.Time      `json:"completed_at,omitempty"`
	Title       string          `json:"title,omitempty"`
	Summary     string          `json:"summary,omitempty"`
	Text        string          `json:"text,omitempty"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
	// Count is the number of annotations.
	Count int `json:"count,omitempty"`
}

// Outcome is what a status comes to: success, failure or pending. Checks that
// were skipped, or whose result is neutral, are successes.
func (s *Status) Outcome() string {
	switch s.State {
	case StatusSuccess, "neutral", "skipped":
		return StatusSuccess
	case StatusPending, "queued", "in_progress", "waiting", "requested", "stale":
		return StatusPending
	}
	return StatusFailure
}

// Combined is what several statuses come to, "" when there are none: a failure
// if one failed, else pending if one is not done.
func Combined(list []*Status) string {
	out := ""
	for _, s := range list {
		switch o := s.Outcome(); {
		case o == StatusFailure:
			return StatusFailure
		case o == StatusPending, out == "":
			out = o
		}
	}
	return out
}
