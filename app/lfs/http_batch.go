package lfs

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
)

// The batch API: https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md

type batchRequest struct {
	Operation string   `json:"operation"`
	Transfers []string `json:"transfers"`
	Objects   []object `json:"objects"`
	HashAlgo  string   `json:"hash_algo"`
}

type batchAnswer struct {
	Transfer string   `json:"transfer"`
	Objects  []object `json:"objects"`
	HashAlgo string   `json:"hash_algo"`
}

type object struct {
	OID           string             `json:"oid"`
	Size          int64              `json:"size"`
	Authenticated bool               `json:"authenticated,omitempty"`
	Actions       map[string]*action `json:"actions,omitempty"`
	Error         *objectError       `json:"error,omitempty"`
}

type action struct {
	Href      string            `json:"href"`
	Header    map[string]string `json:"header,omitempty"`
	ExpiresIn int               `json:"expires_in,omitempty"`
	ExpiresAt *time.Time        `json:"expires_at,omitempty"`
}

type objectError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// maxBatch is how many objects one request may name.
const maxBatch = 1000

// Transfers that are offered; uploads in parts are tus's
// (https://tus.io/protocols/resumable-upload).
const (
	basicTransfer = "basic"
	tusTransfer   = "tus"
)

func (s *Service) batch(c *web.Ctx) error {
	var in batchRequest
	if err := c.Decode(&in); err != nil {
		return err
	}
	switch {
	case in.HashAlgo != "" && in.HashAlgo != "sha256":
		return fault.New(fault.Conflict, "Large files have SHA-256 names here, not "+strconv.Quote(in.HashAlgo)+".")
	case in.Operation != "download" && in.Operation != "upload":
		return fault.Field("operation", "This is upload or download.")
	case len(in.Objects) > maxBatch:
		return fault.New(fault.TooLarge, "Ask for at most 1000 objects at once.")
	}
	if c.Repo == nil {
		if in.Operation == "download" {
			return db.ErrNotFound
		}
		if err := s.create(c); err != nil {
			return err
		}
	}
	out := batchAnswer{Transfer: basicTransfer, HashAlgo: "sha256", Objects: []object{}}
	var oids []string
	for _, o := range in.Objects {
		if blob.IsSHA256(o.OID) {
			oids = append(oids, o.OID)
		}
	}
	have, err := s.have(c.Context(), c.Viewer, c.Repo, oids)
	if err != nil {
		return err
	}
	var each func(o *object) error
	if in.Operation == "upload" {
		if err := mayWrite(c); err != nil {
			return err
		}
		if slices.Contains(in.Transfers, tusTransfer) {
			out.Transfer = tusTransfer
		}
		each, err = s.uploads(c, have, out.Transfer)
	} else {
		each = s.downloads(c, have)
	}
	if err != nil {
		return err
	}
	for _, o := range in.Objects {
		o = object{OID: o.OID, Size: o.Size}
		if !blob.IsSHA256(o.OID) || o.Size < 0 {
			o.Error = &objectError{http.StatusUnprocessableEntity, "The name is no SHA-256, or the size is negative."}
		} else if err := each(&o); err != nil {
			return err
		}
		out.Objects = append(out.Objects, o)
	}
	return answer(c, http.StatusOK, out)
}

// act is a transfer of an object at path.
func (s *Service) act(c *web.Ctx, header map[string]string, path string) *action {
	a := &action{Href: c.URL(lfsPath(c.Repo) + path), Header: header}
	if header != nil {
		at := time.Now().Add(tokenTime).UTC().Truncate(time.Second)
		a.ExpiresIn, a.ExpiresAt = int(tokenTime.Seconds()), &at
	}
	return a
}

func (s *Service) downloads(c *web.Ctx, have map[string]int64) func(o *object) error {
	header := s.header(c.Viewer, c.Repo)
	return func(o *object) error {
		size, ok := have[o.OID]
		switch {
		case !ok:
			o.Error = &objectError{http.StatusNotFound, "This repository has no such object."}
		case size != o.Size:
			o.Error = &objectError{http.StatusUnprocessableEntity, "The object has another size."}
		default:
			o.Authenticated, o.Actions = true, map[string]*action{"download": s.act(c, header, "/objects/"+o.OID)}
		}
		return nil
	}
}

func (s *Service) uploads(c *web.Ctx, have map[string]int64, transfer string) (func(o *object) error, error) {
	room, err := s.room(c.Context(), c.Repo)
	if err != nil {
		return nil, err
	}
	header := s.header(c.Viewer, c.Repo)
	path := "/objects/"
	if transfer == tusTransfer {
		path = "/tus/"
	}
	return func(o *object) error {
		if size, ok := have[o.OID]; ok {
			if size != o.Size {
				o.Error = &objectError{http.StatusUnprocessableEntity, "The object has another size."}
				return nil
			}
			// What came from the source of a fork is the fork's from now on.
			return s.link(c.Context(), c.Viewer, c.Repo, o.OID, size)
		}
		if why := room.take(o.Size); why != "" {
			o.Error = &objectError{http.StatusInsufficientStorage, why}
			return nil
		}
		o.Authenticated = true
		o.Actions = map[string]*action{
			"upload": s.act(c, header, path+o.OID+"?size="+strconv.FormatInt(o.Size, 10)),
			"verify": s.act(c, header, "/verify"),
		}
		return nil
	}, nil
}
