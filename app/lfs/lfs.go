package lfs

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/lfsdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// Deps are what the service needs.
type Deps struct {
	DB    *db.DB
	Gate  *perms.Gate
	Repos *repos.Service
	Ring  *secret.Ring
	Blobs *blob.Stores
	Log   *slog.Logger
	// URL is the public address.
	URL string
	// Account finds a person by id, db.ErrNotFound or a fault when they may
	// not sign in any more.
	Account func(ctx context.Context, id int64) (*model.User, error)
}

// Service keeps large files.
type Service struct {
	Deps
	store blob.Store
}

// Space is the name of the blob space of large files.
const Space = "lfs"

// New makes the service.
func New(deps Deps) *Service { return &Service{deps, deps.Blobs.Space(Space)} }

// Pointer is what stands in git for a large file.
type Pointer struct {
	OID  string
	Size int64
}

// MaxPointer is the length of the longest pointer, in bytes.
const MaxPointer = 1024

// ParsePointer reads a pointer
// (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md); false when data
// is none.
func ParsePointer(data []byte) (Pointer, bool) {
	var p Pointer
	if len(data) > MaxPointer {
		return p, false
	}
	version, rest, _ := strings.Cut(string(data), "\n")
	switch version {
	case "version https://git-lfs.github.com/spec/v1", "version https://hawser.github.com/spec/v1":
	default:
		return p, false
	}
	sized := false
	for line := range strings.SplitSeq(strings.TrimSuffix(rest, "\n"), "\n") {
		key, value, ok := strings.Cut(line, " ")
		switch {
		case !ok:
			return p, false
		case key == "oid":
			p.OID, ok = strings.CutPrefix(value, "sha256:")
			if !ok || !blob.IsSHA256(p.OID) {
				return p, false
			}
		case key == "size":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 {
				return p, false
			}
			p.Size, sized = n, true
		}
	}
	return p, p.OID != "" && sized
}

// maxParents bounds how many repositories up a fork's objects are looked for.
const maxParents = 5

// have returns which objects the viewer gets from a repository: those that it
// has, and those of what it was forked from, where the viewer may read that.
func (s *Service) have(ctx context.Context, viewer *model.Viewer, repo *model.Repo, oids []string) (map[string]int64, error) {
	found, err := lfsdb.Objects(ctx, s.DB.Repo(repo.ID), oids)
	for range maxParents {
		if err != nil || len(found) == len(oids) || repo.ForkOf == 0 {
			return found, err
		}
		if repo, _, err = repodb.FindID(ctx, s.DB.Directory(), repo.ForkOf, viewer.ID()); errors.Is(err, db.ErrNotFound) {
			return found, nil
		} else if err != nil {
			return found, err
		}
		var missing []string
		for _, oid := range oids {
			if _, ok := found[oid]; !ok {
				missing = append(missing, oid)
			}
		}
		var more map[string]int64
		more, err = lfsdb.Objects(ctx, s.DB.Repo(repo.ID), missing)
		for oid, size := range more {
			found[oid] = size
		}
	}
	return found, err
}

// Open opens an object of a repository for a viewer who may read it;
// db.ErrNotFound when the repository has no such object.
func (s *Service) Open(ctx context.Context, viewer *model.Viewer, repo *model.Repo, oid string) (io.ReadSeekCloser, blob.Info, error) {
	if !blob.IsSHA256(oid) {
		return nil, blob.Info{}, db.ErrNotFound
	}
	found, err := s.have(ctx, viewer, repo, []string{oid})
	if err != nil {
		return nil, blob.Info{}, err
	}
	if len(found) == 0 {
		return nil, blob.Info{}, db.ErrNotFound
	}
	f, info, err := s.store.Open(ctx, oid)
	if errors.Is(err, blob.ErrNotFound) {
		s.Log.ErrorContext(ctx, "lfs: content of an object is missing", "repo", repo.ID, "oid", oid)
		err = db.ErrNotFound
	}
	return f, info, err
}

// Has says whether a viewer gets the object from a repository.
func (s *Service) Has(ctx context.Context, viewer *model.Viewer, repo *model.Repo, oid string) (bool, error) {
	found, err := s.have(ctx, viewer, repo, []string{oid})
	return len(found) == 1, err
}
