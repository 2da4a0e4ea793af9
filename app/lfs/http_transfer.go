package lfs

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
)

// download sends an object, or the ranges of it that were asked for.
func (s *Service) download(c *web.Ctx) error {
	f, info, err := s.Open(c.Context(), c.Viewer, c.Repo, c.Param("oid"))
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // read only
	h := c.W.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("ETag", `"`+info.SHA256+`"`)
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	h.Set("Content-Disposition", "attachment")
	http.ServeContent(c.W, c.R, "", info.ModTime, f)
	return nil
}

// announced is the size in an upload's address, or the request's own, -1 for
// none.
func announced(c *web.Ctx) int64 {
	if n, err := strconv.ParseInt(c.Query("size"), 10, 64); err == nil && n >= 0 {
		return n
	}
	return c.R.ContentLength
}

func (s *Service) upload(c *web.Ctx) error {
	if err := s.Receive(c.Context(), c.Viewer, c.Repo, c.Param("oid"), announced(c), c.R.Body); err != nil {
		return err
	}
	c.W.WriteHeader(http.StatusOK)
	return nil
}

// verify says whether an upload arrived.
func (s *Service) verify(c *web.Ctx) error {
	var o object
	if err := c.Decode(&o); err != nil {
		return err
	}
	have, err := s.have(c.Context(), c.Viewer, c.Repo, []string{o.OID})
	if err != nil {
		return err
	}
	size, ok := have[o.OID]
	switch {
	case !ok:
		return fault.New(fault.NotFound, "This object did not arrive.")
	case size != o.Size:
		return fault.Field("size", "The object has another size.")
	}
	return answer(c, http.StatusOK, struct{}{})
}

// tusVersion is the protocol of uploads in parts.
const tusVersion = "1.0.0"

// partial is the upload of an object to the repository in c.
func (s *Service) partial(c *web.Ctx) (*blob.Partial, int64, error) {
	size, err := strconv.ParseInt(c.Query("size"), 10, 64)
	if err != nil || size < 0 || !blob.IsSHA256(c.Param("oid")) {
		return nil, 0, db.ErrNotFound
	}
	c.W.Header().Set("Tus-Resumable", tusVersion)
	return s.Blobs.Partial("lfs-" + strconv.FormatInt(c.Repo.ID, 10) + "-" + c.Param("oid")), size, nil
}

// tusOffset says how much of an upload is here: where the client goes on.
func (s *Service) tusOffset(c *web.Ctx) error {
	p, size, err := s.partial(c)
	if err != nil {
		return err
	}
	have, err := s.have(c.Context(), c.Viewer, c.Repo, []string{c.Param("oid")})
	if err != nil {
		return err
	}
	offset := size
	if _, ok := have[c.Param("oid")]; !ok {
		if offset, err = p.Size(); err != nil {
			return err
		}
	}
	if offset == size && size > 0 && len(have) == 0 {
		// All parts are here and the last request ended before it said so.
		if err := s.complete(c, p, size); err != nil {
			return err
		}
	}
	h := c.W.Header()
	h.Set("Upload-Offset", strconv.FormatInt(offset, 10))
	h.Set("Upload-Length", strconv.FormatInt(size, 10))
	h.Set("Cache-Control", "no-store")
	c.W.WriteHeader(http.StatusOK)
	return nil
}

// tusPart takes the next part.
func (s *Service) tusPart(c *web.Ctx) error {
	p, size, err := s.partial(c)
	if err != nil {
		return err
	}
	offset, err := strconv.ParseInt(c.R.Header.Get("Upload-Offset"), 10, 64)
	if err != nil || offset < 0 || c.R.Header.Get("Content-Type") != "application/offset+octet-stream" {
		return fault.New(fault.BadRequest, "A part needs an Upload-Offset and the type application/offset+octet-stream.")
	}
	if err := s.admit(c.Context(), c.Repo, size); err != nil {
		return err
	}
	now, err := p.Append(c.Context(), offset, size, c.R.Body)
	switch {
	case errors.Is(err, blob.ErrOffset):
		return fault.New(fault.Conflict, "This part does not begin where the upload ended.")
	case errors.Is(err, blob.ErrBusy):
		return fault.New(fault.Conflict, "Another part of this upload is on its way.")
	case errors.Is(err, blob.ErrMismatch):
		return fault.New(fault.TooLarge, "The upload is larger than announced.")
	case err != nil:
		return err
	}
	if now == size {
		if err := s.complete(c, p, size); err != nil {
			return err
		}
	}
	c.W.Header().Set("Upload-Offset", strconv.FormatInt(now, 10))
	return c.NoContent()
}

func (s *Service) complete(c *web.Ctx, p *blob.Partial, size int64) error {
	err := p.Finish(c.Context(), s.store, c.Param("oid"), size)
	if errors.Is(err, blob.ErrMismatch) {
		return mismatch()
	}
	if err != nil {
		return err
	}
	return s.link(c.Context(), c.Viewer, c.Repo, c.Param("oid"), size)
}
