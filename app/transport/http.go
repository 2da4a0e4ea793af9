package transport

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git/protocol"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Routes mounts git's smart protocol. A name with .git is the same repository.
func (s *Service) Routes(r *web.Router) {
	g := r.Git()
	read := s.Gate.Repo(model.RoleRead)
	push := web.Access{Name: "git-push", Allow: s.mayPush}
	g.Get("/{owner}/{repo}/info/refs", web.Access{Name: "git-fetch or git-push", Allow: func(c *web.Ctx) error {
		switch protocol.Service(c.R) {
		case protocol.ReceiveService:
			return s.mayPush(c)
		case protocol.UploadService:
			return read.Allow(c)
		}
		if err := read.Allow(c); err != nil {
			return err
		}
		return fault.New(fault.Forbidden, "This server speaks git's smart protocol only: use a current git.")
	}}, s.infoRefs)
	g.Post("/{owner}/{repo}/git-upload-pack", read, s.uploadPack)
	g.Post("/{owner}/{repo}/git-receive-pack", push, s.receivePack)
}

// mayPush lets those in who may write to the repository, and those who may
// make it where there is none: then the context has no repository.
func (s *Service) mayPush(c *web.Ctx) error {
	if !c.Viewer.SignedIn() {
		return fault.New(fault.Unauthorized, "Sign in to push: use an access token as the password.")
	}
	err := s.Gate.RepoChange(model.RoleWrite).Allow(c)
	if !errors.Is(err, db.ErrNotFound) {
		return err
	}
	missing := err
	switch err := s.Repos.MayCreate(c.Context(), c.Viewer, c.Param("owner"), repoName(c)); {
	case err == nil:
		c.Repo = nil
		return nil
	case fault.Is(err, fault.Invalid):
		return err
	}
	return missing
}

func repoName(c *web.Ctx) string { return strings.TrimSuffix(c.Param("repo"), ".git") }

func (s *Service) infoRefs(c *web.Ctx) error {
	if c.Repo == nil {
		return s.http.InfoRefs(c.W, c.R, protocol.Target{Repo: s.nothing})
	}
	g, err := s.Repos.Open(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	if c.Query("service") == "git-receive-pack" {
		return s.http.InfoRefs(c.W, c.R, s.target(g))
	}
	return s.http.InfoRefs(c.W, c.R, s.reading(g))
}

func (s *Service) uploadPack(c *web.Ctx) error {
	g, err := s.Repos.Open(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	return s.sent(c, s.http.UploadPack(c.W, c.R, s.reading(g), client(c)))
}

// client names who asks, for the bounds on what is computed at once.
func client(c *web.Ctx) string {
	if c.Viewer.SignedIn() {
		return "account-" + c.Viewer.Name()
	}
	return c.Remote
}

func (s *Service) receivePack(c *web.Ctx) error {
	if c.Repo == nil {
		repo, err := s.Repos.Create(c.Context(), c.Viewer, repos.CreateInput{Owner: c.Param("owner"), Name: repoName(c),
			Visibility: model.Private})
		if err != nil {
			return err
		}
		c.Repo, c.Role = repo, model.RoleAdmin
	}
	g, err := s.Repos.Open(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	return s.sent(c, s.http.ReceivePack(c.W, c.R, s.request(g, c.Repo, c.Viewer, c.Role)))
}

// sent logs what went wrong with an answer that was given already.
func (s *Service) sent(c *web.Ctx, err error) error {
	if err != nil && c.Context().Err() == nil && !errors.Is(err, http.ErrAbortHandler) {
		s.Log.WarnContext(c.Context(), "git request failed", "id", c.RequestID, "path", c.R.URL.Path, "err", err)
	}
	return nil
}
