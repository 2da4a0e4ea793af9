package repos

import "github.com/gitfor/gitfor/app/events"

// Facts is what the events of a repository tell of it.
type Facts struct {
	Name          string `json:"name"`
	FullName      string `json:"full_name"`
	Private       bool   `json:"private"`
	DefaultBranch string `json:"default_branch"`
	Description   string `json:"description,omitempty"`
	ForkOf        int64  `json:"fork_of,omitempty"`
}

// Created says that a repository was made.
type Created struct{ Facts }

// EventType implements events.Payload.
func (Created) EventType() string { return "repo.created" }

// Forked says that a repository was made as a fork.
type Forked struct {
	Facts
	Parent string `json:"parent"`
}

// EventType implements events.Payload.
func (Forked) EventType() string { return "repo.forked" }

// Edited says that description, website, topics or switches changed.
type Edited struct {
	Facts
	Changed []string `json:"changed"`
}

// EventType implements events.Payload.
func (Edited) EventType() string { return "repo.edited" }

// Renamed says that the repository has a new name; the old one redirects.
type Renamed struct {
	Facts
	From string `json:"from"`
}

// EventType implements events.Payload.
func (Renamed) EventType() string { return "repo.renamed" }

// Transferred says that the repository has a new owner.
type Transferred struct {
	Facts
	From string `json:"from"`
}

// EventType implements events.Payload.
func (Transferred) EventType() string { return "repo.transferred" }

// VisibilityChanged says that it became public or private.
type VisibilityChanged struct {
	Facts
	From string `json:"from"`
}

// EventType implements events.Payload.
func (VisibilityChanged) EventType() string { return "repo.visibility_changed" }

// DefaultBranchChanged says that another branch is the default.
type DefaultBranchChanged struct {
	Facts
	From string `json:"from"`
}

// EventType implements events.Payload.
func (DefaultBranchChanged) EventType() string { return "repo.default_branch_changed" }

// Archived says that the repository became read-only.
type Archived struct{ Facts }

// EventType implements events.Payload.
func (Archived) EventType() string { return "repo.archived" }

// Unarchived says that the repository can be written again.
type Unarchived struct{ Facts }

// EventType implements events.Payload.
func (Unarchived) EventType() string { return "repo.unarchived" }

// Deleted says that the repository was deleted; it can be restored for a while.
type Deleted struct{ Facts }

// EventType implements events.Payload.
func (Deleted) EventType() string { return "repo.deleted" }

// Restored says that a deleted repository is back.
type Restored struct{ Facts }

// EventType implements events.Payload.
func (Restored) EventType() string { return "repo.restored" }

// Payloads lists the events of this package for the catalogue.
func Payloads() []events.Payload {
	return []events.Payload{Pushed{}, Created{}, Forked{}, Edited{}, Renamed{}, Transferred{}, VisibilityChanged{},
		DefaultBranchChanged{}, Archived{}, Unarchived{}, Deleted{}, Restored{}}
}
