package issues

import (
	"net/http"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
)

// apiRoutes mounts GitHub's endpoints below /repos/{owner}/{repo}.
func (s *Service) apiRoutes(r *web.Router) {
	read, post := s.Gate.Repo(model.RoleRead), s.Gate.RepoPost()
	a, base := r.API(), "/repos/{owner}/{repo}"
	at := base + "/issues/{number}"
	a.Get(base+"/issues", read, s.apiList, &web.Doc{ID: "issues/list-for-repo", Summary: "List repository issues", Out: []Issue{},
		Query: []string{"milestone", "state", "assignee", "type", "creator", "mentioned", "labels", "sort", "direction", "since", "per_page", "page"}})
	a.Post(base+"/issues", post, s.apiCreate, &web.Doc{ID: "issues/create", Summary: "Create an issue", In: issueBody{}, Out: Issue{}, Status: http.StatusCreated})
	a.Get(at, read, s.apiGet, &web.Doc{ID: "issues/get", Summary: "Get an issue", Out: Issue{}})
	a.Patch(at, post, s.apiUpdate, &web.Doc{ID: "issues/update", Summary: "Update an issue", In: issueBody{}, Out: Issue{}})
	a.Delete(at, post, s.apiDelete, &web.Doc{ID: "gitfor/delete-issue", Summary: "Delete an issue", Status: http.StatusNoContent})
	a.Put(at+"/lock", post, s.apiLock, &web.Doc{ID: "issues/lock", Summary: "Lock an issue", In: lockBody{}, Status: http.StatusNoContent})
	a.Delete(at+"/lock", post, s.apiUnlock, &web.Doc{ID: "issues/unlock", Summary: "Unlock an issue", Status: http.StatusNoContent})
	a.Get("/search/issues", s.Gate.Anyone(), s.apiSearch, &web.Doc{ID: "search/issues-and-pull-requests", Summary: "Search issues and pull requests",
		Out: searchResult{}, Query: []string{"q", "sort", "order", "per_page", "page"}})
	s.apiCommentRoutes(a, base, read, post)
	s.apiLabelRoutes(a, base, read, post)
	s.apiMilestoneRoutes(a, base, read, post)
	s.apiPeopleRoutes(a, base, read, post)
	s.apiEventRoutes(a, base, read)
	s.apiReactionRoutes(a, base, read, post)
	s.apiRelationRoutes(a, base, read, post)
}
