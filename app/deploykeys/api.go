package deploykeys

import (
	"net/http"
	"strconv"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/deploydb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// Key is a deploy key as GitHub shows it
// (https://docs.github.com/rest/deploy-keys/deploy-keys).
type Key struct {
	ID        int64   `json:"id"`
	Key       string  `json:"key"`
	URL       string  `json:"url"`
	Title     string  `json:"title"`
	Verified  bool    `json:"verified"`
	CreatedAt string  `json:"created_at"`
	ReadOnly  bool    `json:"read_only"`
	AddedBy   *string `json:"added_by"`
	LastUsed  *string `json:"last_used"`
	Enabled   bool    `json:"enabled"`
}

// Token is a deploy token; Token is its text, only in the answer that made it.
type Token struct {
	ID        int64   `json:"id"`
	URL       string  `json:"url"`
	Name      string  `json:"name"`
	Write     bool    `json:"write"`
	CreatedAt string  `json:"created_at"`
	ExpiresAt *string `json:"expires_at"`
	LastUsed  *string `json:"last_used"`
	Token     string  `json:"token,omitempty"`
}

func (s *Service) apiRoutes(r *web.Router) {
	a, admin := r.API(), s.Gate.Repo(model.RoleAdmin)
	const keys, tokens = "/repos/{owner}/{repo}/keys", "/repos/{owner}/{repo}/deploy-tokens"
	a.Get(keys, admin, s.apiKeys, &web.Doc{ID: "repos/list-deploy-keys", Summary: "List deploy keys", Out: []Key{}})
	a.Post(keys, admin, s.apiAddKey, &web.Doc{ID: "repos/create-deploy-key", Summary: "Create a deploy key", In: KeyInput{}, Out: Key{}, Status: http.StatusCreated})
	a.Get(keys+"/{key_id}", admin, s.apiKey, &web.Doc{ID: "repos/get-deploy-key", Summary: "Get a deploy key", Out: Key{}})
	a.Delete(keys+"/{key_id}", admin, s.apiRemoveKey, &web.Doc{ID: "repos/delete-deploy-key", Summary: "Delete a deploy key", Status: http.StatusNoContent})
	a.Get(tokens, admin, s.apiTokens, &web.Doc{ID: "repos/list-deploy-tokens", Summary: "List deploy tokens", Out: []Token{}})
	a.Post(tokens, admin, s.apiNewToken, &web.Doc{ID: "repos/create-deploy-token", Summary: "Create a deploy token", In: TokenInput{}, Out: Token{}, Status: http.StatusCreated})
	a.Delete(tokens+"/{token_id}", admin, s.apiRemoveToken, &web.Doc{ID: "repos/delete-deploy-token", Summary: "Delete a deploy token", Status: http.StatusNoContent})
}

func at(c *web.Ctx, what string, id int64) string {
	return c.URL(web.APIPrefix + "/repos" + link.Repo(c.Repo.Owner.Name, c.Repo.Name) + "/" + what + "/" + strconv.FormatInt(id, 10))
}

func keyOf(c *web.Ctx, row *model.DeployCredential, makers map[int64]*model.Account) Key {
	k := Key{ID: row.ID, Key: row.Public, URL: at(c, "keys", row.ID), Title: row.Name, Verified: true, CreatedAt: api.Time(row.CreatedAt),
		ReadOnly: !row.Writes, LastUsed: api.TimeRef(row.UsedAt), Enabled: true}
	if a := makers[row.AccountID]; a != nil {
		k.AddedBy = &a.Name
	}
	return k
}

func (s *Service) makers(c *web.Ctx, rows []*model.DeployCredential) (map[int64]*model.Account, error) {
	var ids []int64
	for _, row := range rows {
		ids = append(ids, row.AccountID)
	}
	return accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
}

func (s *Service) sayKeys(c *web.Ctx, status int, one bool, rows ...*model.DeployCredential) error {
	makers, err := s.makers(c, rows)
	if err != nil {
		return err
	}
	out := make([]Key, len(rows))
	for i, row := range rows {
		out[i] = keyOf(c, row, makers)
	}
	if one {
		return c.JSON(status, out[0])
	}
	return c.JSON(status, out)
}

func (s *Service) apiKeys(c *web.Ctx) error {
	rows, err := s.List(c.Context(), c.Repo, model.DeployKey)
	if err != nil {
		return err
	}
	return s.sayKeys(c, http.StatusOK, false, rows...)
}

func (s *Service) apiKey(c *web.Ctx) error {
	id, err := c.ParamInt("key_id")
	if err != nil {
		return err
	}
	row, err := deploydb.Find(c.Context(), s.DB.Repo(c.Repo.ID), model.DeployKey, id)
	if err != nil {
		return err
	}
	return s.sayKeys(c, http.StatusOK, true, row)
}

func (s *Service) apiAddKey(c *web.Ctx) error {
	var in KeyInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	row, err := s.AddKey(c.Context(), c.Viewer, c.Repo, in)
	if err != nil {
		return err
	}
	return s.sayKeys(c, http.StatusCreated, true, row)
}

func (s *Service) apiRemoveKey(c *web.Ctx) error {
	id, err := c.ParamInt("key_id")
	if err != nil {
		return err
	}
	if err := s.RemoveKey(c.Context(), c.Viewer, c.Repo, id); err != nil {
		return err
	}
	return c.NoContent()
}

func tokenOf(c *web.Ctx, row *model.DeployCredential) Token {
	return Token{ID: row.ID, URL: at(c, "deploy-tokens", row.ID), Name: row.Name, Write: row.Writes, CreatedAt: api.Time(row.CreatedAt),
		ExpiresAt: api.TimeRef(row.ExpiresAt), LastUsed: api.TimeRef(row.UsedAt)}
}

func (s *Service) apiTokens(c *web.Ctx) error {
	rows, err := s.List(c.Context(), c.Repo, model.DeployToken)
	if err != nil {
		return err
	}
	out := make([]Token, len(rows))
	for i, row := range rows {
		out[i] = tokenOf(c, row)
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiNewToken(c *web.Ctx) error {
	var in TokenInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	text, row, err := s.NewToken(c.Context(), c.Viewer, c.Repo, in)
	if err != nil {
		return err
	}
	out := tokenOf(c, row)
	out.Token = text
	return c.JSON(http.StatusCreated, out)
}

func (s *Service) apiRemoveToken(c *web.Ctx) error {
	id, err := c.ParamInt("token_id")
	if err != nil {
		return err
	}
	if err := s.RemoveToken(c.Context(), c.Viewer, c.Repo, id); err != nil {
		return err
	}
	return c.NoContent()
}
