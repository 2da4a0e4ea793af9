package model

import (
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// Formats of a webhook.
const (
	HookGitfor = "gitfor"
	HookGitHub = "github"
)

// Hook is a webhook of a repository, an account or the instance.
type Hook struct {
	bun.BaseModel `bun:"table:?scope.hooks,alias:h"`

	ID          int64    `bun:"id,pk"`
	Active      bool     `bun:"active"`
	Format      string   `bun:"format"`
	URL         string   `bun:"url"`
	ContentType string   `bun:"content_type"`
	Events      []string `bun:"events,array"`
	// Secret is sealed, nil for none.
	Secret    []byte `bun:"secret"`
	CreatorID int64  `bun:"creator_id"`
	// Failures counts the deliveries that failed for good, or the attempts
	// that failed, since the last success; FailingSince is the first of them.
	Failures     int        `bun:"failures"`
	FailingSince *time.Time `bun:"failing_since"`
	Last         *HookTry   `bun:"last,type:jsonb"`
	CreatedAt    time.Time  `bun:"created_at"`
	UpdatedAt    time.Time  `bun:"updated_at"`
}

// Wants says that the hook asks for events of this name; patterns may end in
// ".*", and "*" asks for all.
func (h *Hook) Wants(event string) bool {
	if slices.Contains(h.Events, "*") || slices.Contains(h.Events, event) {
		return true
	}
	source, _, _ := strings.Cut(event, ".")
	return slices.Contains(h.Events, source+".*")
}

// States of a delivery.
const (
	DeliveryPending = "pending"
	DeliveryDone    = "done"
	DeliveryFailed  = "failed"
)

// Delivery is one event on its way to one hook.
type Delivery struct {
	bun.BaseModel `bun:"table:?scope.deliveries,alias:dl"`

	ID      int64  `bun:"id,pk"`
	HookID  int64  `bun:"hook_id"`
	EventID string `bun:"event_id"`
	// Again says that somebody asked for it once more.
	Again bool `bun:"again"`
	// GUID is GitHub's name of a delivery; a redelivery keeps it.
	GUID   string `bun:"guid"`
	Event  string `bun:"event"`
	Action string `bun:"action"`
	RepoID int64  `bun:"repo_id,nullzero"`
	State  string `bun:"state"`
	// Attempt is the number of the last attempt that was begun; NextAt is
	// when the next one is due unless this one ends before.
	Attempt   int           `bun:"attempt"`
	NextAt    *time.Time    `bun:"next_at"`
	Request   HookRequest   `bun:"request,type:jsonb"`
	Response  *HookResponse `bun:"response,type:jsonb"`
	Attempts  []HookTry     `bun:"attempts,type:jsonb"`
	CreatedAt time.Time     `bun:"created_at"`
}

// LastTry is the last attempt that ended; zero when none did.
func (d *Delivery) LastTry() HookTry {
	if len(d.Attempts) == 0 {
		return HookTry{}
	}
	return d.Attempts[len(d.Attempts)-1]
}

// HookRequest is what is sent.
type HookRequest struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// HookResponse is what came back.
type HookResponse struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Cut     bool              `json:"cut,omitempty"`
}

// HookTry is how one attempt ended: with a status, or with an error where no
// answer came.
type HookTry struct {
	At     time.Time `json:"at"`
	Status int       `json:"status,omitempty"`
	Error  string    `json:"error,omitempty"`
	// Millis is how long it took.
	Millis int64 `json:"ms"`
}

// OK says that the receiver took the delivery.
func (t HookTry) OK() bool { return t.Error == "" && t.Status >= 200 && t.Status < 300 }
