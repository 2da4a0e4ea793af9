package pulls

import (
	"slices"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/reviewdb"
	"github.com/gitfor/gitfor/views/pullview"
	"github.com/gitfor/gitfor/views/threadview"
)

// reviewerFact is the block of the sidebar about who reviews.
func (s *Service) reviewerFact(c *web.Ctx, v *pageView) (threadview.Fact, error) {
	pull, repo := v.pull, s.DB.Repo(c.Repo.ID)
	p := pullview.ReviewersProps{Base: here(c, pull.Number), CanAsk: s.MayAsk(place(c), pull)}
	if !v.reviewsRead {
		var err error
		if v.reviews, err = reviewdb.List(c.Context(), repo, pull.Number, 0); err != nil {
			return threadview.Fact{}, err
		}
	}
	list := v.reviews
	teams, err := accountdb.TeamsByIDs(c.Context(), s.DB.Directory(), pull.TeamIDs)
	if err != nil {
		return threadview.Fact{}, err
	}
	latest := map[int64]*model.Review{}
	var order, missing []int64
	for _, r := range list {
		if r.AuthorID == pull.Issue.AuthorID {
			continue
		}
		if latest[r.AuthorID] == nil {
			order = append(order, r.AuthorID)
		}
		if old := latest[r.AuthorID]; old == nil || r.State != model.ReviewCommented || old.State == model.ReviewCommented {
			latest[r.AuthorID] = r
		}
	}
	for _, id := range append(slices.Clone(pull.ReviewerIDs), order...) {
		if v.v.People.Get(id) == nil {
			missing = append(missing, id)
		}
	}
	people := map[int64]*model.Account{}
	if len(missing) > 0 {
		if people, err = accountdb.ByIDs(c.Context(), s.DB.Directory(), missing...); err != nil {
			return threadview.Fact{}, err
		}
	}
	face := func(id int64) *model.Account {
		if a := v.v.People.Get(id); a != nil {
			return a
		}
		return people[id]
	}
	for _, id := range pull.ReviewerIDs {
		p.List = append(p.List, pullview.Reviewer{Face: face(id), State: waiting(), Asked: true})
	}
	for _, id := range pull.TeamIDs {
		if t := teams[id]; t != nil {
			p.List = append(p.List, pullview.Reviewer{Team: t.Org.Name + "/" + t.Slug, State: waiting(), Asked: true})
		}
	}
	for _, id := range order {
		if !slices.Contains(pull.ReviewerIDs, id) {
			p.List = append(p.List, pullview.Reviewer{Face: face(id), State: reviewState(latest[id].State), Stale: latest[id].SHA != pull.HeadSHA})
		}
	}
	return threadview.Fact{Title: "Reviewers", Body: pullview.Reviewers(p)}, nil
}

// reviewersPost asks for reviews, or takes that back.
func (s *Service) reviewersPost(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in struct {
		Reviewers []string `form:"reviewers"`
		Remove    string   `form:"remove"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if in.Remove != "" {
		_, err = s.Unask(c.Context(), place(c), n, ReviewersInput{People: []string{in.Remove}})
	} else {
		_, err = s.Ask(c.Context(), place(c), n, ReviewersInput{People: in.Reviewers})
	}
	return s.done(c, n, err, "")
}
