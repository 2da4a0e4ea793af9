package lfs

import (
	"context"

	"github.com/riverqueue/river"
)

// SweepArgs is the job that removes content that no repository has.
type SweepArgs struct{}

// Kind is the job's kind.
func (SweepArgs) Kind() string { return "lfs.sweep" }

// InsertOpts gives it the queue of what may take long.
func (SweepArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: "upkeep"} }

// SweepNow does the job.
func (s *Service) SweepNow(ctx context.Context, _ SweepArgs) error {
	_, err := s.Sweep(ctx)
	return err
}
