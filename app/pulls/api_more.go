package pulls

import (
	"errors"
	"net/http"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
)

// apiMoreRoutes mounts what GitHub has in its GraphQL API only, in the same
// manner.
func (s *Service) apiMoreRoutes(a *web.Router, at string, post web.Access) {
	a.Put(at+"/auto-merge", post, s.apiAuto, &web.Doc{ID: "pulls/enable-auto-merge", Summary: "Merge a pull request once nothing is missing", In: mergeBody{}, Out: FullPullRequest{}})
	a.Delete(at+"/auto-merge", post, s.apiAutoCancel, &web.Doc{ID: "pulls/disable-auto-merge", Summary: "No longer merge a pull request by itself", Out: FullPullRequest{}})
	a.Post(at+"/revert", post, s.apiRevert, &web.Doc{ID: "pulls/revert", Summary: "Propose to take a merged pull request back", Out: FullPullRequest{}, Status: http.StatusCreated})
	a.Post(at+"/cherry-pick", post, s.apiPick, &web.Doc{ID: "pulls/cherry-pick", Summary: "Propose a merged pull request for another branch", In: pickBody{}, Out: FullPullRequest{}, Status: http.StatusCreated})
}

func (s *Service) apiAuto(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var b mergeBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	in := MergeInput{Method: b.MergeMethod, SHA: b.SHA, Title: b.CommitTitle}
	if b.CommitMessage != nil {
		in.Message = *b.CommitMessage
	}
	pull, err := s.AutoMerge(c.Context(), place(c), n, in)
	return s.apiDone(c, http.StatusOK, pull, err)
}

func (s *Service) apiAutoCancel(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	if err := s.CancelAutoMerge(c.Context(), place(c), n); err != nil {
		return resource(err)
	}
	pull, err := s.Find(c.Context(), place(c), n)
	return s.apiDone(c, http.StatusOK, pull, err)
}

func (s *Service) apiRevert(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	pull, err := s.Revert(c.Context(), place(c), n)
	return s.apiDone(c, http.StatusCreated, pull, err)
}

type pickBody struct {
	Base string `json:"base"`
}

func (s *Service) apiPick(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var b pickBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	pull, err := s.CherryPick(c.Context(), place(c), n, b.Base)
	return s.apiDone(c, http.StatusCreated, pull, err)
}

func (s *Service) apiDone(c *web.Ctx, status int, pull *model.Pull, err error) error {
	var no *NotMergeable
	if errors.As(err, &no) {
		return notAllowed(c, no.Reason)
	}
	if err != nil {
		return resource(err)
	}
	return s.answer(c, status, pull)
}
