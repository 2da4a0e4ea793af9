// Package events is the one log that everything follows: features emit into
// it in the transaction that makes the change, a sequencer numbers what was
// committed, and webhooks, live pages, followers and subscribers read it in
// that order.
package events

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Payload is the data of one type of event. Features declare theirs in their
// events.go and list them in the catalogue.
type Payload interface {
	// EventType is the event's type, such as "issue.opened".
	EventType() string
}

// About says what an event is about and who caused it; each may be missing.
type About struct {
	Repo  *model.Repo
	Actor *model.Viewer
	// AccountID is the owning account where there is no repository.
	AccountID int64
	// ID is the event's id where the publisher must choose it, so that
	// publishing twice is noticed; else one is made.
	ID string
}

// Emit publishes one event in tx: it is in the log if and only if tx commits.
func Emit(ctx context.Context, tx db.Tx, about About, p Payload) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("event %s: %w", p.EventType(), err)
	}
	if data, err = fit(data, about.Actor != nil && about.Actor.Job); err != nil {
		return fmt.Errorf("event %s: %w", p.EventType(), err)
	}
	source, _, _ := strings.Cut(p.EventType(), ".")
	e := db.Event{EventID: about.ID, Type: p.EventType(), Source: source, ActorID: about.Actor.ID(),
		AccountID: about.AccountID, Data: data}
	if about.Repo != nil {
		e.RepoID, e.AccountID = about.Repo.ID, about.Repo.OwnerID
	}
	return tx.Publish(ctx, e)
}
