package state

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/riverqueue/river"
)

// Deleting marks the row in the directory, which is the authority: while it is
// there the repository or account can be restored, or its removal goes on. So
// the stores are emptied in this order, and each step may happen twice:
//
//  1. what features keep outside the database (OnDestroy), while the scope's
//     tables can still say what it is
//  2. the scope: schema, sleeping parcel, alarm, rows of cell and events
//  3. git's data, and the pool of the network when nobody else borrows
//  4. the directory
//
// A killed run is taken up by the next one.

// goneFor is how long the register remembers that a scope was destroyed: longer
// than any job that still knows its id.
const goneFor = 7 * 24 * time.Hour

// grace is how much longer than the restore window things are kept, so that
// nothing is restored and removed at once.
const grace = time.Hour

// Cleaner removes what a feature keeps of a scope outside the database. It may
// run again after a crash.
type Cleaner func(ctx context.Context, s db.Scope) error

// OnDestroy adds a cleaner; before Start only.
func (s *Service) OnDestroy(c Cleaner) { s.cleaners = append(s.cleaners, c) }

// PurgeArgs is the job that removes for good what was deleted long ago.
type PurgeArgs struct{}

// Kind is the job's kind.
func (PurgeArgs) Kind() string { return "state.purge" }

// InsertOpts gives it the queue of what may take long.
func (PurgeArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: Queue} }

// PurgeJob does the job.
func (s *Service) PurgeJob(ctx context.Context, _ PurgeArgs) error {
	_, err := s.Purge(ctx, time.Now())
	return err
}

// Purged is what Purge removed.
type Purged struct{ Repos, Accounts int }

// Purge removes for good what was deleted longer ago than the instance's
// restore window, as seen at now. What fails holds up nothing else.
func (s *Service) Purge(ctx context.Context, now time.Time) (done Purged, err error) {
	set, err := s.Instance.Load(ctx)
	if err != nil {
		return done, err
	}
	before := now.AddDate(0, 0, -set.DeletedKeepDays).Add(-grace)
	const page = 100
	repos, err := repodb.Expired(ctx, s.DB.Directory(), before, page)
	if err != nil {
		return done, err
	}
	var failed []error
	for _, r := range repos {
		if err := s.destroyRepo(ctx, r, now); err != nil {
			failed = append(failed, err)
			continue
		}
		done.Repos++
	}
	accounts, err := accountdb.Expired(ctx, s.DB.Directory(), before, page)
	if err != nil {
		return done, errors.Join(append(failed, err)...)
	}
	for _, a := range accounts {
		if err := s.destroyAccount(ctx, a, now, &done); err != nil {
			failed = append(failed, err)
		}
	}
	if _, err := s.DB.ForgetGone(ctx, now.Add(-goneFor)); err != nil {
		failed = append(failed, err)
	}
	failed = append(failed, s.Git.Sweep(), s.Pools.Sweep())
	return done, errors.Join(failed...)
}

// destroyRepo removes a deleted repository for good.
func (s *Service) destroyRepo(ctx context.Context, r *model.Repo, now time.Time) error {
	if r.DeletedAt == nil {
		return fmt.Errorf("repository %d is not deleted", r.ID)
	}
	if err := s.destroyScope(ctx, db.RepoScope(r.ID), now); err != nil {
		return err
	}
	if err := s.Git.Remove(r.ID); err != nil {
		return err
	}
	if err := s.DB.FailPoint("purge.git"); err != nil {
		return err
	}
	err := s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := audit.Record(ctx, tx, audit.Entry{Action: "repo.purge", Repo: r}); err != nil {
			return err
		}
		return repodb.Destroy(ctx, tx, r.ID)
	})
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return fmt.Errorf("remove repository %d: %w", r.ID, err)
	}
	if err := s.DB.FailPoint("purge.directory"); err != nil {
		return err
	}
	return s.dropPool(ctx, r)
}

// dropPool removes what the forks of a network borrowed, with the last of them.
func (s *Service) dropPool(ctx context.Context, r *model.Repo) error {
	root := r.RootID
	if root == 0 {
		root = r.ID
	}
	used, err := repodb.NetworkUsed(ctx, s.DB.Directory(), root)
	if err != nil || used {
		return err
	}
	return s.Pools.Remove(root)
}

func (s *Service) destroyScope(ctx context.Context, scope db.Scope, now time.Time) error {
	for _, clean := range s.cleaners {
		if err := clean(ctx, scope); err != nil && !errors.Is(err, db.ErrNotFound) {
			return fmt.Errorf("clean up after %s: %w", scope, err)
		}
	}
	if err := s.DB.FailPoint("purge.cleaned"); err != nil {
		return err
	}
	if err := s.DB.Destroy(ctx, scope, now); err != nil {
		return fmt.Errorf("destroy %s: %w", scope, err)
	}
	return s.DB.FailPoint("purge.scope")
}

// destroyAccount removes a deleted account for good, with its repositories.
func (s *Service) destroyAccount(ctx context.Context, a *model.Account, now time.Time, done *Purged) error {
	repos, err := repodb.OwnedBy(ctx, s.DB.Directory(), a.ID)
	if err != nil {
		return err
	}
	// Others may link to what was public under the name.
	retire := false
	for _, r := range repos {
		retire = retire || !r.IsPrivate()
		if err := s.destroyRepo(ctx, r, now); err != nil {
			return err
		}
		done.Repos++
	}
	if err := s.destroyScope(ctx, db.AccountScope(a.ID), now); err != nil {
		return err
	}
	err = s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := audit.Record(ctx, tx, audit.Entry{Action: "account.purge", AccountID: a.ID, Target: a.Name}); err != nil {
			return err
		}
		return accountdb.Destroy(ctx, tx, a, retire)
	})
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return fmt.Errorf("remove account %d: %w", a.ID, err)
	}
	done.Accounts++
	return nil
}
