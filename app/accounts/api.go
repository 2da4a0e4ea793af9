package accounts

import (
	"net/http"
	"strconv"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func (s *Service) apiRoutes(r *web.Router) {
	g, a := s.Gate, r.API()
	a.Get("/user", g.SignedIn(), s.apiMe, &web.Doc{ID: "users/get-authenticated", Summary: "Get the authenticated user", Out: PrivateUser{}})
	a.Patch("/user", g.SignedIn("user"), s.apiUpdateMe, &web.Doc{ID: "users/update-authenticated", Summary: "Update the authenticated user", In: ProfileInput{}, Out: PrivateUser{}})
	a.Get("/users", g.Anyone(), s.apiUsers, &web.Doc{ID: "users/list", Summary: "List users", Query: []string{"since", "per_page"}, Out: []api.User{}})
	a.Get("/users/{owner}", g.Account(), s.apiUser, &web.Doc{ID: "users/get-by-username", Summary: "Get a user", Out: PublicUser{}})
	a.Get("/user/{id}", g.Anyone(), s.apiUserByID, &web.Doc{ID: "users/get-by-id", Summary: "Get a user by id", Out: PublicUser{}})
	s.apiKeyRoutes(a)
	s.apiEmailRoutes(a)
	s.apiFollowRoutes(a)
	s.apiOrgRoutes(a)
}

func (s *Service) apiMe(c *web.Ctx) error { return s.sayMe(c, c.Viewer.User) }

func (s *Service) sayMe(c *web.Ctx, u *model.User) error {
	counts, err := accountdb.CountsOf(c.Context(), s.db.Directory(), u.AccountID)
	if err != nil {
		return err
	}
	if !c.Viewer.Has("user") && !c.Viewer.Has("read:user") {
		return c.JSON(http.StatusOK, publicUser(c, u.Account, counts))
	}
	return c.JSON(http.StatusOK, privateUser(c, u, counts))
}

func (s *Service) apiUpdateMe(c *web.Ctx) error {
	var in ProfileInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	a, err := s.UpdateProfile(c.Context(), c.Viewer.ID(), in)
	if err != nil {
		return err
	}
	u := *c.Viewer.User
	u.Account = a
	return s.sayMe(c, &u)
}

func (s *Service) apiUsers(c *web.Ctx) error {
	p := api.PageOf(c)
	since, _ := strconv.ParseInt(c.Query("since"), 10, 64)
	list, err := accountdb.ListAccounts(c.Context(), s.db.Directory(), "", since, int64(p.PerPage))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, usersOf(c, list))
}

func usersOf(c *web.Ctx, list []*model.Account) []api.User {
	out := make([]api.User, len(list))
	for i, a := range list {
		out[i] = api.UserOf(c, a)
	}
	return out
}

func (s *Service) apiUser(c *web.Ctx) error { return s.sayUser(c, c.Account) }

func (s *Service) sayUser(c *web.Ctx, a *model.Account) error {
	counts, err := accountdb.CountsOf(c.Context(), s.db.Directory(), a.ID)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, publicUser(c, a, counts))
}

func (s *Service) apiUserByID(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	a, err := accountdb.ByID(c.Context(), s.db.Directory(), id)
	if err != nil {
		return err
	}
	if a.DeletedAt != nil {
		return db.ErrNotFound
	}
	return s.sayUser(c, a)
}

// list answers with the page of a list that was read whole.
func list[T any](c *web.Ctx, all []T) error {
	p := api.PageOf(c)
	from := min(int(p.Offset()), len(all))
	to := min(from+p.PerPage, len(all))
	p.LinkTotal(c, len(all))
	out := all[from:to]
	if out == nil {
		out = []T{}
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiFollowRoutes(a *web.Router) {
	g := s.Gate
	people := func(of func(c *web.Ctx) int64, following bool) web.Handler {
		return func(c *web.Ctx) error {
			p := api.PageOf(c)
			found, err := accountdb.Followers(c.Context(), s.db.Directory(), of(c), following, p.Limit()+1, p.Offset())
			if err != nil {
				return err
			}
			found, more := api.Cut(found, p.Limit())
			p.Link(c, more)
			return c.JSON(http.StatusOK, usersOf(c, found))
		}
	}
	me := func(c *web.Ctx) int64 { return c.Viewer.ID() }
	them := func(c *web.Ctx) int64 { return c.Account.ID }
	doc := func(id, summary string) *web.Doc {
		return &web.Doc{ID: "users/" + id, Summary: summary, Out: []api.User{}}
	}
	a.Get("/user/followers", g.SignedIn(), people(me, false), doc("list-followers-for-authenticated-user", "List your followers"))
	a.Get("/user/following", g.SignedIn(), people(me, true), doc("list-followed-by-authenticated-user", "List whom you follow"))
	a.Get("/users/{owner}/followers", g.Account(), people(them, false), doc("list-followers-for-user", "List a user's followers"))
	a.Get("/users/{owner}/following", g.Account(), people(them, true), doc("list-following-for-user", "List whom a user follows"))
	a.Get("/user/following/{username}", g.SignedIn(), s.apiFollows, &web.Doc{ID: "users/check-person-is-followed-by-authenticated", Summary: "Check whether you follow a person", Status: http.StatusNoContent})
	a.Put("/user/following/{username}", g.SignedIn("user:follow"), s.apiFollow, &web.Doc{ID: "users/follow", Summary: "Follow a user", Status: http.StatusNoContent})
	a.Delete("/user/following/{username}", g.SignedIn("user:follow"), s.apiFollow, &web.Doc{ID: "users/unfollow", Summary: "Unfollow a user", Status: http.StatusNoContent})
}

func (s *Service) apiFollows(c *web.Ctx) error {
	a, err := accountdb.ByName(c.Context(), s.db.Directory(), c.Param("username"))
	if err != nil {
		return err
	}
	on, err := accountdb.Follows(c.Context(), s.db.Directory(), c.Viewer.ID(), a.ID)
	if err == nil && !on {
		err = db.ErrNotFound
	}
	if err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) apiFollow(c *web.Ctx) error {
	a, err := accountdb.ByName(c.Context(), s.db.Directory(), c.Param("username"))
	if err != nil {
		return err
	}
	if !a.IsUser() {
		return fault.New(fault.Conflict, "Only people can be followed.")
	}
	if err := s.Follow(c.Context(), c.Viewer, a, c.R.Method == http.MethodPut); err != nil {
		return err
	}
	return c.NoContent()
}
