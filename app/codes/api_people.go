package codes

import (
	"net/http"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
)

// contributor is GitHub's contributor: an account, or a name and address.
type contributor struct {
	*api.User
	Type          string `json:"type"`
	Name          string `json:"name,omitempty"`
	Email         string `json:"email,omitempty"`
	Contributions int    `json:"contributions"`
}

// apiContributors lists who wrote commits of the default branch, by how many.
func (s *Service) apiContributors(c *web.Ctx) error {
	p, err := s.apiRev(c, "")
	if fault.Is(err, fault.Conflict) {
		return c.NoContent()
	}
	if err != nil {
		return err
	}
	stop := c.Time("git")
	list, err := s.contributors(c.Context(), p)
	stop()
	if err != nil {
		return err
	}
	var all []contributor
	for _, one := range list {
		w := contributor{User: api.UserRef(c, one.Account), Type: "User", Contributions: one.Commits}
		if one.Account == nil {
			if c.Query("anon") != "1" && c.Query("anon") != "true" {
				continue
			}
			w.Type, w.Name, w.Email = "Anonymous", git.DecodeText(one.Name), git.DecodeText(one.Email)
		} else if !one.Account.IsUser() {
			w.Type = "Organization"
		}
		all = append(all, w)
	}
	page := api.PageOf(c)
	from := min(int(page.Offset()), len(all))
	to := min(from+page.PerPage, len(all))
	page.LinkTotal(c, len(all))
	return c.JSON(http.StatusOK, append([]contributor{}, all[from:to]...))
}
