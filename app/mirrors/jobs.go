package mirrors

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/mirrordb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/riverqueue/river"
)

// RunArgs is the job that runs one mirror when it is asked to or due.
type RunArgs struct {
	RepoID int64 `json:"repo_id"`
	ID     int64 `json:"id"`
}

// Kind is the job's kind.
func (RunArgs) Kind() string { return "mirrors.run" }

const (
	// watchEvery is how often the job looks whether its run lives.
	watchEvery = 30 * time.Second
	// fullWait is how long it waits for a free slot.
	fullWait = 5 * time.Second
	// beatEvery is how often a run says that it lives, and lostAfter when one
	// that does not is taken up again.
	beatEvery = 3 * time.Second
	lostAfter = time.Minute
)

// Run does the job: it starts the run beside it and comes back to see whether
// it lives, for a copy may take longer than a job may.
func (s *Service) Run(ctx context.Context, args RunArgs) error {
	m, err := mirrordb.Find(ctx, s.DB.Repo(args.RepoID), args.ID)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	now := time.Now()
	switch {
	case m.State == model.MirrorWaiting:
	case m.State == model.MirrorRunning && s.runsHere(args):
		return river.JobSnooze(watchEvery)
	case m.State == model.MirrorRunning && m.BeatAt != nil && now.Sub(*m.BeatAt) < lostAfter:
		return river.JobSnooze(watchEvery)
	case m.State == model.MirrorRunning:
	case m.NextAt == nil || m.NextAt.After(now):
		return nil
	}
	select {
	case s.slots <- struct{}{}:
	default:
		return river.JobSnooze(fullWait)
	}
	if !s.begin(ctx, args) {
		<-s.slots
	}
	return river.JobSnooze(watchEvery)
}

func (s *Service) runsHere(args RunArgs) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[key(struct{ repo, id int64 }{args.RepoID, args.ID})] != nil
}

// OnPush asks the push mirrors of a repository to follow a push.
func (s *Service) OnPush(ctx context.Context, e *model.Event) error {
	var p repos.Pushed
	if err := json.Unmarshal(e.Data, &p); err != nil {
		return err
	}
	rows, err := mirrordb.List(ctx, s.DB.Repo(e.RepoID))
	if err != nil {
		return err
	}
	for _, m := range rows {
		if m.Kind != model.MirrorPush {
			continue
		}
		if err := s.RunNow(ctx, e.RepoID, m.ID); err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

// next is when a mirror runs again: as often as it should, and after failures
// ever later, at most a day.
func next(m *model.Mirror, now time.Time) *time.Time {
	wait := time.Duration(m.Every) * time.Minute
	if m.State == model.MirrorFailed {
		switch m.Kind {
		case model.MirrorImport:
			return nil
		case model.MirrorPush:
			wait = time.Minute
		}
		for range min(m.Failures-1, 12) {
			wait *= 2
		}
		wait = min(wait, 24*time.Hour)
	}
	if wait == 0 {
		return nil
	}
	at := now.Add(wait)
	return &at
}

// plan asks for the next run.
func plan(ctx context.Context, tx *db.RepoTx, m *model.Mirror) error {
	if m.NextAt == nil {
		return nil
	}
	return tx.Enqueue(ctx, RunArgs{tx.ID(), m.ID}, &river.InsertOpts{ScheduledAt: *m.NextAt})
}
