package codes

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/codeview"
)

// LargeFile is what a pointer in git stands for.
type LargeFile struct {
	// ID is the content's SHA-256.
	ID string
	// Size is in bytes.
	Size int64
	// Content is nil when the repository does not have it; else it must be
	// closed.
	Content io.ReadSeekCloser
}

// maxPointer is the length of the longest pointer, in bytes.
const maxPointer = 1024

// large is what a file stands for, nil for an ordinary one.
func (s *Service) large(c *web.Ctx, data []byte) (*LargeFile, error) {
	if s.Large == nil || len(data) > maxPointer {
		return nil, nil //nolint:nilnil // an ordinary file
	}
	return s.Large(c.Context(), c.Viewer, c.Repo, data)
}

// throughPointer notes on the page that the file is a large one and returns
// its beginning: all of it when it can be shown as text. done says that the
// page needs nothing more.
func (s *Service) throughPointer(c *web.Ctx, data []byte, f *codeview.FileProps) (content []byte, id string, done bool, err error) {
	l, err := s.large(c, data)
	if err != nil || l == nil {
		return data, "", false, err
	}
	f.Large, f.Size, f.Edit = true, l.Size, ""
	if l.Content == nil {
		f.Show = codeview.ShowMissing
		return nil, "", true, nil
	}
	defer l.Content.Close() //nolint:errcheck // read only
	limit := int64(maxShown)
	if l.Size > maxShown {
		limit = markup.HeadSize
	}
	content, err = io.ReadAll(io.LimitReader(l.Content, limit))
	if err != nil || l.Size <= maxShown {
		return content, l.ID, false, err
	}
	switch markup.KindOf(f.Name, content) {
	case markup.KindImage, markup.KindSVG:
		f.Show = codeview.ShowImage
	case markup.KindPDF:
		f.Show = codeview.ShowPDF
	case markup.KindAudio, markup.KindVideo, markup.KindBinary:
		f.Show = codeview.ShowBinary
	default:
		f.Show = codeview.ShowTooLarge
	}
	return nil, "", true, nil
}

// sendLarge answers with what a file stands for; false when it stands for
// itself.
func (s *Service) sendLarge(c *web.Ctx, p *place, e git.TreeEntry) (bool, error) {
	if s.Large == nil {
		return false, nil
	}
	data, err := p.git.Blob(c.Context(), e.OID, maxPointer)
	if errors.Is(err, git.ErrTooLarge) {
		return false, nil
	}
	if err != nil {
		return false, lost(err)
	}
	l, err := s.large(c, data)
	if err != nil || l == nil || l.Content == nil {
		return false, err
	}
	defer l.Content.Close() //nolint:errcheck // read only
	name := path.Base(p.path)
	first := make([]byte, min(l.Size, markup.HeadSize))
	if _, err := io.ReadFull(l.Content, first); err != nil {
		return false, err
	}
	rawHeaders(c, p, name, first, l.ID)
	http.ServeContent(c.W, c.R, "", time.Time{}, l.Content)
	return true, nil
}

// rawHeaders are those of a file's bytes: never something that a browser would
// run.
func rawHeaders(c *web.Ctx, p *place, name string, first []byte, tag string) {
	h := c.W.Header()
	h.Set("Content-Type", markup.ContentType(name, first))
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src 'self'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Content-Disposition", "inline; filename*=UTF-8''"+url.PathEscape(name))
	h.Set("ETag", `"`+tag+`"`)
	h.Set("Cache-Control", cacheFor(p))
}
