package lfs

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db/model"
)

// Scheme is the authorization scheme of what clients are given for their
// transfers; it opens the LFS addresses of one repository for a while.
const Scheme = "RemoteAuth"

// tokenTime is how long a transfer may wait before it starts.
const tokenTime = time.Hour

const tokenPurpose = "lfs transfer"

// grant is what a transfer token holds. What its account may do is asked anew
// at each use.
type grant struct {
	Repo    int64 `json:"r"`
	Account int64 `json:"a"`
	// Deploy says that it was given to a deploy key or token, Write whether
	// that may write.
	Deploy bool  `json:"d,omitempty"`
	Write  bool  `json:"w,omitempty"`
	Until  int64 `json:"u"`
}

// header is what a client is to send with its transfers; nil for a stranger.
func (s *Service) header(viewer *model.Viewer, repo *model.Repo) map[string]string {
	if !viewer.SignedIn() {
		return nil
	}
	data, err := json.Marshal(grant{repo.ID, viewer.ID(), viewer.DeployRepo != 0, viewer.Write, time.Now().Add(tokenTime).Unix()})
	if err != nil {
		return nil
	}
	return map[string]string{"Authorization": Scheme + " " + base64.RawURLEncoding.EncodeToString(s.Ring.Seal(tokenPurpose, data))}
}

// Recognise is who a transfer token acts for at an address; fault.Unauthorized
// when it is wrong, has expired or does not fit the address.
func (s *Service) Recognise(ctx context.Context, path, value string) (*model.Viewer, error) {
	bad := fault.New(fault.Unauthorized, "Bad credentials")
	if !strings.Contains(path, "/info/lfs/") {
		return nil, bad
	}
	sealed, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		return nil, bad
	}
	data, err := s.Ring.Open(tokenPurpose, sealed)
	if err != nil {
		return nil, bad
	}
	var g grant
	if err := json.Unmarshal(data, &g); err != nil || time.Now().Unix() >= g.Until {
		return nil, bad
	}
	user, err := s.Account(ctx, g.Account)
	if err != nil {
		return nil, err
	}
	v := &model.Viewer{Account: user.Account, User: user, Token: true, Scopes: []string{"repo", "public_repo"}, Repos: []int64{g.Repo}}
	if g.Deploy {
		v.DeployRepo, v.Write = g.Repo, g.Write
	}
	return v, nil
}

// access is what git-lfs-authenticate prints
// (https://github.com/git-lfs/git-lfs/blob/main/docs/api/server-discovery.md).
type access struct {
	Href      string            `json:"href"`
	Header    map[string]string `json:"header"`
	ExpiresIn int               `json:"expires_in"`
	ExpiresAt time.Time         `json:"expires_at"`
}

// Authenticate answers git-lfs-authenticate: where the repository's large
// files are, and what to send along.
func (s *Service) Authenticate(viewer *model.Viewer, repo *model.Repo) ([]byte, error) {
	return json.Marshal(access{s.URL + lfsPath(repo), s.header(viewer, repo), int(tokenTime.Seconds()), time.Now().Add(tokenTime).UTC()})
}
