package model

import "time"

// The levels of a watch.
const (
	WatchAll      = "all"
	WatchReleases = "releases"
	WatchIgnore   = "ignore"
	WatchCustom   = "custom"
)

// WatchKinds are the kinds that a custom watch chooses among.
func WatchKinds() []string { return []string{KindIssue, KindPull, KindDiscussion, KindRelease} }

// Standing is how an account stands to a repository.
type Standing struct {
	Starred bool `bun:"starred"`
	// Watch is the level of the watch, "" for none; Since when it was set.
	Watch string `bun:"watch"`
	// Kinds are those of a custom watch.
	Kinds []string   `bun:"kinds,array"`
	Since *time.Time `bun:"since"`
	// ForkID is the account's own fork of the repository, 0 for none, and
	// ForkName its name.
	ForkID   int64  `bun:"fork_id"`
	ForkName string `bun:"fork_name"`
}

// Stargazer is who starred or watches a repository, and when.
type Stargazer struct {
	Account `bun:",extend"`

	At time.Time `bun:"at,scanonly"`
}
