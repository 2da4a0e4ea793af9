package accounts

import (
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/db/model"
)

// Events about a person are user.…, those about an organisation workspace.….
func typeOf(workspace bool, what string) string {
	if workspace {
		return "workspace." + what
	}
	return "user." + what
}

// Created says that somebody has a new account.
type Created struct {
	ID   int64  `json:"id"`
	Name string `json:"username"`
	Kind string `json:"kind"`
}

// EventType implements events.Payload.
func (e Created) EventType() string {
	return typeOf(e.Kind == string(model.KindOrganization), "created")
}

// Deleted says that an account was marked as deleted.
type Deleted struct {
	ID   int64  `json:"id"`
	Name string `json:"username"`
	// Workspace says that it is an organisation.
	Workspace bool `json:"-"`
}

// EventType implements events.Payload.
func (e Deleted) EventType() string { return typeOf(e.Workspace, "deleted") }

// Restored says that a deleted account is back.
type Restored struct {
	ID        int64  `json:"id"`
	Name      string `json:"username"`
	Workspace bool   `json:"-"`
}

// EventType implements events.Payload.
func (e Restored) EventType() string { return typeOf(e.Workspace, "restored") }

// Renamed says that an account has another name.
type Renamed struct {
	ID        int64  `json:"id"`
	Name      string `json:"username"`
	From      string `json:"from"`
	Workspace bool   `json:"-"`
}

// EventType implements events.Payload.
func (e Renamed) EventType() string { return typeOf(e.Workspace, "renamed") }

// MemberSet says that a person has a role in an organisation.
type MemberSet struct {
	UserID int64  `json:"userId"`
	Name   string `json:"username"`
	Role   string `json:"role"`
}

// EventType implements events.Payload.
func (MemberSet) EventType() string { return "workspace.member_set" }

// MemberRemoved says that a person has left an organisation.
type MemberRemoved struct {
	UserID int64  `json:"userId"`
	Name   string `json:"username"`
}

// EventType implements events.Payload.
func (MemberRemoved) EventType() string { return "workspace.member_removed" }

// Followed says that somebody follows a person.
type Followed struct {
	ID   int64  `json:"id"`
	Name string `json:"username"`
}

// EventType implements events.Payload.
func (Followed) EventType() string { return "user.followed" }

// Payloads are the events of this feature.
func Payloads() []events.Payload {
	list := []events.Payload{MemberSet{}, MemberRemoved{}, Followed{}}
	for _, kind := range []model.AccountKind{model.KindUser, model.KindOrganization} {
		workspace := kind == model.KindOrganization
		list = append(list, Created{Kind: string(kind)}, Deleted{Workspace: workspace}, Restored{Workspace: workspace}, Renamed{Workspace: workspace})
	}
	return list
}
