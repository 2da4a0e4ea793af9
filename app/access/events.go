package access

import "github.com/gitfor/gitfor/app/events"

// Invited says that a person was invited to a repository.
type Invited struct {
	InvitationID int64  `json:"invitationId"`
	UserID       int64  `json:"userId"`
	Name         string `json:"username"`
	Role         string `json:"role"`
}

// EventType implements events.Payload.
func (Invited) EventType() string { return "collaborator.invited" }

// InvitationEnded says that an invitation was declined or taken back.
type InvitationEnded struct {
	InvitationID int64  `json:"invitationId"`
	UserID       int64  `json:"userId"`
	Name         string `json:"username"`
	Declined     bool   `json:"declined"`
}

// EventType implements events.Payload.
func (InvitationEnded) EventType() string { return "collaborator.invitation_ended" }

// Added says that a person has a role in a repository.
type Added struct {
	UserID int64  `json:"userId"`
	Name   string `json:"username"`
	Role   string `json:"role"`
}

// EventType implements events.Payload.
func (Added) EventType() string { return "collaborator.added" }

// RoleChanged says that a person has another role in a repository.
type RoleChanged struct {
	UserID int64  `json:"userId"`
	Name   string `json:"username"`
	Role   string `json:"role"`
	From   string `json:"from"`
}

// EventType implements events.Payload.
func (RoleChanged) EventType() string { return "collaborator.role_changed" }

// Removed says that a person lost the role that they had by name.
type Removed struct {
	UserID int64  `json:"userId"`
	Name   string `json:"username"`
}

// EventType implements events.Payload.
func (Removed) EventType() string { return "collaborator.removed" }

// TeamAdded says that a team has a role in a repository.
type TeamAdded struct {
	TeamID int64  `json:"teamId"`
	Slug   string `json:"team"`
	Role   string `json:"role"`
}

// EventType implements events.Payload.
func (TeamAdded) EventType() string { return "team.added_to_repository" }

// TeamRemoved says that a team has no role in a repository any more.
type TeamRemoved struct {
	TeamID int64  `json:"teamId"`
	Slug   string `json:"team"`
}

// EventType implements events.Payload.
func (TeamRemoved) EventType() string { return "team.removed_from_repository" }

// Payloads are the events of this feature.
func Payloads() []events.Payload {
	return []events.Payload{Invited{}, InvitationEnded{}, Added{}, RoleChanged{}, Removed{}, TeamAdded{}, TeamRemoved{}}
}
