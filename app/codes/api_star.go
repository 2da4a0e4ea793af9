package codes

import (
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

func (s *Service) apiStarRoutes(a *web.Router) {
	read, viewer, signedIn, account := s.Gate.Repo(model.RoleRead), s.Gate.RepoViewer(), s.Gate.SignedIn(), s.Gate.Account()
	a.Get("/user/starred", signedIn, s.apiStarred, &web.Doc{ID: "activity/list-repos-starred-by-authenticated-user", Summary: "List repositories starred by you", Out: []repos.Repository{}})
	a.Get("/users/{owner}/starred", account, s.apiStarred, &web.Doc{ID: "activity/list-repos-starred-by-user", Summary: "List repositories starred by a user", Out: []repos.Repository{}})
	a.Get("/user/starred/{owner}/{repo}", viewer, s.apiIsStarred, &web.Doc{ID: "activity/check-repo-is-starred-by-authenticated-user", Summary: "Check if a repository is starred by you", Status: http.StatusNoContent})
	a.Put("/user/starred/{owner}/{repo}", viewer, func(c *web.Ctx) error { return s.apiStar(c, true) },
		&web.Doc{ID: "activity/star-repo-for-authenticated-user", Summary: "Star a repository", Status: http.StatusNoContent})
	a.Delete("/user/starred/{owner}/{repo}", viewer, func(c *web.Ctx) error { return s.apiStar(c, false) },
		&web.Doc{ID: "activity/unstar-repo-for-authenticated-user", Summary: "Unstar a repository", Status: http.StatusNoContent})
	a.Get(apiRepo+"/stargazers", read, func(c *web.Ctx) error { return s.apiFans(c, true) },
		&web.Doc{ID: "activity/list-stargazers-for-repo", Summary: "List stargazers", Out: []api.User{}})
	a.Get(apiRepo+"/subscribers", read, func(c *web.Ctx) error { return s.apiFans(c, false) },
		&web.Doc{ID: "activity/list-watchers-for-repo", Summary: "List watchers", Out: []api.User{}})
	a.Get("/user/subscriptions", signedIn, s.apiWatched, &web.Doc{ID: "activity/list-watched-repos-for-authenticated-user", Summary: "List repositories watched by you", Out: []repos.Repository{}})
	a.Get("/users/{owner}/subscriptions", account, s.apiWatched, &web.Doc{ID: "activity/list-repos-watched-by-user", Summary: "List repositories watched by a user", Out: []repos.Repository{}})
	a.Get(apiRepo+"/subscription", viewer, s.apiSubscription, &web.Doc{ID: "activity/get-repo-subscription", Summary: "Get a repository subscription", Out: subscription{}})
	a.Put(apiRepo+"/subscription", viewer, s.apiSubscribe, &web.Doc{ID: "activity/set-repo-subscription", Summary: "Set a repository subscription", In: subscriptionInput{}, Out: subscription{}})
	a.Delete(apiRepo+"/subscription", viewer, s.apiUnsubscribe, &web.Doc{ID: "activity/delete-repo-subscription", Summary: "Delete a repository subscription", Status: http.StatusNoContent})
}

// subject is whose stars or watches are listed: the account in the address, or
// the viewer.
func subject(c *web.Ctx) int64 {
	if c.Account != nil {
		return c.Account.ID
	}
	return c.Viewer.ID()
}

func (s *Service) apiStarred(c *web.Ctx) error {
	return s.apiListed(c, repodb.ListOpts{StarredBy: subject(c)})
}

func (s *Service) apiWatched(c *web.Ctx) error {
	return s.apiListed(c, repodb.ListOpts{WatchedBy: subject(c)})
}

func (s *Service) apiListed(c *web.Ctx, o repodb.ListOpts) error {
	page := api.PageOf(c)
	o.Limit, o.Offset, o.Asc = page.Limit(), page.Offset(), c.Query("direction") == "asc"
	if c.Query("sort") == "created" || c.Query("sort") == "" {
		o.Sort = "created"
	}
	viewer := c.Viewer.ID()
	if !c.Viewer.Has("repo") {
		viewer = 0
	}
	list, more, err := repodb.List(c.Context(), s.DB.Directory(), viewer, o)
	if err != nil {
		return err
	}
	page.Link(c, more)
	out := make([]repos.Repository, len(list))
	for i, r := range list {
		out[i] = s.Repos.Wire(c, r, model.RoleRead, nil)
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) standing(c *web.Ctx) (model.Standing, error) {
	if !c.Viewer.SignedIn() {
		return model.Standing{}, fault.New(fault.Unauthorized, "Requires authentication")
	}
	return repodb.Standing(c.Context(), s.DB.Directory(), c.Repo.ID, c.Viewer.ID())
}

func (s *Service) apiIsStarred(c *web.Ctx) error {
	st, err := s.standing(c)
	if err != nil {
		return err
	}
	if !st.Starred {
		return fault.New(fault.NotFound, "You have not starred this repository.")
	}
	return c.NoContent()
}

func (s *Service) apiStar(c *web.Ctx, on bool) error {
	if err := s.Star(c.Context(), c.Viewer, c.Repo, on); err != nil {
		return err
	}
	return c.NoContent()
}

type starredAt struct {
	At   string   `json:"starred_at"`
	User api.User `json:"user"`
}

// apiFans lists who starred or watches.
func (s *Service) apiFans(c *web.Ctx, stars bool) error {
	page := api.PageOf(c)
	from := repodb.Watchers
	if stars {
		from = repodb.Stargazers
	}
	list, err := from(c.Context(), s.DB.Directory(), c.Repo.ID, page.Limit(), page.Offset())
	if err != nil {
		return err
	}
	list, more := api.Cut(list, page.Limit())
	page.Link(c, more)
	if stars && strings.Contains(c.R.Header.Get("Accept"), "star+json") {
		out := make([]starredAt, len(list))
		for i := range list {
			out[i] = starredAt{api.Time(list[i].At), api.UserOf(c, &list[i].Account)}
		}
		return c.JSON(http.StatusOK, out)
	}
	out := make([]api.User, len(list))
	for i := range list {
		out[i] = api.UserOf(c, &list[i].Account)
	}
	return c.JSON(http.StatusOK, out)
}

// subscription is GitHub's repository subscription
// (https://docs.github.com/rest/activity/watching#get-a-repository-subscription).
type subscription struct {
	Subscribed    bool    `json:"subscribed"`
	Ignored       bool    `json:"ignored"`
	Reason        *string `json:"reason"`
	CreatedAt     *string `json:"created_at"`
	URL           string  `json:"url"`
	RepositoryURL string  `json:"repository_url"`
}

func (s *Service) apiSubscription(c *web.Ctx) error {
	st, err := s.standing(c)
	if err != nil {
		return err
	}
	if st.Watch == "" {
		return fault.New(fault.NotFound, "You do not watch this repository.")
	}
	return c.JSON(http.StatusOK, subscription{Subscribed: st.Watch != model.WatchIgnore, Ignored: st.Watch == model.WatchIgnore,
		CreatedAt: api.TimeRef(st.Since), URL: apiURL(c, "/subscription"), RepositoryURL: apiURL(c, "")})
}

type subscriptionInput struct {
	Subscribed bool `json:"subscribed"`
	Ignored    bool `json:"ignored"`
}

func (s *Service) apiSubscribe(c *web.Ctx) error {
	in := subscriptionInput{}
	if err := c.Decode(&in); err != nil {
		return err
	}
	level := ""
	switch {
	case in.Ignored:
		level = model.WatchIgnore
	case in.Subscribed:
		level = model.WatchAll
	}
	if err := s.Watch(c.Context(), c.Viewer, c.Repo, level); err != nil {
		return err
	}
	if level == "" {
		return c.JSON(http.StatusOK, subscription{URL: apiURL(c, "/subscription"), RepositoryURL: apiURL(c, "")})
	}
	return s.apiSubscription(c)
}

func (s *Service) apiUnsubscribe(c *web.Ctx) error {
	if err := s.Watch(c.Context(), c.Viewer, c.Repo, ""); err != nil {
		return err
	}
	return c.NoContent()
}
