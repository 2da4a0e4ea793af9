package codes

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
)

// archive streams a revision as .zip or .tar.gz. Its bytes depend on the
// revision only, so its ETag does too.
func (s *Service) archive(c *web.Ctx) error {
	name := c.Param("*")
	format, ref := git.ArchiveFormat(""), ""
	for _, f := range []git.ArchiveFormat{git.ArchiveZip, git.ArchiveTarGz} {
		if rest, ok := strings.CutSuffix(name, "."+string(f)); ok {
			format, ref = f, rest
		}
	}
	if format == "" {
		return fault.New(fault.NotFound, "Archives end with .zip or .tar.gz.")
	}
	p, err := s.at(c.Context(), c.Repo, ref)
	if err != nil {
		return emptyIsMissing(err)
	}
	if p.path != "" {
		return fault.New(fault.NotFound, "There is no such branch, tag or commit.")
	}
	base := p.repo.Name + "-" + strings.ReplaceAll(git.Display(shortRef(p)), "/", "-")
	etag := `"` + p.rev.Commit.String() + "-" + url.PathEscape(base) + "." + string(format) + `"`
	h := c.W.Header()
	h.Set("ETag", etag)
	h.Set("Cache-Control", cacheFor(p))
	if c.R.Header.Get("If-None-Match") == etag {
		c.W.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", map[git.ArchiveFormat]string{git.ArchiveZip: "application/zip", git.ArchiveTarGz: "application/gzip"}[format])
	h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(base+"."+string(format)))
	if c.R.Method == http.MethodHead {
		return nil
	}
	leave, err := s.costly.enter(c)
	if err != nil {
		h.Del("Content-Disposition")
		return err
	}
	defer leave()
	if err := p.git.Archive(c.Context(), p.rev.Commit, format, strings.NewReplacer("..", "-", "/", "-").Replace(base), c.W); err != nil {
		s.Log.WarnContext(c.Context(), "archive not sent whole", "repo", p.repo.ID, "err", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

func shortRef(p *place) string {
	if p.rev.Ref == "" {
		return p.rev.Commit.Short()
	}
	return p.ref()
}
