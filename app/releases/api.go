package releases

import (
	"net/http"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/releasedb"
)

// apiRoutes mounts GitHub's endpoints below /repos/{owner}/{repo}.
func (s *Service) apiRoutes(r *web.Router) {
	read, write := s.Gate.Repo(model.RoleRead), s.Gate.RepoChange(model.RoleWrite)
	a, at := r.API(), "/repos/{owner}/{repo}/releases"
	a.Get(at, read, s.apiList, &web.Doc{ID: "repos/list-releases", Summary: "List releases", Out: []Release{}, Query: []string{"per_page", "page"}})
	a.Post(at, write, s.apiCreate, &web.Doc{ID: "repos/create-release", Summary: "Create a release", In: releaseBody{}, Out: Release{}, Status: http.StatusCreated})
	a.Post(at+"/generate-notes", write, s.apiNotes, &web.Doc{ID: "repos/generate-release-notes", Summary: "Generate release notes content for a release", In: notesBody{}, Out: GeneratedNotes{}})
	a.Get(at+"/latest", read, s.apiLatest, &web.Doc{ID: "repos/get-latest-release", Summary: "Get the latest release", Out: Release{}})
	a.Get(at+"/tags/*", read, s.apiByTag, &web.Doc{ID: "repos/get-release-by-tag", Summary: "Get a release by tag name", Out: Release{}})
	a.Get(at+"/{id}", read, s.apiGet, &web.Doc{ID: "repos/get-release", Summary: "Get a release", Out: Release{}})
	a.Patch(at+"/{id}", write, s.apiUpdate, &web.Doc{ID: "repos/update-release", Summary: "Update a release", In: releaseBody{}, Out: Release{}})
	a.Delete(at+"/{id}", write, s.apiDelete, &web.Doc{ID: "repos/delete-release", Summary: "Delete a release", Status: http.StatusNoContent})
	s.apiAssetRoutes(r)
	admin, immutable := s.Gate.RepoChange(model.RoleAdmin), "/repos/{owner}/{repo}/immutable-releases"
	a.Get(immutable, s.Gate.Repo(model.RoleAdmin), s.apiImmutable, &web.Doc{ID: "repos/check-immutable-releases", Summary: "Check if immutable releases are enabled for a repository", Out: immutableState{}})
	a.Put(immutable, admin, s.apiSetImmutable, &web.Doc{ID: "repos/enable-immutable-releases", Summary: "Enable immutable releases", Status: http.StatusNoContent})
	a.Delete(immutable, admin, s.apiSetImmutable, &web.Doc{ID: "repos/disable-immutable-releases", Summary: "Disable immutable releases", Status: http.StatusNoContent})
}

// releaseBody is a release as API clients send it.
type releaseBody struct {
	TagName         *string `json:"tag_name"`
	TargetCommitish *string `json:"target_commitish"`
	Name            *string `json:"name"`
	Body            *string `json:"body"`
	Draft           *bool   `json:"draft"`
	Prerelease      *bool   `json:"prerelease"`
	GenerateNotes   bool    `json:"generate_release_notes"`
	MakeLatest      string  `json:"make_latest"`
}

func (b *releaseBody) input() Input {
	return Input{Tag: b.TagName, Target: b.TargetCommitish, Name: b.Name, Body: b.Body, Draft: b.Draft, Prerelease: b.Prerelease,
		Latest: b.MakeLatest, Notes: b.GenerateNotes}
}

type notesBody struct {
	TagName         string `json:"tag_name"`
	TargetCommitish string `json:"target_commitish"`
	PreviousTagName string `json:"previous_tag_name"`
	Configuration   string `json:"configuration_file_path"`
}

type immutableState struct {
	Enabled         bool `json:"enabled"`
	EnforcedByOwner bool `json:"enforced_by_owner"`
}

func (s *Service) answer(c *web.Ctx, status int, r *model.Release) error {
	list, err := s.wire(c, r)
	if err != nil {
		return err
	}
	if status == http.StatusCreated {
		c.W.Header().Set("Location", list[0].URL)
	}
	return c.JSON(status, list[0])
}

func (s *Service) apiList(c *web.Ctx) error {
	page := api.PageOf(c)
	list, total, err := releasedb.List(c.Context(), s.DB.Repo(c.Repo.ID), releasedb.Filter{Drafts: c.Role.AtLeast(model.RoleWrite),
		Limit: page.PerPage, Offset: int(page.Offset())})
	if err != nil {
		return err
	}
	if err := releasedb.LoadAssets(c.Context(), s.DB.Repo(c.Repo.ID), list...); err != nil {
		return err
	}
	page.LinkTotal(c, total)
	out, err := s.wire(c, list...)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiCreate(c *web.Ctx) error {
	var in releaseBody
	if err := c.Decode(&in); err != nil {
		return err
	}
	r, err := s.Create(c.Context(), c.Viewer, c.Repo, in.input())
	if err != nil {
		return err
	}
	return s.answer(c, http.StatusCreated, r)
}

func (s *Service) apiNotes(c *web.Ctx) error {
	var in notesBody
	if err := c.Decode(&in); err != nil {
		return err
	}
	n, err := s.Notes(c.Context(), c.Repo, NotesInput{Tag: in.TagName, Target: in.TargetCommitish, Previous: in.PreviousTagName, Config: in.Configuration})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, GeneratedNotes{n.Name, n.Body})
}

func (s *Service) apiLatest(c *web.Ctx) error {
	r, err := s.Latest(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	return s.answer(c, http.StatusOK, r)
}

func (s *Service) apiByTag(c *web.Ctx) error {
	r, err := s.ByTag(c.Context(), c.Repo, c.Param("*"))
	if err != nil {
		return err
	}
	return s.answer(c, http.StatusOK, r)
}

func (s *Service) apiGet(c *web.Ctx) error {
	r, err := s.found(c)
	if err != nil {
		return err
	}
	return s.answer(c, http.StatusOK, r)
}

func (s *Service) apiUpdate(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	var in releaseBody
	if err := c.Decode(&in); err != nil {
		return err
	}
	r, err := s.Edit(c.Context(), c.Viewer, c.Repo, id, in.input())
	if err != nil {
		return err
	}
	return s.answer(c, http.StatusOK, r)
}

func (s *Service) apiDelete(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if _, err := s.Delete(c.Context(), c.Viewer, c.Repo, id); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiImmutable(c *web.Ctx) error {
	return c.JSON(http.StatusOK, immutableState{Enabled: c.Repo.Settings.ImmutableReleases})
}

// apiSetImmutable turns it on by PUT and off by DELETE; releases that are
// published already stay what they are.
func (s *Service) apiSetImmutable(c *web.Ctx) error {
	on := c.R.Method == http.MethodPut
	if err := s.Repos.Edit(c.Context(), c.Viewer, c.Repo, repos.EditInput{ImmutableReleases: &on}); err != nil {
		return err
	}
	return c.NoContent()
}
