package accounts

import "github.com/gitfor/gitfor/app/events"

// Created says that somebody has a new account.
type Created struct {
	ID   int64  `json:"id"`
	Name string `json:"username"`
	Kind string `json:"kind"`
}

// EventType implements events.Payload.
func (Created) EventType() string { return "account.created" }

// Deleted says that an account was marked as deleted.
type Deleted struct {
	ID   int64  `json:"id"`
	Name string `json:"username"`
}

// EventType implements events.Payload.
func (Deleted) EventType() string { return "account.deleted" }

// Restored says that a deleted account is back.
type Restored struct {
	ID   int64  `json:"id"`
	Name string `json:"username"`
}

// EventType implements events.Payload.
func (Restored) EventType() string { return "account.restored" }

// Payloads are the events of this feature.
func Payloads() []events.Payload { return []events.Payload{Created{}, Deleted{}, Restored{}} }
