package db

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// NewEventID makes an event id: evt_ and a UUIDv7 (RFC 9562), sortable by the
// time it was made.
func NewEventID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("event id: %w", err)
	}
	return "evt_" + id.String(), nil
}

// fill sets the fields that the publisher left to the transaction.
func (e *Event) fill(now time.Time) error {
	if e.Type == "" {
		return fmt.Errorf("event without a type")
	}
	if e.EventID == "" {
		id, err := NewEventID()
		if err != nil {
			return err
		}
		e.EventID = id
	}
	if e.Time.IsZero() {
		e.Time = now
	}
	if e.Data == nil {
		e.Data = []byte("{}")
	}
	return nil
}
