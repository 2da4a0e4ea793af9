package state

import (
	"context"

	"github.com/riverqueue/river"
)

// SleepArgs is the job that lets untouched scopes sleep.
type SleepArgs struct{}

// Kind is the job's kind.
func (SleepArgs) Kind() string { return "state.sleep" }

// InsertOpts gives it the queue of what may take long.
func (SleepArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: Queue} }

// Queue is the queue of upkeep: few at once, and each may take long.
const Queue = "upkeep"

// Sleep does the job.
func (s *Service) Sleep(ctx context.Context, _ SleepArgs) error {
	_, err := s.SleepIdle(ctx)
	return err
}
