// Package upkeep maintains git folders when they need it: it packs what many
// pushes left lying about, writes the commit-graph, and lets go of what nothing
// has referred to for two weeks.
//
//	upkeep.go  when a folder needs what, and the run itself
//	jobs.go    the job
//	http.go    the operator's page
//
// Tables: cell.git_upkeep. It follows git.push. Views: views/adminview.
package upkeep

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/upkeepdb"
	"github.com/riverqueue/river"
)

// Deps are what maintenance is built on.
type Deps struct {
	DB   *db.DB
	Gate *perms.Gate
	// Git holds the repositories, Pools what forks borrow.
	Git, Pools *git.Store
	Log        *slog.Logger
}

// Service maintains git folders.
type Service struct{ Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps} }

// OnPush is the subscriber that asks for maintenance after pushes.
func (s *Service) OnPush(ctx context.Context, e *model.Event) error {
	var push repos.Pushed
	if err := json.Unmarshal(e.Data, &push); err != nil {
		return err
	}
	dropped := push.RefsTotal > len(push.Refs)
	for _, r := range push.Refs {
		dropped = dropped || r.Forced || r.Deleted
	}
	if dropped {
		if err := s.DB.InCell(ctx, func(ctx context.Context, tx db.CellTx) error {
			return upkeepdb.NoteDropped(ctx, tx, e.RepoID)
		}); err != nil {
			return err
		}
	}
	return s.Check(ctx, e.RepoID, false)
}

// Check looks at a folder and asks for a run when it needs one.
func (s *Service) Check(ctx context.Context, repoID int64, pool bool) error {
	g, err := s.open(ctx, repoID, pool)
	if g == nil || err != nil {
		return err
	}
	stats, err := g.Stats(ctx)
	if err != nil {
		return err
	}
	known, err := upkeepdb.Of(ctx, s.DB.Cell(), repoID, pool)
	if err != nil {
		return err
	}
	now := time.Now()
	at := now.Add(settle)
	if plan(known, stats, now).None() {
		if known.DroppedAt == nil || known.FullAt == nil {
			return nil
		}
		at = known.FullAt.Add(betweenFull)
	}
	return s.Ask(ctx, Args{repoID, pool, WhyPush}, at)
}

// Ask makes a job; where one of the same kind waits it stays the only one.
func (s *Service) Ask(ctx context.Context, args Args, at time.Time) error {
	return s.DB.InCell(ctx, func(ctx context.Context, tx db.CellTx) error {
		opts := args.InsertOpts()
		opts.ScheduledAt = at
		return tx.Enqueue(ctx, args, &opts)
	})
}

// open is the folder, nil where there is none (any more).
func (s *Service) open(ctx context.Context, repoID int64, pool bool) (*git.Repository, error) {
	store := s.Git
	if pool {
		store = s.Pools
	}
	g, err := store.Open(ctx, repoID)
	if errors.Is(err, git.ErrNoRepository) {
		return nil, nil
	}
	return g, err
}

// plan is what a folder needs.
func plan(known *model.GitUpkeep, stats git.Stats, now time.Time) git.MaintainOptions {
	o := stats.Needs()
	if known.Pool {
		// Nothing goes that a fork may borrow.
		o.KeepUnreachable, o.Expire = true, false
		return o
	}
	if known.DroppedAt != nil && (known.FullAt == nil || now.Sub(*known.FullAt) >= betweenFull) {
		o.Full, o.Graph = true, o.Graph || stats.GraphCommits > 0
	}
	return o
}

// Work does the job.
func (s *Service) Work(ctx context.Context, args Args) error {
	g, err := s.open(ctx, args.RepoID, args.Pool)
	if err != nil {
		return err
	}
	if g == nil {
		return upkeepdb.Forget(ctx, s.DB.Cell(), args.RepoID)
	}
	before, err := g.Stats(ctx)
	if err != nil {
		return err
	}
	u, err := upkeepdb.Of(ctx, s.DB.Cell(), args.RepoID, args.Pool)
	if err != nil {
		return err
	}
	start := time.Now().UTC()
	opts := plan(u, before, start)
	if args.Why == WhyOperator {
		opts.Refs, opts.Full, opts.Graph = true, true, true
		opts.Expire = !args.Pool
	}
	if opts.None() {
		return nil
	}
	failed := g.Maintain(ctx, opts)
	if errors.Is(failed, git.ErrMaintained) {
		return river.JobSnooze(again)
	}
	after, err := g.Stats(context.WithoutCancel(ctx))
	if err != nil {
		return errors.Join(failed, err)
	}
	u.StartedAt, u.TookMS, u.Did, u.Error = &start, time.Since(start).Milliseconds(), steps(opts), ""
	u.BytesBefore, u.BytesAfter, u.FilesBefore, u.FilesAfter = before.Bytes, after.Bytes, files(before), files(after)
	writing := errors.Is(failed, git.ErrWriting)
	if failed == nil || writing {
		if opts.Full {
			u.FullAt = &start
		}
	} else {
		u.Error = failed.Error()
	}
	if err := s.record(context.WithoutCancel(ctx), u, opts, after); err != nil {
		return errors.Join(failed, err)
	}
	if writing {
		// All was done but the letting go, which waits for the writers.
		return river.JobSnooze(again)
	}
	return failed
}

// record saves a run, and asks for the one that lets go of what this one found
// to be unreachable.
func (s *Service) record(ctx context.Context, u *model.GitUpkeep, opts git.MaintainOptions, after git.Stats) error {
	return s.DB.InCell(ctx, func(ctx context.Context, tx db.CellTx) error {
		if err := upkeepdb.Save(ctx, tx, u); err != nil {
			return err
		}
		if !opts.Full || u.Pool || after.CruftPacks == 0 {
			return nil
		}
		expire := Args{u.RepoID, false, WhyExpire}
		jobOpts := expire.InsertOpts()
		jobOpts.ScheduledAt = u.StartedAt.Add(git.DefaultGrace + time.Hour)
		return tx.Enqueue(ctx, expire, &jobOpts)
	})
}

// files is how many files git must look through.
func files(s git.Stats) int64 {
	return int64(s.LooseObjects + s.LooseRefs + s.Packs + s.CruftPacks)
}

// steps names what a run did.
func steps(o git.MaintainOptions) []string {
	out := []string{}
	for _, step := range []struct {
		done bool
		name string
	}{{o.Refs, "refs"}, {o.Repack && !o.Full, "packs"}, {o.Full, "full repack"}, {o.Graph, "commit-graph"}, {o.Expire, "expiry"}} {
		if step.done {
			out = append(out, step.name)
		}
	}
	return out
}
