package lfs

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/lfsdb"
	"github.com/gitfor/gitfor/db/model"
)

// Lock is a lock with its owner's name.
type Lock struct {
	*model.LFSLock
	Owner string
}

// LockedError says that a path is locked already.
type LockedError struct{ Lock Lock }

func (e *LockedError) Error() string {
	return e.Lock.Path + " is locked by " + e.Lock.Owner + " already"
}

// maxPath is the longest path that can be locked, in bytes.
const maxPath = 4096

// Lock locks a path for the viewer. A *LockedError names who has it.
func (s *Service) Lock(ctx context.Context, viewer *model.Viewer, repo *model.Repo, path, ref string) (*Lock, error) {
	clean, ok := git.CleanPath(path)
	if !ok || clean == "" || clean != path || len(path) > maxPath || !utf8.ValidString(path) {
		return nil, fault.Field("path", "Name a file by its path from the top of the repository.")
	}
	if len(ref) > maxPath || !utf8.ValidString(ref) {
		return nil, fault.Field("ref", "That is no ref.")
	}
	lock := &model.LFSLock{Path: path, Ref: ref, AccountID: viewer.ID()}
	var taken *model.LFSLock
	err := s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := tx.Write(ctx, lfsdb.Domain); err != nil {
			return err
		}
		there, err := lfsdb.Locks(ctx, tx.Repo, lfsdb.LockFilter{Path: path})
		if err != nil {
			return err
		}
		if len(there) > 0 {
			taken = there[0]
			return db.ErrConflict
		}
		if err := lfsdb.InsertLock(ctx, tx, lock); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, Locked{ID: lock.ID, Path: lock.Path})
	})
	if taken != nil && errors.Is(err, db.ErrConflict) {
		named, err := s.named(ctx, taken)
		if err != nil {
			return nil, err
		}
		return nil, &LockedError{named[0]}
	}
	if err != nil {
		return nil, err
	}
	return &Lock{lock, viewer.Name()}, nil
}

// Unlock ends a lock. That of somebody else needs force and the role maintain.
func (s *Service) Unlock(ctx context.Context, viewer *model.Viewer, repo *model.Repo, role model.Role, id int64, force bool) (*Lock, error) {
	var lock *model.LFSLock
	err := s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := tx.Write(ctx, lfsdb.Domain); err != nil {
			return err
		}
		there, err := lfsdb.Locks(ctx, tx.Repo, lfsdb.LockFilter{ID: id})
		if err != nil {
			return err
		}
		if len(there) == 0 {
			return db.ErrNotFound
		}
		lock = there[0]
		mine := lock.AccountID == viewer.ID()
		switch {
		case mine:
		case !force:
			return fault.New(fault.Forbidden, "This lock is somebody else's. A maintainer can end it with force.")
		case !role.AtLeast(model.RoleMaintain):
			return fault.New(fault.Forbidden, "Only a maintainer can end somebody else's lock.")
		}
		if err := lfsdb.DeleteLock(ctx, tx, id); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer},
			Unlocked{ID: lock.ID, Path: lock.Path, OwnerID: lock.AccountID, Forced: !mine})
	})
	if err != nil {
		return nil, err
	}
	named, err := s.named(ctx, lock)
	if err != nil {
		return nil, err
	}
	return &named[0], nil
}

// Locks lists locks with their owners' names, the oldest first.
func (s *Service) Locks(ctx context.Context, repo *model.Repo, f lfsdb.LockFilter) ([]Lock, error) {
	rows, err := lfsdb.Locks(ctx, s.DB.Repo(repo.ID), f)
	if err != nil {
		return nil, err
	}
	return s.named(ctx, rows...)
}

// LockOf is the lock on a path, nil for none.
func (s *Service) LockOf(ctx context.Context, repo *model.Repo, path string) (*Lock, error) {
	if !utf8.ValidString(path) {
		return nil, nil //nolint:nilnil // such a path cannot be locked
	}
	locks, err := s.Locks(ctx, repo, lfsdb.LockFilter{Path: path, Limit: 1})
	if err != nil || len(locks) == 0 {
		return nil, err
	}
	return &locks[0], nil
}

func (s *Service) named(ctx context.Context, rows ...*model.LFSLock) ([]Lock, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(rows))
	for i, l := range rows {
		ids[i] = l.AccountID
	}
	accounts, err := accountdb.ByIDs(ctx, s.DB.Directory(), ids...)
	if err != nil {
		return nil, err
	}
	out := make([]Lock, len(rows))
	for i, l := range rows {
		out[i] = Lock{l, "ghost"}
		if a := accounts[l.AccountID]; a != nil {
			out[i].Owner = a.Name
		}
	}
	return out, nil
}
