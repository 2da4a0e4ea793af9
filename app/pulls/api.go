package pulls

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
	"github.com/gitfor/gitfor/db/reviewdb"
)

// apiRoutes mounts GitHub's endpoints below /repos/{owner}/{repo}/pulls
// (https://docs.github.com/rest/pulls/pulls).
func (s *Service) apiRoutes(r *web.Router) {
	read, post := s.Gate.Repo(model.RoleRead), s.Gate.RepoPost()
	a, base := r.API(), "/repos/{owner}/{repo}/pulls"
	at := base + "/{number}"
	a.Get(base, read, s.apiList, &web.Doc{ID: "pulls/list", Summary: "List pull requests", Out: []PullRequest{},
		Query: []string{"state", "head", "base", "sort", "direction", "per_page", "page"}})
	a.Post(base, post, s.apiCreate, &web.Doc{ID: "pulls/create", Summary: "Create a pull request", In: createBody{}, Out: FullPullRequest{}, Status: http.StatusCreated})
	a.Get(at, read, s.apiGet, &web.Doc{ID: "pulls/get", Summary: "Get a pull request", Out: FullPullRequest{}})
	a.Patch(at, post, s.apiUpdate, &web.Doc{ID: "pulls/update", Summary: "Update a pull request", In: EditInput{}, Out: FullPullRequest{}})
	a.Get(at+"/commits", read, s.apiCommits, &web.Doc{ID: "pulls/list-commits", Summary: "List commits on a pull request", Out: []Commit{}, Query: []string{"per_page", "page"}})
	a.Get(at+"/files", read, s.apiFiles, &web.Doc{ID: "pulls/list-files", Summary: "List pull requests files", Out: []File{}, Query: []string{"per_page", "page"}})
	a.Get(at+"/merge", read, s.apiIsMerged, &web.Doc{ID: "pulls/check-if-merged", Summary: "Check if a pull request has been merged", Status: http.StatusNoContent})
	a.Put(at+"/merge", post, s.apiMerge, &web.Doc{ID: "pulls/merge", Summary: "Merge a pull request", In: mergeBody{}, Out: Merged{}})
	a.Put(at+"/update-branch", post, s.apiUpdateBranch, &web.Doc{ID: "pulls/update-branch", Summary: "Update a pull request branch", In: updateBody{}, Out: Updated{}, Status: http.StatusAccepted})
	s.apiReviewerRoutes(a, at, read, post)
	s.apiMoreRoutes(a, at, post)
	a.Get("/repos/{owner}/{repo}/commits/{sha}/pulls", read, s.apiOfCommit,
		&web.Doc{ID: "repos/list-pull-requests-associated-with-commit", Summary: "List pull requests associated with a commit", Out: []PullRequest{}})
}

func (s *Service) apiList(c *web.Ctx) error {
	page := api.PageOf(c)
	f := pulldb.Filter{BaseRef: c.Query("base"), HeadLabel: c.Query("head"), Sort: c.Query("sort"), Ascending: c.Query("direction") == "asc",
		Limit: page.PerPage, Offset: int(page.Offset())}
	if f.HeadLabel != "" && !strings.Contains(f.HeadLabel, ":") {
		f.HeadLabel = c.Repo.Owner.Name + ":" + f.HeadLabel
	}
	switch state := c.Query("state"); state {
	case "", model.StateOpen:
		f.State = model.StateOpen
	case model.StateClosed:
		f.State = state
	case "all":
	default:
		return fault.Field("state", "The state is open, closed or all.")
	}
	list, total, err := pulldb.List(c.Context(), s.DB.Repo(c.Repo.ID), f)
	if err != nil {
		return err
	}
	page.LinkTotal(c, total)
	return s.apiShow(c, list)
}

func (s *Service) apiShow(c *web.Ctx, list []*model.Pull) error {
	w, err := s.show(c, list...)
	if err != nil {
		return err
	}
	out := make([]PullRequest, 0, len(list))
	for _, p := range list {
		out = append(out, w.pull(p))
	}
	return c.JSON(http.StatusOK, out)
}

// createBody is the body of a request that opens a pull request.
type createBody struct {
	Title               string `json:"title"`
	Body                string `json:"body"`
	Head                string `json:"head"`
	HeadRepo            string `json:"head_repo"`
	Base                string `json:"base"`
	Draft               bool   `json:"draft"`
	MaintainerCanModify *bool  `json:"maintainer_can_modify"`
	Issue               int64  `json:"issue"`
}

