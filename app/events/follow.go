package events

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
)

// MaxWait is how long a reader may wait for events.
const MaxWait = 25 * time.Second

// Start listens for the growth of the log.
func (s *Service) Start(context.Context) error {
	s.cancel = append(s.cancel, s.db.Bus().Subscribe(db.LogChannel, func(payload string) {
		var g eventdb.Growth
		if err := json.Unmarshal([]byte(payload), &g); err != nil {
			s.log.Error("notice of the log", "err", err)
			return
		}
		s.followers.grown(g)
	}, s.followers.all))
	return nil
}

// Stop ends listening.
func (s *Service) Stop(context.Context) error {
	for _, cancel := range s.cancel {
		cancel()
	}
	return nil
}

// followers are those who wait for a repository's or account's log to grow.
type followers struct {
	mu      sync.Mutex
	waiting map[*follower]bool
}

type follower struct {
	repoID, accountID int64
	wake              chan struct{}
}

func (f *followers) add(repoID, accountID int64) *follower {
	w := &follower{repoID, accountID, make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting == nil {
		f.waiting = map[*follower]bool{}
	}
	f.waiting[w] = true
	return w
}

func (f *followers) remove(w *follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waiting, w)
}

func (f *followers) grown(g eventdb.Growth) {
	repos, accounts := set(g.Repos), set(g.Accounts)
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.waiting {
		if repos[w.repoID] || w.repoID == 0 && (w.accountID == 0 || accounts[w.accountID]) {
			w.tell()
		}
	}
}

func (f *followers) all() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.waiting {
		w.tell()
	}
}

func (w *follower) tell() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func set(ids []int64) map[int64]bool {
	m := make(map[int64]bool, len(ids))
	for _, id := range ids {
		m[id] = true
	}
	return m
}

// ListInput says which events a reader wants.
type ListInput struct {
	// RepoID or AccountID is whose log it is; neither is the instance's.
	RepoID, AccountID int64
	Types             []string
	// Hidden leaves out what is confidential to others than SeenBy.
	Hidden bool
	SeenBy int64
	// After is the id of the last event that the reader has, "" for none.
	After string
	// Wait is how long to wait when there is nothing yet.
	Wait          time.Duration
	Limit, Offset int
}

// quiet are the sources whose events come in such numbers that a list leaves
// them out unless asked for.
func quiet() []string { return []string{"status.", "check.", "checks."} }

// List returns events, newest first; after an event, oldest first. With Wait
// it waits for the first event that matches, until the time is over, the
// instance stops or ctx ends, and then returns none. ErrUnknownAfter when
// After is not in this log.
func (s *Service) List(ctx context.Context, in ListInput) ([]*model.Event, error) {
	f := eventdb.Filter{RepoID: in.RepoID, AccountID: in.AccountID, Types: in.Types, Except: quiet(),
		Hidden: in.Hidden, SeenBy: in.SeenBy, Limit: in.Limit, Offset: in.Offset}
	// Wait first, read then: what comes between is not missed.
	var w *follower
	if in.Wait > 0 {
		w = s.followers.add(in.RepoID, in.AccountID)
		defer s.followers.remove(w)
	}
	var err error
	switch {
	case in.After != "":
		f.After, err = s.after(ctx, in)
	case in.Wait > 0:
		f.After, err = eventdb.Last(ctx, s.db.Events())
	}
	if err != nil {
		return nil, err
	}
	end := time.NewTimer(min(in.Wait, MaxWait))
	defer end.Stop()
	for last := in.Wait <= 0; ; {
		list, err := eventdb.List(ctx, s.db.Events(), f)
		if err != nil || len(list) > 0 || last {
			return list, err
		}
		select {
		case <-w.wake:
		case <-end.C:
			last = true // a notice may have been lost: look once more
		case <-s.stopping:
			return nil, nil
		case <-ctx.Done():
			return nil, nil
		}
	}
}

func (s *Service) after(ctx context.Context, in ListInput) (*model.Event, error) {
	e, err := eventdb.ByID(ctx, s.db.Events(), in.After)
	if err == nil && (in.RepoID == 0 || e.RepoID == in.RepoID) && (in.AccountID == 0 || e.AccountID == in.AccountID) {
		return e, nil
	}
	if err == nil || errors.Is(err, db.ErrNotFound) {
		return nil, ErrUnknownAfter
	}
	return nil, err
}
