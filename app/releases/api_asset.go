package releases

import (
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

func (s *Service) apiAssetRoutes(r *web.Router) {
	read, write := s.Gate.Repo(model.RoleRead), s.Gate.RepoChange(model.RoleWrite)
	a, at := r.API(), "/repos/{owner}/{repo}/releases"
	a.Get(at+"/{id}/assets", read, s.apiAssets, &web.Doc{ID: "repos/list-release-assets", Summary: "List release assets", Out: []Asset{}, Query: []string{"per_page", "page"}})
	r.Uploads().Post(at+"/{id}/assets", write, s.apiUpload, &web.Doc{ID: "repos/upload-release-asset", Summary: "Upload a release asset", Out: Asset{}, Status: http.StatusCreated, Query: []string{"name", "label"}})
	a.Get(at+"/assets/{asset}", read, s.apiAsset, &web.Doc{ID: "repos/get-release-asset", Summary: "Get a release asset", Out: Asset{}})
	a.Patch(at+"/assets/{asset}", write, s.apiEditAsset, &web.Doc{ID: "repos/update-release-asset", Summary: "Update a release asset", In: assetBody{}, Out: Asset{}})
	a.Delete(at+"/assets/{asset}", write, s.apiDeleteAsset, &web.Doc{ID: "repos/delete-release-asset", Summary: "Delete a release asset", Status: http.StatusNoContent})
}

type assetBody struct {
	Name  *string `json:"name"`
	Label *string `json:"label"`
	State *string `json:"state"`
}

func (s *Service) apiAssets(c *web.Ctx) error {
	r, err := s.found(c)
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	page.LinkTotal(c, len(r.Assets))
	from := min(int(page.Offset()), len(r.Assets))
	r.Assets = r.Assets[from:min(from+page.PerPage, len(r.Assets))]
	list, err := s.wire(c, r)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, list[0].Assets)
}

func (s *Service) answerAsset(c *web.Ctx, status int, r *model.Release, a *model.ReleaseAsset) error {
	people, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), a.UploaderID)
	if err != nil {
		return err
	}
	out := assetOf(c, r, a, people[a.UploaderID])
	if status == http.StatusCreated {
		c.W.Header().Set("Location", out.URL)
	}
	return c.JSON(status, out)
}

func (s *Service) apiUpload(c *web.Ctx) error {
	r, err := s.found(c)
	if err != nil {
		return err
	}
	a, err := s.Upload(c.Context(), c.Viewer, c.Repo, r.ID, AssetInput{Name: c.Query("name"), Label: c.Query("label"),
		ContentType: c.R.Header.Get("Content-Type")}, c.R.Body)
	if err != nil {
		return err
	}
	return s.answerAsset(c, http.StatusCreated, r, a)
}

// apiAsset describes a file, or sends it to who accepts bytes.
func (s *Service) apiAsset(c *web.Ctx) error {
	id, err := c.ParamInt("asset")
	if err != nil {
		return err
	}
	a, r, err := s.Asset(c.Context(), c.Repo, c.Role, id)
	if err != nil {
		return err
	}
	if strings.Contains(c.R.Header.Get("Accept"), "application/octet-stream") {
		return s.send(c, a)
	}
	return s.answerAsset(c, http.StatusOK, r, a)
}

func (s *Service) apiEditAsset(c *web.Ctx) error {
	id, err := c.ParamInt("asset")
	if err != nil {
		return err
	}
	var in assetBody
	if err := c.Decode(&in); err != nil {
		return err
	}
	if _, err := s.EditAsset(c.Context(), c.Viewer, c.Repo, id, in.Name, in.Label); err != nil {
		return err
	}
	a, r, err := s.Asset(c.Context(), c.Repo, c.Role, id)
	if err != nil {
		return err
	}
	return s.answerAsset(c, http.StatusOK, r, a)
}

func (s *Service) apiDeleteAsset(c *web.Ctx) error {
	id, err := c.ParamInt("asset")
	if err != nil {
		return err
	}
	if _, err := s.DeleteAsset(c.Context(), c.Viewer, c.Repo, id); err != nil {
		return err
	}
	return c.NoContent()
}
