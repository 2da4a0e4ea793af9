package mirrors

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/mirrordb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// longest is how long one copy may take.
const longest = 6 * time.Hour

// begin starts a run unless it runs here or the service stops.
func (s *Service) begin(ctx context.Context, args RunArgs) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := key{args.RepoID, args.ID}
	if s.stopped || s.running[k] != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
	s.running[k] = cancel
	s.wg.Go(func() {
		defer func() {
			cancel()
			s.mu.Lock()
			delete(s.running, k)
			s.mu.Unlock()
			<-s.slots
		}()
		s.run(ctx, args)
	})
	return true
}

// run is one run from beginning to end. When the service stops it says nothing:
// the job takes it up again.
func (s *Service) run(ctx context.Context, args RunArgs) {
	m, repo, err := s.take(ctx, args)
	if gone(err) {
		return
	}
	if err == nil {
		p := newProgress()
		live, stop := context.WithCancel(ctx)
		beats := make(chan struct{})
		go func() {
			defer close(beats)
			s.beat(live, args, p)
		}()
		err = s.copy(ctx, repo, m, p)
		stop()
		<-beats
	}
	s.mu.Lock()
	stopped := s.stopped
	s.mu.Unlock()
	if stopped && ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := s.finish(ctx, args, err); err != nil && !gone(err) {
		s.Log.ErrorContext(ctx, "mirror: result not written", "repo", args.RepoID, "mirror", args.ID, "err", err)
	}
}

// take marks the mirror as running.
func (s *Service) take(ctx context.Context, args RunArgs) (m *model.Mirror, repo *model.Repo, err error) {
	if repo, err = repodb.ByIDAny(ctx, s.DB.Directory(), args.RepoID); err != nil {
		return nil, nil, err
	}
	if repo.DeletedAt != nil {
		return nil, nil, db.ErrNotFound
	}
	err = s.change(ctx, args, func(tx *db.RepoTx, row *model.Mirror) ([]string, error) {
		now := tx.Now()
		row.State, row.StartedAt, row.BeatAt, row.Phase, row.Percent, row.Again = model.MirrorRunning, &now, &now, "Connecting", 0, false
		m = row
		return []string{"state", "started_at", "beat_at", "phase", "percent", "again"}, nil
	})
	return m, repo, err
}

// change changes a mirror's row in a transaction.
func (s *Service) change(ctx context.Context, args RunArgs, fn func(tx *db.RepoTx, m *model.Mirror) (columns []string, err error)) error {
	return s.DB.InRepo(ctx, args.RepoID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := tx.Write(ctx, mirrordb.Domain); err != nil {
			return err
		}
		m, err := mirrordb.Find(ctx, tx.Repo, args.ID)
		if err != nil {
			return err
		}
		columns, err := fn(tx, m)
		if err != nil {
			return err
		}
		return mirrordb.Update(ctx, tx, m, columns...)
	})
}

// beat writes down how far the run is, as a sign of life.
func (s *Service) beat(ctx context.Context, args RunArgs, p *progress) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := s.change(ctx, args, func(tx *db.RepoTx, m *model.Mirror) ([]string, error) {
			now := tx.Now()
			m.BeatAt = &now
			m.Phase, m.Percent = p.now()
			return []string{"beat_at", "phase", "percent"}, nil
		})
		if err != nil && ctx.Err() == nil && !gone(err) {
			s.Log.WarnContext(ctx, "mirror: progress not written", "repo", args.RepoID, "err", err)
		}
	}
}

// finish writes how the run went and plans the next.
func (s *Service) finish(ctx context.Context, args RunArgs, failed error) error {
	return s.change(ctx, args, func(tx *db.RepoTx, m *model.Mirror) ([]string, error) {
		now := tx.Now()
		m.FinishedAt, m.Phase, m.Percent = &now, "", 100
		if failed == nil {
			m.State, m.Message, m.Failures, m.OKAt = model.MirrorOK, "", 0, &now
			if m.Kind == model.MirrorImport {
				m.Secret = nil // it is not needed any more
			}
		} else {
			m.State, m.Message, m.Failures = model.MirrorFailed, explain(failed), m.Failures+1
			s.Log.InfoContext(ctx, "mirror failed", "repo", args.RepoID, "mirror", args.ID, "err", failed)
			if m.Kind != model.MirrorImport && m.Failures == warnFailures {
				if err := tx.Enqueue(ctx, WarnArgs(args), nil); err != nil {
					return nil, err
				}
			}
		}
		m.NextAt = next(m, now)
		if m.Again {
			m.Again, m.State, m.NextAt = false, model.MirrorWaiting, &now
		}
		columns := []string{"finished_at", "phase", "percent", "state", "message", "failures", "ok_at", "secret", "next_at", "again"}
		return columns, plan(ctx, tx, m)
	})
}
