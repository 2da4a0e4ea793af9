package jobs

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// worker calls do for each job of type T.
type worker[T river.JobArgs] struct {
	river.WorkerDefaults[T]
	do func(ctx context.Context, args T) error
}

// Work does one job.
func (w *worker[T]) Work(ctx context.Context, job *river.Job[T]) error { return w.do(ctx, job.Args) }

// Timeout is that of the job's queue.
func (w *worker[T]) Timeout(job *river.Job[T]) time.Duration { return timeoutOf(job.Queue) }

// on registers do for the jobs of type T.
func on[T river.JobArgs](r *registry, do func(ctx context.Context, args T) error) {
	var args T
	river.AddWorker(r.workers, &worker[T]{do: do})
	opts := river.InsertOpts{}
	if o, ok := any(args).(river.JobArgsWithInsertOpts); ok {
		opts = o.InsertOpts()
	}
	r.kinds = append(r.kinds, kind{args.Kind(), opts})
}

// registry is every kind of job and its worker.
type registry struct {
	workers *river.Workers
	kinds   []kind
}

type kind struct {
	name string
	opts river.InsertOpts
}

// register is the one list of what runs as a job.
func register(a *app.App) *registry {
	r := &registry{workers: river.NewWorkers()}
	on(r, a.Events.Handle)
	on(r, a.Alarms.Ring)
	on(r, purgeLog(a))
	on(r, a.Threads.ReferNow)
	on(r, a.Issues.FinishTransfer)
	on(r, a.Mail.Deliver)
	on(r, a.Notifications.MailNow)
	on(r, a.Notifications.PushNow)
	on(r, a.Webhooks.WarnNow)
	on(r, a.State.Sleep)
	on(r, a.State.PurgeJob)
	on(r, a.LFS.SweepNow)
	on(r, a.Mirrors.Run)
	on(r, a.Mirrors.WarnNow)
	on(r, a.Upkeep.Work)
	on(r, a.State.StartBackfills)
	on(r, a.State.BackfillPage)
	return r
}

// maxFailures is how many failures of its handler a job is allowed; then it
// is a dead letter, kept until somebody looks at it.
const maxFailures = 3

// maxMailFailures is that of mail: servers put strangers off for hours.
const maxMailFailures = 9

// deadLetters ends the tries of a job that failed too often. A lost worker is
// no failure of the handler: what the rescuer noted does not count.
type deadLetters struct{}

const rescued = "Stuck job rescued by JobRescuer"

// HandleError makes this the last attempt of a job that failed maxFailures
// times.
func (deadLetters) HandleError(_ context.Context, job *rivertype.JobRow, _ error) *river.ErrorHandlerResult {
	failures := 1
	for _, e := range job.Errors {
		if e.Error != rescued {
			failures++
		}
	}
	allowed := maxFailures
	if job.Queue == QueueMail {
		allowed = maxMailFailures
	}
	if failures >= allowed {
		job.MaxAttempts = job.Attempt
	}
	return nil
}

// HandlePanic treats a panic as an error.
func (d deadLetters) HandlePanic(ctx context.Context, job *rivertype.JobRow, _ any, _ string) *river.ErrorHandlerResult {
	return d.HandleError(ctx, job, nil)
}
