package pulls

import (
	"net/http"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// Reviewers are who is asked for a review
// (https://docs.github.com/rest/pulls/review-requests).
type Reviewers struct {
	Users []api.User `json:"users"`
	Teams []Team     `json:"teams"`
}

func (s *Service) apiReviewerRoutes(a *web.Router, at string, read, post web.Access) {
	at += "/requested_reviewers"
	a.Get(at, read, s.apiReviewers, &web.Doc{ID: "pulls/list-requested-reviewers", Summary: "Get all requested reviewers for a pull request", Out: Reviewers{}})
	a.Post(at, post, s.apiAsk, &web.Doc{ID: "pulls/request-reviewers", Summary: "Request reviewers for a pull request", In: ReviewersInput{}, Out: PullRequest{}, Status: http.StatusCreated})
	a.Delete(at, post, s.apiUnask, &web.Doc{ID: "pulls/remove-requested-reviewers", Summary: "Remove requested reviewers from a pull request", In: ReviewersInput{}, Out: PullRequest{}})
}

func (s *Service) apiReviewers(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	pull, err := s.Find(c.Context(), place(c), n)
	if err != nil {
		return err
	}
	w, err := s.show(c, pull)
	if err != nil {
		return err
	}
	p := w.pull(pull)
	return c.JSON(http.StatusOK, Reviewers{Users: p.Reviewers, Teams: p.Teams})
}

func (s *Service) apiAsk(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in ReviewersInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	pull, err := s.Ask(c.Context(), place(c), n, in)
	if err != nil {
		return resource(err)
	}
	return s.apiAsked(c, http.StatusCreated, pull)
}

func (s *Service) apiUnask(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in ReviewersInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	pull, err := s.Unask(c.Context(), place(c), n, in)
	if err != nil {
		return resource(err)
	}
	return s.apiAsked(c, http.StatusOK, pull)
}

func (s *Service) apiAsked(c *web.Ctx, status int, pull *model.Pull) error {
	w, err := s.show(c, pull)
	if err != nil {
		return err
	}
	return c.JSON(status, w.pull(pull))
}

// loadTeams reads the teams that are asked.
func (w *show) loadTeams(list []*model.Pull) error {
	var ids []int64
	for _, p := range list {
		ids = append(ids, p.TeamIDs...)
	}
	var err error
	w.teams, err = accountdb.TeamsByIDs(w.c.Context(), w.s.DB.Directory(), ids)
	return err
}

// team writes a team as GitHub's short object.
func (w *show) team(t *model.Team) Team {
	url := w.c.URL(web.APIPrefix + "/orgs/" + t.Org.Name + "/teams/" + t.Slug)
	privacy := "closed"
	if t.Secret {
		privacy = "secret"
	}
	return Team{ID: t.ID, NodeID: api.NodeID("Team", t.ID), URL: url, HTMLURL: w.c.URL("/orgs/" + t.Org.Name + "/teams/" + t.Slug),
		Name: t.Name, Slug: t.Slug, Description: some(t.Description), Privacy: privacy, Notification: "notifications_enabled", Permission: "pull",
		MembersURL: url + "/members{/member}", ReposURL: url + "/repos"}
}
