package repos

import (
	"net/http"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

func (s *Service) apiRoutes(r *web.Router) {
	g, a := s.Gate, r.API()
	a.Get("/repos/{owner}/{repo}", g.Repo(model.RoleRead), s.apiGet,
		&web.Doc{ID: "repos/get", Summary: "Get a repository", Out: Repository{}})
	a.Patch("/repos/{owner}/{repo}", g.Repo(model.RoleAdmin), s.apiUpdate,
		&web.Doc{ID: "repos/update", Summary: "Update a repository", In: EditInput{}, Out: Repository{}})
	a.Delete("/repos/{owner}/{repo}", g.Repo(model.RoleAdmin), s.apiDelete,
		&web.Doc{ID: "repos/delete", Summary: "Delete a repository", Status: http.StatusNoContent})
	a.Get("/repos/{owner}/{repo}/topics", g.Repo(model.RoleRead), s.apiTopics,
		&web.Doc{ID: "repos/get-all-topics", Summary: "Get all topics", Out: topics{}})
	a.Put("/repos/{owner}/{repo}/topics", g.Repo(model.RoleAdmin), s.apiSetTopics,
		&web.Doc{ID: "repos/replace-all-topics", Summary: "Replace all topics", In: topics{}, Out: topics{}})
	a.Get("/repos/{owner}/{repo}/languages", g.Repo(model.RoleRead), s.apiLanguages,
		&web.Doc{ID: "repos/list-languages", Summary: "List languages", Out: map[string]int64{}})
	a.Post("/repos/{owner}/{repo}/transfer", g.Repo(model.RoleAdmin), s.apiTransfer,
		&web.Doc{ID: "repos/transfer", Summary: "Transfer a repository", In: transferInput{}, Out: Repository{}, Status: http.StatusAccepted})
	a.Get("/user/repos", g.SignedIn(), s.apiListMine,
		&web.Doc{ID: "repos/list-for-authenticated-user", Summary: "List your repositories", Out: []Repository{}})
	a.Post("/user/repos", g.SignedIn(), s.apiCreate,
		&web.Doc{ID: "repos/create-for-authenticated-user", Summary: "Create a repository", In: CreateInput{}, Out: Repository{}, Status: http.StatusCreated})
	a.Post("/orgs/{owner}/repos", g.SignedIn(), s.apiCreate,
		&web.Doc{ID: "repos/create-in-org", Summary: "Create an organization repository", In: CreateInput{}, Out: Repository{}, Status: http.StatusCreated})
	a.Get("/users/{owner}/repos", g.Account(), s.apiListOf,
		&web.Doc{ID: "repos/list-for-user", Summary: "List a user's repositories", Out: []Repository{}})
	a.Get("/orgs/{owner}/repos", g.Account(), s.apiListOf,
		&web.Doc{ID: "repos/list-for-org", Summary: "List an organization's repositories", Out: []Repository{}})
	a.Get("/repositories", g.Anyone(), s.apiListPublic,
		&web.Doc{ID: "repos/list-public", Summary: "List public repositories", Out: []Repository{}})
	a.Get("/repositories/{id}", g.Anyone(), s.apiByID,
		&web.Doc{ID: "repos/get-by-id", Summary: "Get a repository by its id", Out: Repository{}})
	a.Get("/search/repositories", g.Anyone(), s.apiSearch,
		&web.Doc{ID: "search/repos", Summary: "Search repositories", Out: searchResult{}})
}

func (s *Service) apiGet(c *web.Ctx) error { return s.answer(c, http.StatusOK) }

// answer sends the repository in c.
func (s *Service) answer(c *web.Ctx, status int) error {
	counts, err := s.DB.Repo(c.Repo.ID).Counts(c.Context())
	if err != nil {
		return err
	}
	w := s.Wire(c, c.Repo, c.Role, counts)
	if c.Repo.ForkOf != 0 {
		parent, role, err := repodb.FindID(c.Context(), s.DB.Directory(), c.Repo.ForkOf, c.Viewer.ID())
		if err == nil {
			p := s.Wire(c, parent, role, nil)
			w.Parent, w.Source = &p, &p
		}
	}
	return c.JSON(status, w)
}

func (s *Service) apiCreate(c *web.Ctx) error {
	in := CreateInput{Owner: c.Param("owner")}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if in.Owner == "" {
		in.Owner = c.Viewer.Name()
	}
	repo, err := s.Create(c.Context(), c.Viewer, in)
	if err != nil {
		return err
	}
	c.Repo, c.Role = repo, model.RoleAdmin
	w := s.Wire(c, repo, c.Role, nil)
	c.W.Header().Set("Location", w.URL)
	return c.JSON(http.StatusCreated, w)
}

func (s *Service) apiUpdate(c *web.Ctx) error {
	var in EditInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.Edit(c.Context(), c.Viewer, c.Repo, in); err != nil {
		return err
	}
	return s.answer(c, http.StatusOK)
}

func (s *Service) apiDelete(c *web.Ctx) error {
	if !c.Viewer.Has("delete_repo") {
		return c.Forbid("This token lacks the scope delete_repo.")
	}
	if err := s.Delete(c.Context(), c.Viewer, c.Repo); err != nil {
		return err
	}
	return c.NoContent()
}

type topics struct {
	Names []string `json:"names"`
}

func (s *Service) apiTopics(c *web.Ctx) error {
	return c.JSON(http.StatusOK, topics{append([]string{}, c.Repo.Topics...)})
}

func (s *Service) apiSetTopics(c *web.Ctx) error {
	var in topics
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.Edit(c.Context(), c.Viewer, c.Repo, EditInput{Topics: &in.Names}); err != nil {
		return err
	}
	return s.apiTopics(c)
}

func (s *Service) apiLanguages(c *web.Ctx) error {
	if c.Repo.Languages == nil {
		c.Repo.Languages = map[string]int64{}
	}
	return c.JSON(http.StatusOK, c.Repo.Languages)
}

type transferInput struct {
	NewOwner string `json:"new_owner" form:"new_owner"`
	NewName  string `json:"new_name" form:"-"`
}

func (s *Service) apiTransfer(c *web.Ctx) error {
	var in transferInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.Transfer(c.Context(), c.Viewer, c.Repo, in.NewOwner); err != nil {
		return err
	}
	return s.answer(c, http.StatusAccepted)
}

func (s *Service) apiListMine(c *web.Ctx) error {
	o := listOpts(c, "full_name")
	o.MemberID = c.Viewer.ID()
	if c.Query("affiliation") == "owner" || c.Query("type") == "owner" {
		o.OwnerID, o.MemberID = o.MemberID, 0
	}
	if v := c.Query("visibility"); v == model.Public || v == model.Private {
		o.Visibility = v
	}
	if c.Query("type") == model.Private || c.Query("type") == model.Public {
		o.Visibility = c.Query("type")
	}
	if !c.Viewer.Has("repo") {
		o.Visibility = model.Public
	}
	return s.apiList(c, c.Viewer.ID(), o)
}

func (s *Service) apiListOf(c *web.Ctx) error {
	o := listOpts(c, "full_name")
	o.OwnerID = c.Account.ID
	if v := c.Query("type"); v == model.Public || v == model.Private {
		o.Visibility = v
	}
	viewer := c.Viewer.ID()
	if !c.Viewer.Has("repo") {
		viewer = 0
	}
	return s.apiList(c, viewer, o)
}

func (s *Service) apiListPublic(c *web.Ctx) error {
	o := listOpts(c, "created")
	o.Visibility = model.Public
	return s.apiList(c, 0, o)
}

func listOpts(c *web.Ctx, sort string) repodb.ListOpts {
	p := api.PageOf(c)
	o := repodb.ListOpts{Sort: sort, Limit: p.Limit(), Offset: p.Offset()}
	if v := c.Query("sort"); v != "" {
		o.Sort = v
	}
	switch direction := c.Query("direction"); o.Sort {
	case "name", "full_name":
		o.Asc = direction == "desc"
	default:
		o.Asc = direction == "asc"
	}
	return o
}

func (s *Service) apiList(c *web.Ctx, viewerID int64, o repodb.ListOpts) error {
	list, more, err := repodb.List(c.Context(), s.DB.Directory(), viewerID, o)
	if err != nil {
		return err
	}
	api.PageOf(c).Link(c, more)
	out := make([]Repository, len(list))
	for i, r := range list {
		out[i] = s.Wire(c, r, s.listRole(c, r), nil)
	}
	return c.JSON(http.StatusOK, out)
}

// listRole is the role that a list can tell without a query for each entry.
func (s *Service) listRole(c *web.Ctx, r *model.Repo) model.Role {
	switch {
	case !c.Viewer.SignedIn():
		return model.RoleNone
	case r.OwnerID == c.Viewer.ID():
		return model.RoleAdmin
	}
	return model.RoleRead
}

func (s *Service) apiByID(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	repo, role, err := repodb.FindID(c.Context(), s.DB.Directory(), id, c.Viewer.ID())
	if err != nil {
		return err
	}
	if !c.Viewer.Reaches(repo.ID, repo.IsPrivate(), false) {
		return db.ErrNotFound
	}
	c.Repo, c.Role = repo, role
	return s.answer(c, http.StatusOK)
}

type searchResult struct {
	Total      int          `json:"total_count"`
	Incomplete bool         `json:"incomplete_results"`
	Items      []Repository `json:"items"`
}

func (s *Service) apiSearch(c *web.Ctx) error {
	o := listOpts(c, "updated")
	var owner string
	o.Query, owner = searchWords(c.Query("q"))
	if owner != "" {
		account, err := accountdb.ByName(c.Context(), s.DB.Directory(), owner)
		if err != nil {
			return c.JSON(http.StatusOK, searchResult{Items: []Repository{}})
		}
		o.OwnerID = account.ID
	}
	viewer := c.Viewer.ID()
	if !c.Viewer.Has("repo") {
		viewer = 0
	}
	list, more, err := repodb.List(c.Context(), s.DB.Directory(), viewer, o)
	if err != nil {
		return err
	}
	api.PageOf(c).Link(c, more)
	out := searchResult{Total: int(o.Offset) + len(list), Items: make([]Repository, len(list))}
	if more {
		out.Total++
	}
	for i, r := range list {
		out.Items[i] = s.Wire(c, r, s.listRole(c, r), nil)
	}
	return c.JSON(http.StatusOK, out)
}
