package model

import (
	"time"

	"github.com/uptrace/bun"
)

// Kinds of mirrors.
const (
	MirrorImport = "import"
	MirrorPull   = "pull"
	MirrorPush   = "push"
)

// States of mirrors.
const (
	MirrorWaiting = "waiting"
	MirrorRunning = "running"
	MirrorOK      = "ok"
	MirrorFailed  = "failed"
)

// Mirror is a repository elsewhere that this one was imported from, follows or
// is copied to.
type Mirror struct {
	bun.BaseModel `bun:"table:?scope.mirrors,alias:mi"`

	ID       int64  `bun:"id,pk"`
	Kind     string `bun:"kind"`
	URL      string `bun:"url"`
	Username string `bun:"username"`
	// Secret is the sealed password, nil for none.
	Secret    []byte `bun:"secret"`
	AccountID int64  `bun:"account_id"`
	// Every is how often it is repeated in minutes, 0 for not by the clock.
	Every   int    `bun:"every_minutes"`
	State   string `bun:"state"`
	Message string `bun:"message"`
	// Phase and Percent say how far a run is.
	Phase   string `bun:"phase"`
	Percent int    `bun:"percent"`
	// Again asks for one more run after this one.
	Again      bool       `bun:"again"`
	Failures   int        `bun:"failures"`
	CreatedAt  time.Time  `bun:"created_at"`
	StartedAt  *time.Time `bun:"started_at"`
	BeatAt     *time.Time `bun:"beat_at"`
	FinishedAt *time.Time `bun:"finished_at"`
	OKAt       *time.Time `bun:"ok_at"`
	NextAt     *time.Time `bun:"next_at"`
}

// Busy says that a run waits or is under way.
func (m *Mirror) Busy() bool { return m.State == MirrorWaiting || m.State == MirrorRunning }
