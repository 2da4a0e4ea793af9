package statuses

import (
	"encoding/json"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// Status is GitHub's status object
// (https://docs.github.com/rest/commits/statuses).
type Status struct {
	URL         string    `json:"url"`
	AvatarURL   *string   `json:"avatar_url"`
	ID          int64     `json:"id"`
	NodeID      string    `json:"node_id"`
	State       string    `json:"state"`
	Description *string   `json:"description"`
	TargetURL   *string   `json:"target_url"`
	Context     string    `json:"context"`
	CreatedAt   string    `json:"created_at"`
	UpdatedAt   string    `json:"updated_at"`
	Creator     *api.User `json:"creator,omitempty"`
}

// CombinedStatus is what all statuses of a commit come to.
type CombinedStatus struct {
	State      string           `json:"state"`
	Statuses   []Status         `json:"statuses"`
	SHA        string           `json:"sha"`
	TotalCount int              `json:"total_count"`
	Repository repos.Repository `json:"repository"`
	CommitURL  string           `json:"commit_url"`
	URL        string           `json:"url"`
}

// CheckRun is GitHub's check run (https://docs.github.com/rest/checks/runs).
type CheckRun struct {
	ID           int64      `json:"id"`
	HeadSHA      string     `json:"head_sha"`
	NodeID       string     `json:"node_id"`
	ExternalID   string     `json:"external_id"`
	URL          string     `json:"url"`
	HTMLURL      string     `json:"html_url"`
	DetailsURL   *string    `json:"details_url"`
	Status       string     `json:"status"`
	Conclusion   *string    `json:"conclusion"`
	StartedAt    *string    `json:"started_at"`
	CompletedAt  *string    `json:"completed_at"`
	Output       Output     `json:"output"`
	Name         string     `json:"name"`
	CheckSuite   *Suite     `json:"check_suite"`
	App          *struct{}  `json:"app"`
	PullRequests []struct{} `json:"pull_requests"`
}

// Suite names the check suite that a run belongs to: one for each commit.
type Suite struct {
	ID int64 `json:"id"`
}

// Output is what a check run has to say.
type Output struct {
	Title            *string `json:"title"`
	Summary          *string `json:"summary"`
	Text             *string `json:"text"`
	AnnotationsCount int     `json:"annotations_count"`
	AnnotationsURL   string  `json:"annotations_url"`
}

// CheckRuns is a page of check runs.
type CheckRuns struct {
	TotalCount int        `json:"total_count"`
	CheckRuns  []CheckRun `json:"check_runs"`
}

func base(c *web.Ctx) string {
	return c.URL(web.APIPrefix + "/repos" + link.Repo(c.Repo.Owner.Name, c.Repo.Name))
}

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func statusOf(c *web.Ctx, s *model.Status, creator *model.Account, full bool) Status {
	out := Status{URL: base(c) + "/statuses/" + s.SHA, ID: s.ID, NodeID: api.NodeID("Status", c.Repo.ID, s.ID), State: s.State,
		Description: some(s.Description), TargetURL: some(s.TargetURL), Context: s.Context,
		CreatedAt: api.Time(s.CreatedAt), UpdatedAt: api.Time(s.UpdatedAt)}
	if creator != nil {
		out.AvatarURL = some(c.URL(web.Avatar(creator)))
	}
	if full {
		u := api.UserOf(c, creator)
		out.Creator = &u
	}
	return out
}

func checkOf(c *web.Ctx, s *model.Status) CheckRun {
	url := base(c) + "/check-runs/" + num(s.ID)
	k := s.Check
	return CheckRun{ID: s.ID, HeadSHA: s.SHA, NodeID: api.NodeID("CheckRun", c.Repo.ID, s.ID), ExternalID: k.ExternalID, URL: url,
		HTMLURL: c.URL(link.Commit(c.Repo.Owner.Name, c.Repo.Name, s.SHA)) + "#checks", DetailsURL: some(s.TargetURL), Status: k.Status,
		Conclusion: some(k.Conclusion), StartedAt: api.TimeRef(k.StartedAt), CompletedAt: api.TimeRef(k.CompletedAt), Name: s.Context,
		Output:       Output{Title: some(k.Title), Summary: some(k.Summary), Text: some(k.Text), AnnotationsCount: k.Count, AnnotationsURL: url + "/annotations"},
		PullRequests: []struct{}{}}
}

// annotations are those of a check run, as they were given.
func annotations(s *model.Status) []json.RawMessage {
	list := []json.RawMessage{}
	if len(s.Check.Annotations) > 0 {
		_ = json.Unmarshal(s.Check.Annotations, &list) // written here, so it can be read
	}
	return list
}
