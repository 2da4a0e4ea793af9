package upkeep

import (
	"time"

	"github.com/riverqueue/river"
)

// Queue is the queue of git's own long work: few at once.
const Queue = "git"

// Args is the job that maintains one git folder.
type Args struct {
	RepoID int64 `json:"repo_id"`
	// Pool says that it is the pool that forks of RepoID borrow from.
	Pool bool `json:"pool,omitempty"`
	// Why tells jobs of the same folder apart: "push", "expire" when the grace
	// period of objects ends, "operator" for all steps at once.
	Why string `json:"why"`
}

// The reasons.
const (
	WhyPush     = "push"
	WhyExpire   = "expire"
	WhyOperator = "operator"
)

// Kind is the job's kind.
func (Args) Kind() string { return "git.maintain" }

// InsertOpts keeps one job of a kind for each folder.
func (Args) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: Queue, UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

// settle is how long a folder is left alone after a push: others often follow.
const settle = 20 * time.Second

// again is when a run that found somebody writing is tried again.
const again = 10 * time.Minute

// betweenFull is the least time between full repacks of a folder that are made
// for dropped commits.
const betweenFull = 24 * time.Hour
