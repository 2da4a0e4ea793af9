package settings

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/settingview"
	"github.com/gitfor/gitfor/views/ui"
)

// shownToken names the token that the next page shows.
const shownToken = "token"

func (s *Service) tokens(c *web.Ctx) error {
	list, err := s.Auth.Tokens(c.Context(), c.Viewer.ID())
	if err != nil {
		return err
	}
	text, err := s.Auth.TakeShown(c.Context(), c.Viewer.ID(), shownToken)
	if err != nil {
		return err
	}
	if text != "" {
		c.W.Header().Set("Cache-Control", "no-store")
	}
	p := settingview.TokensProps{New: text, Now: time.Now()}
	for _, t := range list {
		row := settingview.Token{ID: t.ID, Name: t.Name, Scopes: strings.Join(t.Scopes, ", "), Some: t.Repos != nil, Created: t.CreatedAt, Used: t.UsedAt, Expires: t.ExpiresAt}
		switch {
		case t.All:
			row.Scopes = "Everything that you can do"
		case len(t.Scopes) == 0:
			row.Scopes = "Reading what is public"
		}
		for _, id := range t.Repos {
			repo, _, err := repodb.FindID(c.Context(), s.DB.Directory(), id, c.Viewer.ID())
			if errors.Is(err, db.ErrNotFound) {
				row.Repos = append(row.Repos, "one that is gone")
				continue
			}
			if err != nil {
				return err
			}
			row.Repos = append(row.Repos, repo.FullName())
		}
		p.Tokens = append(p.Tokens, row)
	}
	return s.page(c, "tokens", "Access tokens", nil, settingview.Tokens(p))
}

type tokenInput struct {
	Name    string   `form:"name"`
	Expires string   `form:"expires"`
	Reach   string   `form:"reach"`
	Repos   string   `form:"repos"`
	All     bool     `form:"all"`
	Scopes  []string `form:"scopes"`
}

func (s *Service) tokenForm(c *web.Ctx) error {
	if err := s.sudo(c, "tokens/new"); err != nil {
		return err
	}
	in := tokenInput{Name: c.Query("name"), Expires: "30", Reach: "all"}
	in.Scopes, _ = auth.ParseScopes(c.Query("scopes")) // an unknown one is left out
	return s.showTokenForm(c, in, nil)
}

func (s *Service) showTokenForm(c *web.Ctx, in tokenInput, errs fault.Fields) error {
	p := settingview.NewTokenProps{Name: in.Name, Expires: in.Expires, Reach: in.Reach, Repos: in.Repos, All: in.All, Errors: ui.Errors(errs)}
	inner := map[string]bool{}
	for _, scope := range auth.Scopes() {
		p.Scopes = append(p.Scopes, settingview.Scope{Name: scope.Name, About: scope.About,
			Checked: slices.Contains(in.Scopes, scope.Name), Inner: inner[scope.Name]})
		for _, name := range scope.Includes {
			inner[name] = true
		}
	}
	return s.page(c, "tokens", "New access token", errs, settingview.NewToken(p))
}

func (s *Service) tokenMake(c *web.Ctx) error {
	if err := s.sudo(c, "tokens/new"); err != nil {
		return err
	}
	var in tokenInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	token, errs, err := s.input(c.Context(), c.Viewer, in)
	if err != nil {
		return err
	}
	var text string
	if len(errs) == 0 {
		text, err = s.Auth.NewToken(c.Context(), c.Viewer.ID(), token)
		if errs, err = invalid(err); err != nil {
			return err
		}
	}
	if len(errs) > 0 {
		return s.showTokenForm(c, in, errs)
	}
	if err := s.Auth.ShowOnce(c.Context(), c.Viewer.ID(), shownToken, text); err != nil {
		return err
	}
	return c.Redirect(link.Settings("tokens"))
}

// input turns the form into what makes a token.
func (s *Service) input(ctx context.Context, viewer *model.Viewer, in tokenInput) (auth.TokenInput, fault.Fields, error) {
	out, errs := auth.TokenInput{Name: in.Name}, fault.Fields{}
	if !in.All {
		out.Scopes = in.Scopes
		if out.Scopes == nil {
			out.Scopes = []string{}
		}
	}
	days := map[string]int{"7": 7, "30": 30, "90": 90, "365": 365}[in.Expires]
	switch {
	case days > 0:
		at := time.Now().AddDate(0, 0, days)
		out.Expires = &at
	case in.Expires != "never":
		errs.Add("expires", "Choose when it ends.")
	}
	if in.Reach != "some" {
		return out, errs, nil
	}
	out.Repos = []int64{}
	for _, name := range strings.Fields(in.Repos) {
		owner, repo, ok := strings.Cut(name, "/")
		found, _, err := repodb.Find(ctx, s.DB.Directory(), owner, repo, viewer.ID())
		switch {
		case !ok, errors.Is(err, db.ErrNotFound):
			errs.Add("repos", "There is no repository “"+name+"” that you can reach. Write owner/name.")
		case err != nil:
			return out, nil, err
		default:
			out.Repos = append(out.Repos, found.ID)
		}
	}
	return out, errs, nil
}

func (s *Service) tokenRevoke(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if err := s.Auth.RevokeToken(c.Context(), c.Viewer.ID(), id); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("tokens"), "The token is revoked.")
}
