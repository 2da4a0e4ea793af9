package lfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/lfsdb"
	"github.com/gitfor/gitfor/db/model"
)

// Keys of the instance's settings; both are in megabytes, "" or "0" for no
// limit.
const (
	// SettingQuota is what the repositories of one account may keep together.
	SettingQuota = "lfs.quota_mb"
	// SettingLargest is how large one file may be.
	SettingLargest = "lfs.object_mb"
)

// megabyte is the unit of the settings, in bytes.
const megabyte = 1 << 20

// Limits are what the operator allows, in bytes; 0 is no limit.
type Limits struct{ Quota, Largest int64 }

// Limits reads them.
func (s *Service) Limits(ctx context.Context) (Limits, error) {
	var l Limits
	for key, dst := range map[string]*int64{SettingQuota: &l.Quota, SettingLargest: &l.Largest} {
		value, err := accountdb.Setting(ctx, s.DB.Directory(), key)
		if err != nil {
			return l, err
		}
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > 0 {
			*dst = n * megabyte
		}
	}
	return l, nil
}

// SetLimits changes them. A part of a megabyte counts as a whole one.
func (s *Service) SetLimits(ctx context.Context, l Limits) error {
	f := fault.Fields{}
	if l.Quota < 0 {
		f.Add("quota", "Give a number of megabytes, or 0 for no limit.")
	}
	if l.Largest < 0 {
		f.Add("largest", "Give a number of megabytes, or 0 for no limit.")
	}
	if err := f.Err(); err != nil {
		return err
	}
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		for key, n := range map[string]int64{SettingQuota: l.Quota, SettingLargest: l.Largest} {
			if err := accountdb.SetSetting(ctx, tx, key, strconv.FormatInt((n+megabyte-1)/megabyte, 10)); err != nil {
				return err
			}
		}
		return nil
	})
}

// room checks one upload after the other against the limits.
type room struct {
	limits Limits
	owner  string
	used   int64
}

func (s *Service) room(ctx context.Context, repo *model.Repo) (*room, error) {
	limits, err := s.Limits(ctx)
	if err != nil {
		return nil, err
	}
	r := &room{limits: limits, owner: repo.Owner.Name}
	if limits.Quota > 0 {
		used, err := lfsdb.OfOwner(ctx, s.DB.Directory(), repo.OwnerID)
		if err != nil {
			return nil, err
		}
		r.used = used.Bytes
	}
	return r, nil
}

// take takes room for size bytes, or says why there is none.
func (r *room) take(size int64) string {
	switch {
	case r.limits.Largest > 0 && size > r.limits.Largest:
		return fmt.Sprintf("The file has %s; here a large file may have at most %s.", inMB(size), inMB(r.limits.Largest))
	case r.limits.Quota > 0 && r.used+size > r.limits.Quota:
		return fmt.Sprintf("Large files of %s take %s of %s, and this one has %s. Remove some repositories, or ask the operator for more room.",
			r.owner, inMB(r.used), inMB(r.limits.Quota), inMB(size))
	}
	r.used += size
	return ""
}

func inMB(n int64) string {
	if n < megabyte {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	return strconv.FormatFloat(float64(n)/megabyte, 'f', 1, 64) + " MB"
}

// Receive takes an object into a repository. size is what was announced, -1
// when nothing was.
func (s *Service) Receive(ctx context.Context, viewer *model.Viewer, repo *model.Repo, oid string, size int64, r io.Reader) error {
	if !blob.IsSHA256(oid) {
		return fault.Field("oid", "This is no SHA-256.")
	}
	if err := s.admit(ctx, repo, max(size, 0)); err != nil {
		return err
	}
	if size < 0 {
		// Not announced: the whole is read before it is known.
		limits, err := s.Limits(ctx)
		if err != nil {
			return err
		}
		if limits.Largest > 0 {
			r = io.LimitReader(r, limits.Largest+1)
		}
		info, err := s.store.Put(ctx, r)
		if err != nil {
			return err
		}
		if info.SHA256 != oid {
			return mismatch()
		}
		if err := s.admit(ctx, repo, info.Size); err != nil {
			return err
		}
		size = info.Size
	} else if err := s.store.PutAs(ctx, oid, size, r); errors.Is(err, blob.ErrMismatch) {
		return mismatch()
	} else if err != nil {
		return err
	}
	return s.link(ctx, viewer, repo, oid, size)
}

func mismatch() error {
	return fault.New(fault.Invalid, "The content is not what its name and size say. Try again.")
}

func (s *Service) admit(ctx context.Context, repo *model.Repo, size int64) error {
	r, err := s.room(ctx, repo)
	if err != nil {
		return err
	}
	if why := r.take(size); why != "" {
		return fault.New(fault.TooLarge, why)
	}
	return nil
}

// link gives a repository an object whose content is there: in the directory
// first, so that the content stays, and then in the repository.
func (s *Service) link(ctx context.Context, viewer *model.Viewer, repo *model.Repo, oid string, size int64) error {
	err := s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return lfsdb.Hold(ctx, tx, repo.ID, oid, size)
	})
	if errors.Is(err, db.ErrConflict) {
		return &fault.Fault{Kind: fault.Unavailable, RetryAfter: 5, Message: "This file was just being removed. Try again in a moment."}
	}
	if err != nil {
		return fmt.Errorf("hold lfs object: %w", err)
	}
	return s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		return lfsdb.AddObject(ctx, tx, &model.LFSObject{OID: oid, Size: size, AccountID: viewer.ID()})
	})
}

// sweepBatch is how many blobs are removed at once.
const sweepBatch = 200

// Sweep removes the content that no repository has kept for a day, and content
// that an upload left without a row. It returns how many blobs it removed.
func (s *Service) Sweep(ctx context.Context) (removed int, err error) {
	if err := s.DB.InDirectory(ctx, lfsdb.NoticeUnheld); err != nil {
		return 0, err
	}
	if err := s.adoptStrays(ctx); err != nil {
		return 0, err
	}
	for {
		var gone []string
		err := s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) (err error) {
			gone, err = lfsdb.Condemn(ctx, tx, tx.Now().Add(-blob.Keep), sweepBatch)
			return err
		})
		if err != nil || len(gone) == 0 {
			return removed, err
		}
		for _, oid := range gone {
			if err := s.store.Delete(ctx, oid); err != nil {
				return removed, err
			}
			removed++
		}
		err = s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error { return lfsdb.Forget(ctx, tx, gone) })
		if err != nil {
			return removed, err
		}
	}
}

// adoptStrays gives content without a row one that says it is to be removed.
func (s *Service) adoptStrays(ctx context.Context) error {
	var batch []string
	before := time.Now().Add(-blob.Keep)
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		known, err := lfsdb.Known(ctx, s.DB.Directory(), batch)
		if err != nil {
			return err
		}
		var strays []string
		for _, oid := range batch {
			if !known[oid] {
				strays = append(strays, oid)
			}
		}
		batch = batch[:0]
		if len(strays) == 0 {
			return nil
		}
		return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error { return lfsdb.Adopt(ctx, tx, strays) })
	}
	err := s.store.Each(ctx, func(i blob.Info) error {
		if i.ModTime.After(before) {
			return nil
		}
		if batch = append(batch, i.SHA256); len(batch) < sweepBatch {
			return nil
		}
		return flush()
	})
	return errors.Join(err, flush())
}
