package orgs

import "github.com/gitfor/gitfor/app/events"

// Invited says that somebody was invited: a person, or whoever has the link.
type Invited struct {
	InvitationID int64  `json:"invitationId"`
	UserID       int64  `json:"userId,omitempty"`
	Name         string `json:"username,omitempty"`
	Role         string `json:"role"`
}

// EventType implements events.Payload.
func (Invited) EventType() string { return "workspace.member_invited" }

// TeamCreated says that there is a new team.
type TeamCreated struct {
	ID     int64  `json:"id"`
	Slug   string `json:"team"`
	Parent int64  `json:"parentId,omitempty"`
}

// EventType implements events.Payload.
func (TeamCreated) EventType() string { return "team.created" }

// TeamEdited says that a team's name, place or description is another.
type TeamEdited struct {
	ID     int64  `json:"id"`
	Slug   string `json:"team"`
	From   string `json:"from"`
	Parent int64  `json:"parentId,omitempty"`
}

// EventType implements events.Payload.
func (TeamEdited) EventType() string { return "team.edited" }

// TeamDeleted says that a team is gone.
type TeamDeleted struct {
	ID   int64  `json:"id"`
	Slug string `json:"team"`
}

// EventType implements events.Payload.
func (TeamDeleted) EventType() string { return "team.deleted" }

// TeamMemberSet says that a person is in a team.
type TeamMemberSet struct {
	TeamID int64  `json:"teamId"`
	Slug   string `json:"team"`
	UserID int64  `json:"userId"`
	Name   string `json:"username"`
	Role   string `json:"role"`
}

// EventType implements events.Payload.
func (TeamMemberSet) EventType() string { return "team.member_set" }

// TeamMemberRemoved says that a person has left a team.
type TeamMemberRemoved struct {
	TeamID int64  `json:"teamId"`
	Slug   string `json:"team"`
	UserID int64  `json:"userId"`
	Name   string `json:"username"`
}

// EventType implements events.Payload.
func (TeamMemberRemoved) EventType() string { return "team.member_removed" }

// RulesChanged says that what an organisation's members may do is another.
type RulesChanged struct {
	BaseRole       string `json:"baseRole"`
	MembersCreate  bool   `json:"membersCreate"`
	RequirePasskey bool   `json:"requirePasskey"`
}

// EventType implements events.Payload.
func (RulesChanged) EventType() string { return "organization.rules_changed" }

// Payloads are the events of this feature.
func Payloads() []events.Payload {
	return []events.Payload{Invited{}, TeamCreated{}, TeamEdited{}, TeamDeleted{}, TeamMemberSet{}, TeamMemberRemoved{}, RulesChanged{}}
}
