package pulls

import (
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/pulldb"
)

// Tell is the pull request of this number in c.Repo as webhooks tell of it: as
// the API shows it to nobody in particular. ErrNotFound when it is gone.
func (s *Service) Tell(c *web.Ctx, number int64) (FullPullRequest, error) {
	pull, err := pulldb.Find(c.Context(), s.DB.Repo(c.Repo.ID), number)
	if err != nil {
		return FullPullRequest{}, err
	}
	if pull.Issue == nil {
		return FullPullRequest{}, db.ErrNotFound
	}
	w, err := s.show(c, pull)
	if err != nil {
		return FullPullRequest{}, err
	}
	return w.full(pull, nil, 0), nil
}
