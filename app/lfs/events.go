package lfs

import "github.com/gitfor/gitfor/app/events"

// Locked is the data of lfs.locked: a path may be changed by one person only.
type Locked struct {
	ID   int64  `json:"id"`
	Path string `json:"path"`
}

// EventType is the event's type.
func (Locked) EventType() string { return "lfs.locked" }

// Unlocked is the data of lfs.unlocked.
type Unlocked struct {
	ID   int64  `json:"id"`
	Path string `json:"path"`
	// OwnerID is whose lock it was; Forced says that somebody else ended it.
	OwnerID int64 `json:"ownerId"`
	Forced  bool  `json:"forced"`
}

// EventType is the event's type.
func (Unlocked) EventType() string { return "lfs.unlocked" }

// Payloads are the events about large files.
func Payloads() []events.Payload { return []events.Payload{Locked{}, Unlocked{}} }
