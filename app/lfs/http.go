package lfs

import (
	"errors"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// MediaType is what LFS clients send and accept.
const MediaType = "application/vnd.git-lfs+json"

// Routes mounts the endpoints of git-lfs and the settings pages.
func (s *Service) Routes(r *web.Router) {
	const at = "/{owner}/{repo}/info/lfs"
	g := r.Git()
	read, write := s.Gate.Repo(model.RoleRead), s.Gate.RepoChange(model.RoleWrite)
	g.Post(at+"/objects/batch", web.Access{Name: "lfs-batch", Allow: s.mayBatch}, s.batch)
	g.Get(at+"/objects/{oid}", read, s.download)
	g.Put(at+"/objects/{oid}", write, s.upload)
	g.Post(at+"/verify", write, s.verify)
	g.Get(at+"/tus/{oid}", write, s.tusOffset)
	g.Patch(at+"/tus/{oid}", write, s.tusPart)
	g.Get(at+"/locks", read, s.listLocks)
	g.Post(at+"/locks", write, s.createLock)
	g.Post(at+"/locks/verify", write, s.verifyLocks)
	g.Post(at+"/locks/{id}/unlock", write, s.deleteLock)

	admin := s.Gate.Repo(model.RoleAdmin)
	r.Get("/{owner}/{repo}/settings/lfs", admin, s.settingsPage)
	r.Post("/{owner}/{repo}/settings/lfs/locks/{id}/delete", admin, s.unlockPage)
	r.Get("/admin/lfs", s.Gate.SiteAdmin(), s.adminPage)
	r.Post("/admin/lfs", s.Gate.SiteAdmin(), s.adminSave)
}

// lfsPath is where a repository's large files are, without the host.
func lfsPath(repo *model.Repo) string { return link.Git(repo.Owner.Name, repo.Name) + "/info/lfs" }

// mayBatch lets readers in, and who pushes to a repository that is not there
// yet but that they may make: then the context has none.
func (s *Service) mayBatch(c *web.Ctx) error {
	err := s.Gate.Repo(model.RoleRead).Allow(c)
	if !errors.Is(err, db.ErrNotFound) || !c.Viewer.SignedIn() {
		return err
	}
	if s.Repos.MayCreate(c.Context(), c.Viewer, c.Param("owner"), strings.TrimSuffix(c.Param("repo"), ".git")) != nil {
		return err
	}
	c.Repo = nil
	return nil
}

// create makes the repository that a first push with large files goes to.
func (s *Service) create(c *web.Ctx) error {
	repo, err := s.Repos.Create(c.Context(), c.Viewer, repos.CreateInput{Owner: c.Param("owner"),
		Name: strings.TrimSuffix(c.Param("repo"), ".git"), Visibility: model.Private})
	if err != nil {
		return err
	}
	c.Repo, c.Role = repo, model.RoleAdmin
	return nil
}

// mayWrite says why the viewer may not upload to the repository in c.
func mayWrite(c *web.Ctx) error {
	switch {
	case !c.Viewer.SignedIn():
		return fault.New(fault.Unauthorized, "Sign in to push: use an access token as the password.")
	case !c.Role.AtLeast(model.RoleWrite) || !c.Viewer.Reaches(c.Repo.ID, c.Repo.IsPrivate(), true):
		return fault.New(fault.Forbidden, "You may read "+c.Repo.FullName()+" but not push to it.")
	case c.Repo.Archived():
		return fault.New(fault.Forbidden, c.Repo.FullName()+" is archived and read-only.")
	}
	return nil
}

// answer sends a document as LFS clients want it.
func answer(c *web.Ctx, status int, v any) error {
	c.W.Header().Set("Content-Type", MediaType)
	return c.JSON(status, v)
}
