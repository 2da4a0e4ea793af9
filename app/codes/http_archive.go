package codes

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
)

// archive streams a revision as .zip or .tar.gz.
func (s *Service) archive(c *web.Ctx) error {
	name := c.Param("*")
	format, ref := "", ""
	for _, f := range []string{"zip", "tar.gz"} {
		if rest, ok := strings.CutSuffix(name, "."+f); ok {
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
	etag := `"` + p.rev.Commit.String() + "." + format + `"`
	h := c.W.Header()
	h.Set("ETag", etag)
	h.Set("Cache-Control", cacheFor(p))
	if c.R.Header.Get("If-None-Match") == etag {
		c.W.WriteHeader(http.StatusNotModified)
		return nil
	}
	select {
	case s.archives <- struct{}{}:
		defer func() { <-s.archives }()
	default:
		return &fault.Fault{Kind: fault.Unavailable, RetryAfter: 10, Message: "Many archives are being made just now. Try again in a moment."}
	}
	base := p.repo.Name + "-" + strings.ReplaceAll(git.Display(shortRef(p)), "/", "-")
	h.Set("Content-Type", map[string]string{"zip": "application/zip", "tar.gz": "application/gzip"}[format])
	h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(base+"."+format))
	if c.R.Method == http.MethodHead {
		return nil
	}
	cmd := p.git.Command(c.Context(), "archive", "--format="+format, "--prefix="+base+"/").Revs(p.rev.Commit.String()).Stdout(c.W)
	if err := cmd.Run(); err != nil {
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
