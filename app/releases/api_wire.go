package releases

import (
	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// Release is GitHub's release object
// (https://docs.github.com/rest/releases/releases#get-a-release).
type Release struct {
	URL             string   `json:"url"`
	HTMLURL         string   `json:"html_url"`
	AssetsURL       string   `json:"assets_url"`
	UploadURL       string   `json:"upload_url"`
	TarballURL      *string  `json:"tarball_url"`
	ZipballURL      *string  `json:"zipball_url"`
	ID              int64    `json:"id"`
	NodeID          string   `json:"node_id"`
	TagName         string   `json:"tag_name"`
	TargetCommitish string   `json:"target_commitish"`
	Name            *string  `json:"name"`
	Body            *string  `json:"body"`
	Draft           bool     `json:"draft"`
	Prerelease      bool     `json:"prerelease"`
	Immutable       bool     `json:"immutable"`
	CreatedAt       string   `json:"created_at"`
	PublishedAt     *string  `json:"published_at"`
	UpdatedAt       *string  `json:"updated_at"`
	Author          api.User `json:"author"`
	Assets          []Asset  `json:"assets"`
}

// Asset is GitHub's release asset object
// (https://docs.github.com/rest/releases/assets#get-a-release-asset).
type Asset struct {
	URL                string    `json:"url"`
	BrowserDownloadURL string    `json:"browser_download_url"`
	ID                 int64     `json:"id"`
	NodeID             string    `json:"node_id"`
	Name               string    `json:"name"`
	Label              *string   `json:"label"`
	State              string    `json:"state"`
	ContentType        string    `json:"content_type"`
	Size               int64     `json:"size"`
	Digest             *string   `json:"digest"`
	DownloadCount      int64     `json:"download_count"`
	CreatedAt          string    `json:"created_at"`
	UpdatedAt          string    `json:"updated_at"`
	Uploader           *api.User `json:"uploader"`
}

// GeneratedNotes are notes as the API makes them.
type GeneratedNotes struct {
	Name string `json:"name"`
	Body string `json:"body"`
}

func base(c *web.Ctx) string {
	return c.URL(web.APIPrefix + "/repos" + link.Repo(c.Repo.Owner.Name, c.Repo.Name))
}

func (s *Service) wire(c *web.Ctx, list ...*model.Release) ([]Release, error) {
	var ids []int64
	for _, r := range list {
		ids = append(ids, r.AuthorID)
		for _, a := range r.Assets {
			ids = append(ids, a.UploaderID)
		}
	}
	people := map[int64]*model.Account{}
	if len(ids) > 0 {
		var err error
		if people, err = accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...); err != nil {
			return nil, err
		}
	}
	out := make([]Release, 0, len(list))
	for _, r := range list {
		out = append(out, releaseOf(c, r, people))
	}
	return out, nil
}

func releaseOf(c *web.Ctx, r *model.Release, people map[int64]*model.Account) Release {
	o, n := c.Repo.Owner.Name, c.Repo.Name
	url := base(c) + "/releases/" + num(r.ID)
	w := Release{URL: url, HTMLURL: c.URL(link.Release(o, n, r.Tag)), AssetsURL: url + "/assets",
		UploadURL: c.URL(web.UploadsPrefix+"/repos"+link.Repo(o, n)+"/releases/"+num(r.ID)) + "/assets{?name,label}", ID: r.ID,
		NodeID: api.NodeID("Release", c.Repo.ID, r.ID), TagName: r.Tag, TargetCommitish: r.Target, Name: &r.Name, Body: &r.Body, Draft: r.Draft,
		Prerelease: r.Prerelease, Immutable: r.Immutable, CreatedAt: api.Time(r.CreatedAt), PublishedAt: api.TimeRef(r.PublishedAt),
		UpdatedAt: api.TimeRef(&r.UpdatedAt), Author: api.UserOf(c, people[r.AuthorID]), Assets: []Asset{}}
	if w.TargetCommitish == "" {
		w.TargetCommitish = c.Repo.DefaultBranch
	}
	if !r.Draft {
		tar, zip := base(c)+"/tarball/"+link.Path(r.Tag), base(c)+"/zipball/"+link.Path(r.Tag)
		w.TarballURL, w.ZipballURL = &tar, &zip
	}
	for _, a := range r.Assets {
		w.Assets = append(w.Assets, assetOf(c, r, a, people[a.UploaderID]))
	}
	return w
}

func assetOf(c *web.Ctx, r *model.Release, a *model.ReleaseAsset, uploader *model.Account) Asset {
	digest := "sha256:" + a.SHA256
	w := Asset{URL: base(c) + "/releases/assets/" + num(a.ID), BrowserDownloadURL: c.URL(link.ReleaseAsset(c.Repo.Owner.Name, c.Repo.Name, r.Tag, a.Name)),
		ID: a.ID, NodeID: api.NodeID("ReleaseAsset", c.Repo.ID, a.ID), Name: a.Name, State: "uploaded", ContentType: a.ContentType, Size: a.Size,
		Digest: &digest, DownloadCount: a.Downloads, CreatedAt: api.Time(a.CreatedAt), UpdatedAt: api.Time(a.UpdatedAt), Uploader: api.UserRef(c, uploader)}
	if a.Label != "" {
		w.Label = &a.Label
	}
	return w
}
