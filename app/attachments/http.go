package attachments

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

func num(n int64) string { return strconv.FormatInt(n, 10) }

// Routes mounts uploading and sending.
func (s *Service) Routes(r *web.Router) {
	const at = "/{owner}/{repo}/attachments"
	r.Post(at, s.Gate.RepoPost(), s.upload)
	r.Get(at+"/{id}/{name}", s.Gate.Repo(model.RoleRead), s.send)
}

func place(c *web.Ctx) threads.Place {
	return threads.Place{Viewer: c.Viewer, Repo: c.Repo, Role: c.Role}
}

// added is what a field for Markdown is told of a file that it sent.
type added struct {
	URL      string `json:"url"`
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	Markdown string `json:"markdown"`
}

// upload takes the file of a form, as it comes.
func (s *Service) upload(c *web.Ctx) error {
	parts, err := c.R.MultipartReader()
	if err != nil {
		return fault.Wrap(fault.BadRequest, "This form holds no file.", err)
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return fault.New(fault.BadRequest, "This form holds no file.")
		}
		if err != nil {
			return fault.Wrap(fault.BadRequest, "The upload ended before it was complete.", err)
		}
		if part.FileName() == "" {
			continue
		}
		a, err := s.Add(c.Context(), place(c), part.FileName(), part)
		if f := fault.From(err); err != nil && f.Kind != fault.Internal && f.Kind != fault.Unavailable {
			return c.JSON(f.Kind.Status(), map[string]string{"message": f.Error()})
		}
		if err != nil {
			return err
		}
		out := added{URL: c.URL(link.Attachment(c.Repo.Owner.Name, c.Repo.Name, a.ID, a.Name)), Name: a.Name, Size: a.Size}
		out.Markdown = "[" + a.Name + "](" + out.URL + ")"
		if strings.HasPrefix(a.ContentType, "image/") {
			out.Markdown = "!" + out.Markdown
		}
		return c.JSON(http.StatusCreated, out)
	}
}

// inline says whether a browser shows what has this type in its page; the rest
// is downloaded.
func inline(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, "/")
	return kind == "image" || kind == "video" || kind == "audio" || contentType == "application/pdf" || strings.HasPrefix(contentType, "text/plain")
}

// send answers with a file; nothing in it can act on this origin.
func (s *Service) send(c *web.Ctx) error {
	a, err := s.Find(c.Context(), place(c), c.Param("id"))
	if err != nil {
		return err
	}
	content, _, err := s.space(c.Repo.ID).Open(c.Context(), a.SHA256)
	if errors.Is(err, blob.ErrNotFound) {
		return db.ErrNotFound
	}
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // reading has shown its errors
	h := c.W.Header()
	h.Set("Content-Type", a.ContentType)
	disposition := "attachment"
	if inline(a.ContentType) {
		disposition = "inline"
	}
	h.Set("Content-Disposition", disposition+"; filename*=UTF-8''"+url.PathEscape(a.Name))
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src 'self'; sandbox")
	h.Set("ETag", `"`+a.SHA256+`"`)
	h.Set("Cache-Control", "private, max-age=3600")
	http.ServeContent(c.W, c.R, "", time.Time{}, content)
	return nil
}
