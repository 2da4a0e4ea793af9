package lfs

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/lfsdb"
)

// The locking API: https://github.com/git-lfs/git-lfs/blob/main/docs/api/locking.md

type lockRef struct {
	Name string `json:"name"`
}

type lockWire struct {
	ID       string    `json:"id"`
	Path     string    `json:"path"`
	LockedAt time.Time `json:"locked_at"`
	Owner    lockOwner `json:"owner"`
}

type lockOwner struct {
	Name string `json:"name"`
}

func wire(l Lock) lockWire {
	return lockWire{strconv.FormatInt(l.ID, 10), l.Path, l.CreatedAt.UTC().Truncate(time.Second), lockOwner{l.Owner}}
}

type oneLock struct {
	Lock    lockWire `json:"lock"`
	Message string   `json:"message,omitempty"`
}

type lockList struct {
	Locks      []lockWire `json:"locks"`
	NextCursor string     `json:"next_cursor,omitempty"`
}

func (s *Service) createLock(c *web.Ctx) error {
	var in struct {
		Path string   `json:"path"`
		Ref  *lockRef `json:"ref"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	ref := ""
	if in.Ref != nil {
		ref = in.Ref.Name
	}
	lock, err := s.Lock(c.Context(), c.Viewer, c.Repo, in.Path, ref)
	var taken *LockedError
	if errors.As(err, &taken) {
		return answer(c, http.StatusConflict, oneLock{wire(taken.Lock), taken.Error()})
	}
	if err != nil {
		return err
	}
	return answer(c, http.StatusCreated, oneLock{Lock: wire(*lock)})
}

// maxLocks is how many locks one answer has at most.
const maxLocks = 1000

// page is a page of locks that begins after cursor, and the next cursor.
func (s *Service) page(c *web.Ctx, f lfsdb.LockFilter, cursor string, limit int) ([]Lock, string, error) {
	if limit <= 0 || limit > maxLocks {
		limit = 100
	}
	if cursor != "" {
		after, err := strconv.ParseInt(cursor, 10, 64)
		if err != nil {
			return nil, "", db.ErrNotFound
		}
		f.After = after
	}
	f.Limit = limit + 1
	locks, err := s.Locks(c.Context(), c.Repo, f)
	if err != nil || len(locks) <= limit {
		return locks, "", err
	}
	locks = locks[:limit]
	return locks, strconv.FormatInt(locks[limit-1].ID, 10), nil
}

func (s *Service) listLocks(c *web.Ctx) error {
	f := lfsdb.LockFilter{Path: c.Query("path")}
	if id := c.Query("id"); id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n <= 0 {
			return answer(c, http.StatusOK, lockList{Locks: []lockWire{}})
		}
		f.ID = n
	}
	locks, next, err := s.page(c, f, c.Query("cursor"), c.QueryInt("limit", 0, 0, maxLocks))
	if err != nil {
		return err
	}
	out := lockList{Locks: []lockWire{}, NextCursor: next}
	for _, l := range locks {
		out.Locks = append(out.Locks, wire(l))
	}
	return answer(c, http.StatusOK, out)
}

// verifyLocks tells a client before it pushes which locks are its own.
func (s *Service) verifyLocks(c *web.Ctx) error {
	var in struct {
		Cursor string `json:"cursor"`
		Limit  int    `json:"limit"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	locks, next, err := s.page(c, lfsdb.LockFilter{}, in.Cursor, in.Limit)
	if err != nil {
		return err
	}
	out := struct {
		Ours       []lockWire `json:"ours"`
		Theirs     []lockWire `json:"theirs"`
		NextCursor string     `json:"next_cursor,omitempty"`
	}{[]lockWire{}, []lockWire{}, next}
	for _, l := range locks {
		if l.AccountID == c.Viewer.ID() {
			out.Ours = append(out.Ours, wire(l))
		} else {
			out.Theirs = append(out.Theirs, wire(l))
		}
	}
	return answer(c, http.StatusOK, out)
}

func (s *Service) deleteLock(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	var in struct {
		Force bool `json:"force"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	lock, err := s.Unlock(c.Context(), c.Viewer, c.Repo, c.Role, id, in.Force)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, oneLock{Lock: wire(*lock)})
}
