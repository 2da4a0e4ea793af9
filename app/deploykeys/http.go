package deploykeys

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/deployview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// Sections are the pages of a repository's settings.
func Sections() []repos.SettingsSection {
	return []repos.SettingsSection{{Key: "keys", Label: "Deploy keys", Icon: "key-round"}, {Key: "tokens", Label: "Deploy tokens", Icon: "ticket"}}
}

// Routes mounts the pages and the API.
func (s *Service) Routes(r *web.Router) {
	admin := s.Gate.Repo(model.RoleAdmin)
	const at = "/{owner}/{repo}/settings"
	r.Get(at+"/keys", admin, s.keysPage)
	r.Post(at+"/keys", admin, s.keyAdd)
	r.Post(at+"/keys/{id}/delete", admin, s.keyRemove)
	r.Get(at+"/tokens", admin, s.tokensPage)
	r.Post(at+"/tokens", admin, s.tokenAdd)
	r.Post(at+"/tokens/{id}/delete", admin, s.tokenRemove)
	s.apiRoutes(r)
}

func home(c *web.Ctx, section string) string {
	return link.RepoSettings(c.Repo.Owner.Name, c.Repo.Name, section)
}

func (s *Service) show(c *web.Ctx, section string, page web.Page) error {
	shell, err := s.Repos.SettingsShell(c, section)
	if err != nil {
		return err
	}
	page.Shell = shell
	page.Title += " · " + c.Repo.FullName()
	return c.Render(page)
}

func (s *Service) rows(c *web.Ctx, kind string) ([]deployview.Row, error) {
	rows, err := s.List(c.Context(), c.Repo, kind)
	if err != nil {
		return nil, err
	}
	makers, err := s.makers(c, rows)
	if err != nil {
		return nil, err
	}
	out := make([]deployview.Row, len(rows))
	for i, row := range rows {
		out[i] = deployview.Row{ID: row.ID, Name: row.Name, Writes: row.Writes, Made: row.CreatedAt, Used: row.UsedAt, Ends: row.ExpiresAt}
		if kind == model.DeployKey {
			out[i].Fingerprint = string(row.Key)
		}
		if a := makers[row.AccountID]; a != nil {
			out[i].Maker = a.Name
		}
	}
	return out, nil
}

func (s *Service) keysPage(c *web.Ctx) error {
	return s.renderKeys(c, KeyInput{ReadOnly: true}, nil)
}

func (s *Service) renderKeys(c *web.Ctx, in KeyInput, errs fault.Fields) error {
	rows, err := s.rows(c, model.DeployKey)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if len(errs) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return s.show(c, "keys", web.Page{Status: status, Title: "Deploy keys", Body: deployview.Keys(deployview.KeysProps{
		Base: home(c, "keys"), Rows: rows, Title: in.Title, Key: in.Key, Write: !in.ReadOnly, Errors: ui.Errors(errs)})})
}

func (s *Service) keyAdd(c *web.Ctx) error {
	if err := s.Auth.RequireSudo(c, home(c, "keys")); err != nil {
		return err
	}
	var in struct {
		Title string `form:"title"`
		Key   string `form:"key"`
		Write bool   `form:"write"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	key := KeyInput{Title: in.Title, Key: in.Key, ReadOnly: !in.Write}
	row, err := s.AddKey(c.Context(), c.Viewer, c.Repo, key)
	if fault.Is(err, fault.Invalid) {
		return s.renderKeys(c, key, fault.From(err).Fields)
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(home(c, "keys"), "The key "+row.Name+" opens this repository.")
}

func (s *Service) keyRemove(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.RemoveKey(c.Context(), c.Viewer, c.Repo, id); err != nil {
		return err
	}
	return c.RedirectFlash(home(c, "keys"), "The key opens nothing any more.")
}

// shown names the token that the next page shows.
func shown(c *web.Ctx) string { return "deploy-token-" + strconv.FormatInt(c.Repo.ID, 10) }

type tokenForm struct {
	Name    string `form:"name"`
	Write   bool   `form:"write"`
	Expires string `form:"expires"`
}

func (s *Service) tokensPage(c *web.Ctx) error {
	text, err := s.Auth.TakeShown(c.Context(), c.Viewer.ID(), shown(c))
	if err != nil {
		return err
	}
	if text != "" {
		c.W.Header().Set("Cache-Control", "no-store")
	}
	return s.renderTokens(c, tokenForm{Expires: "365"}, text, nil)
}

func (s *Service) renderTokens(c *web.Ctx, in tokenForm, text string, errs fault.Fields) error {
	rows, err := s.rows(c, model.DeployToken)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if len(errs) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return s.show(c, "tokens", web.Page{Status: status, Title: "Deploy tokens", Body: deployview.Tokens(deployview.TokensProps{
		Base: home(c, "tokens"), Rows: rows, New: text, Name: in.Name, Write: in.Write, Expires: in.Expires, Now: time.Now(), Errors: ui.Errors(errs)})})
}

func (s *Service) tokenAdd(c *web.Ctx) error {
	if err := s.Auth.RequireSudo(c, home(c, "tokens")); err != nil {
		return err
	}
	var in tokenForm
	if err := c.Decode(&in); err != nil {
		return err
	}
	token := TokenInput{Name: in.Name, Write: in.Write}
	days := map[string]int{"30": 30, "90": 90, "365": 365}[in.Expires]
	switch {
	case days > 0:
		end := time.Now().AddDate(0, 0, days)
		token.Expires = &end
	case in.Expires != "never":
		return s.renderTokens(c, in, "", fault.Fields{"expires": "Choose when it ends."})
	}
	text, _, err := s.NewToken(c.Context(), c.Viewer, c.Repo, token)
	if fault.Is(err, fault.Invalid) {
		return s.renderTokens(c, in, "", fault.From(err).Fields)
	}
	if err != nil {
		return err
	}
	if err := s.Auth.ShowOnce(c.Context(), c.Viewer.ID(), shown(c), text); err != nil {
		return err
	}
	return c.Redirect(home(c, "tokens"))
}

func (s *Service) tokenRemove(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.RemoveToken(c.Context(), c.Viewer, c.Repo, id); err != nil {
		return err
	}
	return c.RedirectFlash(home(c, "tokens"), "The token opens nothing any more.")
}
