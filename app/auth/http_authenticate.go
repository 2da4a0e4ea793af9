package auth

import (
	"context"
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// Authenticate is who a request acts for, nil for a stranger. The API and git
// take a token in the Authorization header; pages take the session's cookie
// and, for GET and HEAD, a token too. A token that is wrong is a fault even
// where a stranger would be let in.
func (s *Service) Authenticate(c *web.Ctx) (*model.Viewer, error) {
	reads := c.R.Method == http.MethodGet || c.R.Method == http.MethodHead
	if header := c.R.Header.Get("Authorization"); header != "" && (c.Door != web.PageDoor || reads) {
		viewer, err := s.byHeader(c, header)
		if c.Door == web.GitDoor && fault.Is(err, fault.Unauthorized) {
			err = fault.Wrap(fault.Unauthorized, "The token that git sent as the password is not valid: it is mistyped, expired or revoked. "+
				"Make one at "+c.URL(link.Settings("tokens"))+" and try again.", err)
		}
		return viewer, err
	}
	switch {
	case c.Door == web.APIDoor, c.Door == web.GitDoor, c.Door == web.AgentDoor:
		// No cookies here: another site's page must not act as its visitor.
		return nil, nil
	case c.Door == web.RawDoor && !reads && http.NewCrossOriginProtection().Check(c.R) != nil:
		return nil, nil
	}
	return s.viewerOf(c.R)
}

func (s *Service) byHeader(c *web.Ctx, header string) (*model.Viewer, error) {
	scheme, value, _ := strings.Cut(header, " ")
	text := strings.TrimSpace(value)
	if resolve := s.schemes[strings.ToLower(scheme)]; resolve != nil {
		return resolve(c, text)
	}
	switch {
	case strings.EqualFold(scheme, "Basic"):
		user, password, ok := c.R.BasicAuth()
		if !ok {
			return nil, BadCredentials()
		}
		if text = password; !strings.HasPrefix(password, "g1t_") && strings.HasPrefix(user, "g1t_") {
			text = user
		}
	case !strings.EqualFold(scheme, "Bearer") && !strings.EqualFold(scheme, "token"):
		return nil, BadCredentials()
	}
	viewer, err := s.ByToken(c.Context(), text)
	if err == nil && c.Door == web.APIDoor {
		c.W.Header().Set("X-OAuth-Scopes", strings.Join(granted(viewer), ", "))
	}
	return viewer, err
}

// SetScheme sets who recognises an authorization scheme that this package does
// not know, such as that of transfers which the instance handed out itself.
func (s *Service) SetScheme(scheme string, resolve func(c *web.Ctx, value string) (*model.Viewer, error)) {
	s.schemes[strings.ToLower(scheme)] = resolve
}

// Active is the person with this account id. fault.Unauthorized when there is
// none any more, fault.Forbidden when the account is suspended.
func (s *Service) Active(ctx context.Context, id int64) (*model.User, error) {
	return s.active(ctx, id)
}

// granted are the scopes of a token as they were given.
func granted(v *model.Viewer) []string {
	if !v.All {
		return top(v.Scopes)
	}
	all := make([]string, 0, 40)
	for _, scope := range Scopes() {
		all = append(all, scope.Name)
	}
	return top(all)
}
