package statuses

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/statusdb"
)

func num(n int64) string { return strconv.FormatInt(n, 10) }

// Routes mounts GitHub's endpoints.
func (s *Service) Routes(r *web.Router) {
	read, write := s.Gate.Repo(model.RoleRead), s.Gate.RepoChange(model.RoleWrite)
	a, at := r.API(), "/repos/{owner}/{repo}"
	a.Post(at+"/statuses/{sha}", write, s.apiReport, &web.Doc{ID: "repos/create-commit-status", Summary: "Create a commit status", In: ReportInput{}, Out: Status{}, Status: http.StatusCreated})
	a.Get(at+"/commits/{ref}/statuses", read, s.apiList, &web.Doc{ID: "repos/list-commit-statuses-for-ref", Summary: "List commit statuses for a reference", Out: []Status{}})
	a.Get(at+"/statuses/{ref}", read, s.apiList, &web.Doc{ID: "repos/list-statuses-for-sha", Summary: "List commit statuses for a commit", Out: []Status{}})
	a.Get(at+"/commits/{ref}/status", read, s.apiCombined, &web.Doc{ID: "repos/get-combined-status-for-ref", Summary: "Get the combined status for a specific reference", Out: CombinedStatus{}})
	a.Get(at+"/commits/{ref}/check-runs", read, s.apiChecks, &web.Doc{ID: "checks/list-for-ref", Summary: "List check runs for a Git reference", Out: CheckRuns{}, Query: []string{"check_name", "status", "filter", "per_page", "page"}})
	a.Post(at+"/check-runs", write, s.apiRunCheck, &web.Doc{ID: "checks/create", Summary: "Create a check run", In: CheckInput{}, Out: CheckRun{}, Status: http.StatusCreated})
	a.Get(at+"/check-runs/{id}", read, s.apiCheck, &web.Doc{ID: "checks/get", Summary: "Get a check run", Out: CheckRun{}})
	a.Patch(at+"/check-runs/{id}", write, s.apiChangeCheck, &web.Doc{ID: "checks/update", Summary: "Update a check run", In: CheckInput{}, Out: CheckRun{}})
	a.Get(at+"/check-runs/{id}/annotations", read, s.apiAnnotations, &web.Doc{ID: "checks/list-annotations", Summary: "List check run annotations", Out: []any{}})
}

// resolve finds the commit that a branch, tag or id names.
func (s *Service) resolve(c *web.Ctx) (string, error) {
	g, err := s.Repos.Open(c.Context(), c.Repo)
	if err != nil {
		return "", err
	}
	rev, err := g.ResolveRef(c.Context(), c.Param("ref"))
	if errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrAmbiguous) || err == nil && rev.Commit == "" {
		return "", fault.Field("ref", "No commit found for SHA: "+c.Param("ref"))
	}
	return rev.Commit.String(), err
}

func (s *Service) apiReport(c *web.Ctx) error {
	var in ReportInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	in.State = strings.ToLower(in.State)
	row, err := s.Report(c.Context(), c.Viewer, c.Repo, c.Param("sha"), in)
	if err != nil {
		return err
	}
	out := statusOf(c, row, c.Viewer.Account, true)
	c.W.Header().Set("Location", out.URL)
	return c.JSON(http.StatusCreated, out)
}

func (s *Service) apiList(c *web.Ctx) error {
	sha, err := s.resolve(c)
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	rows, total, err := statusdb.List(c.Context(), s.DB.Repo(c.Repo.ID), model.StatusReport, sha, page.PerPage, int(page.Offset()))
	if err != nil {
		return err
	}
	people, err := s.creators(c, rows)
	if err != nil {
		return err
	}
	page.LinkTotal(c, total)
	out := make([]Status, 0, len(rows))
	for _, r := range rows {
		out = append(out, statusOf(c, r, people[r.CreatorID], true))
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) creators(c *web.Ctx, rows []*model.Status) (map[int64]*model.Account, error) {
	var ids []int64
	for _, r := range rows {
		ids = append(ids, r.CreatorID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
}

func (s *Service) apiCombined(c *web.Ctx) error {
	sha, err := s.resolve(c)
	if err != nil {
		return err
	}
	repo := s.DB.Repo(c.Repo.ID)
	all, err := statusdb.Latest(c.Context(), repo, model.StatusReport, sha)
	if err != nil {
		return err
	}
	people, err := s.creators(c, all[sha])
	if err != nil {
		return err
	}
	counts, err := repo.Counts(c.Context())
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	rows := all[sha]
	page.LinkTotal(c, len(rows))
	out := CombinedStatus{State: model.Combined(rows), Statuses: []Status{}, SHA: sha, TotalCount: len(rows),
		Repository: s.Repos.Wire(c, c.Repo, c.Role, counts), CommitURL: base(c) + "/commits/" + sha, URL: base(c) + "/commits/" + sha + "/status"}
	if out.State == "" {
		out.State = model.StatusPending
	}
	from := min(int(page.Offset()), len(rows))
	for _, r := range rows[from:min(from+page.PerPage, len(rows))] {
		out.Statuses = append(out.Statuses, statusOf(c, r, people[r.CreatorID], false))
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiChecks(c *web.Ctx) error {
	sha, err := s.resolve(c)
	if err != nil {
		return err
	}
	var rows []*model.Status
	if c.Query("filter") == "all" {
		rows, _, err = statusdb.List(c.Context(), s.DB.Repo(c.Repo.ID), model.StatusCheck, sha, 1000, 0)
	} else {
		var all map[string][]*model.Status
		all, err = statusdb.Latest(c.Context(), s.DB.Repo(c.Repo.ID), model.StatusCheck, sha)
		rows = all[sha]
	}
	if err != nil {
		return err
	}
	kept := rows[:0:0]
	for _, r := range rows {
		if name := c.Query("check_name"); name != "" && name != r.Context {
			continue
		}
		if status := c.Query("status"); status != "" && status != r.Check.Status {
			continue
		}
		kept = append(kept, r)
	}
	page := api.PageOf(c)
	page.LinkTotal(c, len(kept))
	out := CheckRuns{TotalCount: len(kept), CheckRuns: []CheckRun{}}
	from := min(int(page.Offset()), len(kept))
	for _, r := range kept[from:min(from+page.PerPage, len(kept))] {
		out.CheckRuns = append(out.CheckRuns, checkOf(c, r))
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiRunCheck(c *web.Ctx) error {
	var in CheckInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	row, err := s.RunCheck(c.Context(), c.Viewer, c.Repo, in)
	if err != nil {
		return err
	}
	out := checkOf(c, row)
	c.W.Header().Set("Location", out.URL)
	return c.JSON(http.StatusCreated, out)
}

func (s *Service) check(c *web.Ctx) (*model.Status, error) {
	id, err := c.ParamInt("id")
	if err != nil {
		return nil, err
	}
	return statusdb.Find(c.Context(), s.DB.Repo(c.Repo.ID), model.StatusCheck, id)
}

func (s *Service) apiCheck(c *web.Ctx) error {
	row, err := s.check(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, checkOf(c, row))
}

func (s *Service) apiChangeCheck(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	var in CheckInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	row, err := s.ChangeCheck(c.Context(), c.Viewer, c.Repo, id, in)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, checkOf(c, row))
}

func (s *Service) apiAnnotations(c *web.Ctx) error {
	row, err := s.check(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, annotations(row))
}