func (s *Service) apiCreate(c *web.Ctx) error {
	var b createBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	if b.Issue != 0 {
		return fault.Field("issue", "Issues cannot be turned into pull requests here.")
	}
	if b.HeadRepo != "" && !strings.Contains(b.Head, ":") {
		b.Head = strings.Replace(b.HeadRepo, "/", ":", 1) + ":" + b.Head
	}
	pull, err := s.Open(c.Context(), place(c), OpenInput{Title: b.Title, Body: b.Body, Head: b.Head, Base: b.Base, Draft: b.Draft, MaintainerEdits: b.MaintainerCanModify})
	if err != nil {
		return resource(err)
	}
	c.W.Header().Set("Location", apiBase(c)+"/pulls/"+num(pull.Number))
	return s.answer(c, http.StatusCreated, pull)
}

// resource names in GitHub's error answers what a fault is about.
func resource(err error) error {
	if err == nil {
		return nil
	}
	f := *fault.From(err)
	if f.Kind == fault.Invalid && f.Resource == "" {
		f.Resource = "PullRequest"
		return &f
	}
	return err
}

func (s *Service) answer(c *web.Ctx, status int, pull *model.Pull) error {
	w, err := s.show(c, pull)
	if err != nil {
		return err
	}
	repo := s.DB.Repo(c.Repo.ID)
	g, err := s.open(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	facts, err := s.gather(c.Context(), g, pull)
	if err != nil {
		return err
	}
	needs, err := s.needsOf(c.Context(), repo, place(c), pull, "", facts)
	if err != nil {
		return err
	}
	comments, err := reviewdb.CountComments(c.Context(), repo, pull.Number)
	if err != nil {
		return err
	}
	return c.JSON(status, w.full(pull, needs, comments))
}

// found is the pull request of the request's address.
func (s *Service) found(c *web.Ctx) (*model.Pull, *git.Repository, error) {
	n, err := c.ParamInt("number")
	if err != nil {
		return nil, nil, err
	}
	pull, err := s.Find(c.Context(), place(c), n)
	if err != nil {
		return nil, nil, err
	}
	defer c.Time("git")()
	g, err := s.open(c.Context(), c.Repo)
	if err != nil {
		return nil, nil, err
	}
	return pull, g, s.Fresh(c.Context(), place(c), g, pull)
}

func (s *Service) apiGet(c *web.Ctx) error {
	pull, g, err := s.found(c)
	if err != nil {
		return err
	}
	switch {
	case c.Wants("application/vnd.github.diff"), c.Wants("application/vnd.github.v3.diff"):
		return s.patch(c, g, pull, git.PatchDiff, "application/vnd.github.v3.diff; charset=utf-8")
	case c.Wants("application/vnd.github.patch"), c.Wants("application/vnd.github.v3.patch"):
		return s.patch(c, g, pull, git.PatchMail, "application/vnd.github.v3.patch; charset=utf-8")
	}
	return s.answer(c, http.StatusOK, pull)
}

// patch sends the changes as text.
func (s *Service) patch(c *web.Ctx, g *git.Repository, pull *model.Pull, format git.PatchFormat, kind string) error {
	c.W.Header().Set("Content-Type", kind)
	base := pull.MergeBase
	return g.Patch(c.Context(), format, git.DiffOptions{Base: git.OID(base), Head: git.OID(pull.HeadSHA)}, c.W)
}

func (s *Service) apiUpdate(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in EditInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if _, err := s.Edit(c.Context(), place(c), n, in); err != nil {
		return resource(err)
	}
	pull, _, err := s.found(c)
	if err != nil {
		return err
	}
	return s.answer(c, http.StatusOK, pull)
}

// maxAPICommits is how many commits the API lists, as on GitHub.
const maxAPICommits = 250

func (s *Service) apiCommits(c *web.Ctx) error {
	pull, g, err := s.found(c)
	if err != nil {
		return err
	}
	log, err := commitsOf(c.Context(), g, pull, maxAPICommits)
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	page.LinkTotal(c, len(log))
	log = slice(log, page)
	people, err := s.authors(c.Context(), log)
	if err != nil {
		return err
	}
	w := &show{s: s, c: c}
	out := make([]Commit, 0, len(log))
	known, err := s.Signatures.Of(c.Context(), g, c.Repo.ID, log...)
	if err != nil {
		return err
	}
	for _, commit := range log {
		one := w.commit(commit, people)
		if r, ok := known[commit.OID]; ok {
			payload, _, err := g.SignedCommit(c.Context(), commit.OID)
			if err != nil {
				return err
			}
			payload = git.DecodeText(payload)
			one.Commit.Verification.Verified, one.Commit.Verification.Reason, one.Commit.Verification.Payload = r.Verified, r.Reason, &payload
			if r.Verified {
				at := api.Time(r.At)
				one.Commit.Verification.VerifiedAt = &at
			}
		}
		out = append(out, one)
	}
	return c.JSON(http.StatusOK, out)
}

// slice is the page of a list.
func slice[T any](list []T, page api.Paging) []T {
	from := min(int(page.Offset()), len(list))
	return list[from:min(from+page.PerPage, len(list))]
}

func (s *Service) apiIsMerged(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	pull, err := s.Find(c.Context(), place(c), n)
	if err != nil {
		return err
	}
	if !pull.Merged() {
		return fault.New(fault.NotFound, "Not merged.")
	}
	return c.NoContent()
}

// mergeBody is the body of a merge.
type mergeBody struct {
	CommitTitle   string  `json:"commit_title"`
	CommitMessage *string `json:"commit_message"`
	SHA           string  `json:"sha"`
	MergeMethod   string  `json:"merge_method"`
	// BypassRules is gitfor's own: merge in spite of rules that one is
	// exempt from.
	BypassRules bool `json:"bypass_rules"`
}

func (s *Service) apiMerge(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var b mergeBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	in := MergeInput{Method: b.MergeMethod, SHA: b.SHA, Title: b.CommitTitle, Bypass: b.BypassRules, MessageSet: b.CommitMessage != nil}
	if b.CommitMessage != nil {
		in.Message = *b.CommitMessage
	}
	if in.Method == "" && slices.Contains(Methods(c.Repo), model.MethodMerge) {
		in.Method = model.MethodMerge
	}
	pull, err := s.Merge(c.Context(), place(c), n, in)
	var no *NotMergeable
	if errors.As(err, &no) {
		return notAllowed(c, no.Reason)
	}
	if err != nil {
		return resource(err)
	}
	return c.JSON(http.StatusOK, Merged{SHA: pull.MergeSHA, Merged: true, Message: "Pull Request successfully merged"})
}

// notAllowed answers 405, as GitHub does where a pull request cannot be
// merged.
func notAllowed(c *web.Ctx, reason string) error {
	c.W.Header().Set("Content-Type", "application/json; charset=utf-8")
	c.W.Header().Set("Allow", "GET, HEAD")
	c.W.WriteHeader(http.StatusMethodNotAllowed)
	return json.NewEncoder(c.W).Encode(map[string]any{"message": reason, "documentation_url": c.URL("/api/v3/openapi.json"),
		"status": "405"})
}

// updateBody is the body of a request that brings a branch up to date.
type updateBody struct {
	ExpectedHeadSHA string `json:"expected_head_sha"`
	// UpdateMethod is merge or rebase.
	UpdateMethod string `json:"update_method"`
}

func (s *Service) apiUpdateBranch(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var b updateBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	_, err = s.UpdateBranch(c.Context(), place(c), n, b.ExpectedHeadSHA, b.UpdateMethod)
	var no *NotMergeable
	switch {
	case errors.As(err, &no):
		return resource(fault.Field("base", no.Reason))
	case fault.Is(err, fault.Conflict):
		return resource(fault.Field("base", fault.From(err).Message))
	case err != nil:
		return resource(err)
	}
	return c.JSON(http.StatusAccepted, Updated{Message: "Updating pull request branch.", URL: apiBase(c) + "/pulls/" + num(n)})
}

// apiOfCommit lists the pull requests whose head or merge a commit is.
func (s *Service) apiOfCommit(c *web.Ctx) error {
	list, err := pulldb.OfCommit(c.Context(), s.DB.Repo(c.Repo.ID), c.Param("sha"))
	if err != nil {
		return err
	}
	seen := list[:0]
	for _, p := range list {
		if p.Issue.VisibleTo(c.Viewer.ID(), c.Role) {
			seen = append(seen, p)
		}
	}
	return s.apiShow(c, seen)
}
