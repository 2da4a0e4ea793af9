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

// Renamed says that an account has another name.
type Renamed struct {
	ID   int64  `json:"id"`
	Name string `json:"username"`
	From string `json:"from"`
}

// EventType implements events.Payload.
func (Renamed) EventType() string { return "account.renamed" }

// MemberSet says that a person has a role in an organisation.
type MemberSet struct {
	UserID int64  `json:"userId"`
	Name   string `json:"username"`
	Role   string `json:"role"`
}

// EventType implements events.Payload.
func (MemberSet) EventType() string { return "member.set" }

// MemberRemoved says that a person has left an organisation.
type MemberRemoved struct {
	UserID int64  `json:"userId"`
	Name   string `json:"username"`
}

// EventType implements events.Payload.
func (MemberRemoved) EventType() string { return "member.removed" }

// Followed says that somebody follows a person.
type Followed struct {
	ID   int64  `json:"id"`
	Name string `json:"username"`
}

// EventType implements events.Payload.
func (Followed) EventType() string { return "account.followed" }

// Payloads are the events of this feature.
func Payloads() []events.Payload {
	return []events.Payload{Created{}, Deleted{}, Restored{}, Renamed{}, MemberSet{}, MemberRemoved{}, Followed{}}
}
