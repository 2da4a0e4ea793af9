package jobs

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/lfs"
	"github.com/gitfor/gitfor/app/state"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/riverqueue/river"
)

// periodic is the one list of what runs on a clock and belongs to no scope;
// what expires in a scope arms its alarm instead.
func periodic() []*river.PeriodicJob {
	return []*river.PeriodicJob{
		river.NewPeriodicJob(river.PeriodicInterval(6*time.Hour), func() (river.JobArgs, *river.InsertOpts) {
			return PurgeLogArgs{}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true}),
		river.NewPeriodicJob(river.PeriodicInterval(time.Hour), func() (river.JobArgs, *river.InsertOpts) {
			return state.SleepArgs{}, nil
		}, nil),
		river.NewPeriodicJob(river.PeriodicInterval(time.Hour), func() (river.JobArgs, *river.InsertOpts) {
			return state.PurgeArgs{}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true}),
		river.NewPeriodicJob(river.PeriodicInterval(12*time.Hour), func() (river.JobArgs, *river.InsertOpts) {
			return lfs.SweepArgs{}, nil
		}, nil),
		river.NewPeriodicJob(river.PeriodicInterval(time.Hour), func() (river.JobArgs, *river.InsertOpts) {
			return state.StartArgs{}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true}),
	}
}

// PurgeLogArgs is the job that drops what the event store no longer keeps.
type PurgeLogArgs struct{}

// Kind is the job's kind.
func (PurgeLogArgs) Kind() string { return "events.purge" }

func purgeLog(a *app.App) func(context.Context, PurgeLogArgs) error {
	return func(ctx context.Context, _ PurgeLogArgs) error {
		if _, err := eventdb.Purge(ctx, a.DB, time.Now()); err != nil {
			return err
		}
		return a.Notifications.Expire(ctx, time.Now())
	}
}
