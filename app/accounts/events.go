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

// Payloads are the events of this feature.
func Payloads() []events.Payload { return []events.Payload{Created{}} }
