package releases

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/releasedb"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

func (s *Service) assetRoutes(r *web.Router) {
	read, write := s.Gate.Repo(model.RoleRead), s.Gate.RepoChange(model.RoleWrite)
	const at = "/{owner}/{repo}/releases"
	r.Get(at+"/download/*", read, s.download)
	r.Get(at+"/latest/download/*", read, s.downloadLatest)
	r.Post(at+"/{id}/assets", write, s.attach)
	r.Post(at+"/{id}/assets/{asset}/delete", write, s.detach)
}

// download sends a file of a published release; the rest of the address is
// the tag, which may hold slashes, and the file's name.
func (s *Service) download(c *web.Ctx) error {
	rest := c.Param("*")
	cut := strings.LastIndexByte(rest, '/')
	if cut < 0 {
		return db.ErrNotFound
	}
	state := s.DB.Repo(c.Repo.ID)
	r, err := releasedb.ByTag(c.Context(), state, rest[:cut])
	if err != nil {
		return err
	}
	a, err := releasedb.AssetNamed(c.Context(), state, r.ID, rest[cut+1:])
	if err != nil {
		return err
	}
	return s.send(c, a)
}

func (s *Service) downloadLatest(c *web.Ctx) error {
	r, err := releasedb.Latest(c.Context(), s.DB.Repo(c.Repo.ID))
	if err != nil {
		return err
	}
	http.Redirect(c.W, c.R, link.ReleaseAsset(c.Repo.Owner.Name, c.Repo.Name, r.Tag, c.Param("*")), http.StatusFound)
	return nil
}

// send answers with a file's content, as a download that nothing in it can
// act from.
func (s *Service) send(c *web.Ctx, a *model.ReleaseAsset) error {
	content, _, err := s.space(c.Repo.ID).Open(c.Context(), a.SHA256)
	if errors.Is(err, blob.ErrNotFound) {
		return fault.New(fault.NotFound, "The content of this file is missing.")
	}
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // reading has shown its errors
	h := c.W.Header()
	h.Set("Content-Type", a.ContentType)
	h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(a.Name))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("ETag", `"`+a.SHA256+`"`)
	h.Set("Cache-Control", "private, no-cache")
	if c.R.Method == http.MethodGet && c.R.Header.Get("Range") == "" && c.R.Header.Get("If-None-Match") == "" {
		err := s.DB.InRepo(c.Context(), c.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
			return releasedb.CountDownload(ctx, tx, a.ID)
		})
		if err != nil {
			return err
		}
	}
	http.ServeContent(c.W, c.R, "", time.Time{}, content)
	return nil
}

// attach adds the files of a form to a release. They are read as they come.
func (s *Service) attach(c *web.Ctx) error {
	r, err := s.found(c)
	if err != nil {
		return err
	}
	parts, err := c.R.MultipartReader()
	if err != nil {
		return fault.Wrap(fault.BadRequest, "This form holds no files.", err)
	}
	n := 0
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fault.Wrap(fault.BadRequest, "The upload ended before it was complete.", err)
		}
		if part.FileName() == "" {
			continue
		}
		_, err = s.Upload(c.Context(), c.Viewer, c.Repo, r.ID, AssetInput{Name: part.FileName(), ContentType: part.Header.Get("Content-Type")}, part)
		if fields, ok := invalid(err); ok {
			if r, err = s.found(c); err != nil {
				return err
			}
			return s.renderForm(c, http.StatusUnprocessableEntity, r, formOf(r), ui.Errors{"files": fields.Get("name")}, "")
		}
		if err != nil {
			return err
		}
		n++
	}
	to := link.Releases(c.Repo.Owner.Name, c.Repo.Name) + "/" + num(r.ID) + "/edit#files"
	if n == 0 {
		return c.RedirectFlash(to, "No file was chosen.")
	}
	return c.RedirectFlash(to, ui.Plural(n, "file")+" attached.")
}

func (s *Service) detach(c *web.Ctx) error {
	r, err := s.found(c)
	if err != nil {
		return err
	}
	id, err := c.ParamInt("asset")
	if err != nil {
		return err
	}
	a, err := s.DeleteAsset(c.Context(), c.Viewer, c.Repo, id)
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Releases(c.Repo.Owner.Name, c.Repo.Name)+"/"+num(r.ID)+"/edit#files", a.Name+" is gone.")
}
