// Package state works on scopes from outside: it lets those sleep that nobody
// touches, keeps spare schemas ready, shows what a scope holds, and backs up
// and restores the instance.
package state

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/instance"
	"github.com/gitfor/gitfor/db"
)

// WantSpares is how many spare schemas of each kind are kept ready. Accounts come
// slower than repositories get their first issue.
func WantSpares() map[db.Kind]int { return map[db.Kind]int{db.RepoKind: 16, db.AccountKind: 8} }

// Deps are what the service needs.
type Deps struct {
	DB  *db.DB
	Git *git.Store
	// Pools holds what the forks of a network borrow.
	Pools    *git.Store
	Instance *instance.Service
	Log      *slog.Logger
	// DataDir is the folder of all data.
	DataDir string
	// SecretKeyFile seals secrets at rest.
	SecretKeyFile string
	Version       string
	// Spares keeps spare schemas ready while the service runs.
	Spares bool
}

// Service works on scopes.
type Service struct {
	Deps
	cleaners  []Cleaner
	backfills []Backfill
	cancel    context.CancelFunc
	done      chan struct{}
}

// New makes the service.
func New(deps Deps) *Service { return &Service{Deps: deps} }

const (
	flushEvery = time.Hour
	// fillAfter is how long after a spare was taken new ones are made: not
	// in the midst of what took it.
	fillAfter = 300 * time.Millisecond
)

// Start notes touches and keeps spare schemas ready until Stop.
func (s *Service) Start(ctx context.Context) error {
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		s.run(ctx)
	}()
	return nil
}

// Stop ends it, with the touches of the last hour noted.
func (s *Service) Stop(ctx context.Context) error {
	s.cancel()
	<-s.done
	return s.DB.FlushTouches(ctx)
}

func (s *Service) run(ctx context.Context) {
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	fill := time.NewTimer(fillAfter)
	defer fill.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-s.DB.SpareTaken():
			fill.Reset(fillAfter)
		case <-fill.C:
			if s.Spares {
				err = s.FillSpares(ctx)
			}
		case <-flush.C:
			err = s.DB.FlushTouches(ctx)
		}
		if err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "state: upkeep failed and is tried again", "err", err)
		}
	}
}

// FillSpares makes spare schemas until there are enough.
func (s *Service) FillSpares(ctx context.Context) error {
	for kind, want := range WantSpares() {
		if _, err := s.DB.FillSpares(ctx, kind, want); err != nil {
			return err
		}
	}
	return nil
}

// SleepAfter is how long a scope is untouched before it sleeps; 0 is for ever.
func (s *Service) SleepAfter(ctx context.Context) (time.Duration, error) {
	set, err := s.Instance.Load(ctx)
	return time.Duration(set.SleepAfterDays) * 24 * time.Hour, err
}

// SleepIdle lets all scopes sleep that were untouched for long, and returns how
// many. One that cannot sleep now holds up no other.
func (s *Service) SleepIdle(ctx context.Context) (slept int, err error) {
	after, err := s.SleepAfter(ctx)
	if err != nil || after == 0 {
		return 0, err
	}
	const page = 100
	before, cursor := time.Now().Add(-after), ""
	for {
		scopes, err := s.DB.Idle(ctx, before, cursor, page)
		if err != nil {
			return slept, err
		}
		for _, scope := range scopes {
			cursor = scope.String()
			did, err := s.DB.SleepIdle(ctx, scope, before)
			switch {
			case ctx.Err() != nil:
				return slept, ctx.Err()
			case did:
				slept++
			case err != nil && !errors.Is(err, db.ErrNotFound):
				s.Log.WarnContext(ctx, "state: a scope does not sleep", "scope", cursor, "err", err)
			}
		}
		if len(scopes) < page {
			return slept, nil
		}
	}
}
