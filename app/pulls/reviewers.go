package pulls

import (
	"context"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/reviewdb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// TeamsOf are those of the teams asked for a review that an account is in.
func (s *Service) TeamsOf(ctx context.Context, pull *model.Pull, account int64) ([]int64, error) {
	if len(pull.TeamIDs) == 0 {
		return nil, nil
	}
	return accountdb.TeamsWith(ctx, s.DB.Directory(), pull.TeamIDs, account)
}

// maxReviewers is how many people and teams can be asked at once.
const maxReviewers = 100

// ReviewersInput names who is asked for a review, or no longer is. Teams are
// org/team, or the team's short name in the repository's own organisation.
type ReviewersInput struct {
	People []string `json:"reviewers"`
	Teams  []string `json:"team_reviewers"`
}

// asked are the people and teams that an input means.
type asked struct {
	people []int64
	teams  []*model.Team
}

// MayAsk says whether the viewer may ask others for reviews: the pull
// request's author, and people who triage.
func (s *Service) MayAsk(p Place, pull *model.Pull) bool {
	return p.MayTriage() || p.Viewer.SignedIn() && !p.Repo.Archived() && p.Viewer.ID() == pull.Issue.AuthorID
}

// Ask asks people and teams for a review; those who reviewed before are asked
// anew.
func (s *Service) Ask(ctx context.Context, p Place, number int64, in ReviewersInput) (*model.Pull, error) {
	pull, err := s.Find(ctx, p, number)
	if err != nil {
		return nil, err
	}
	if !s.MayAsk(p, pull) {
		return nil, denied("The author and people with the triage role or more may ask for reviews.")
	}
	a, err := s.meant(ctx, p, in)
	if err != nil {
		return nil, err
	}
	if slices.Contains(a.people, pull.Issue.AuthorID) {
		return nil, fault.Field("reviewers", "Review cannot be requested from pull request author.")
	}
	if err := s.mayLook(ctx, p, a); err != nil {
		return nil, err
	}
	err = s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) (err error) {
		if pull, err = find(ctx, tx.Repo, p, number); err != nil {
			return err
		}
		return s.askTx(ctx, tx, p, pull, a)
	})
	return pull, err
}

// meant finds the accounts and teams.
func (s *Service) meant(ctx context.Context, p Place, in ReviewersInput) (asked, error) {
	var a asked
	var names, teams []string
	for _, n := range in.People {
		n = strings.TrimPrefix(strings.TrimSpace(n), "@")
		switch {
		case n == "":
		case strings.Contains(n, "/"):
			teams = append(teams, n)
		default:
			names = append(names, n)
		}
	}
	for _, n := range in.Teams {
		if n = strings.TrimPrefix(strings.TrimSpace(n), "@"); n == "" {
			continue
		}
		if !strings.Contains(n, "/") {
			n = p.Repo.Owner.Name + "/" + n
		}
		teams = append(teams, n)
	}
	if len(names)+len(teams) > maxReviewers {
		return a, fault.Field("reviewers", "At most 100 can be asked at once.")
	}
	people, err := accountdb.ByNames(ctx, s.DB.Directory(), names)
	if err != nil {
		return a, err
	}
	for _, n := range names {
		who := people[model.Key(n)]
		if who == nil {
			return a, fault.Field("reviewers", "There is nobody named "+n+".")
		}
		a.people = append(a.people, who.ID)
	}
	found, err := accountdb.TeamsByNames(ctx, s.DB.Directory(), teams)
	if err != nil {
		return a, err
	}
	for _, n := range teams {
		t := found[model.Key(n)]
		if t == nil || t.OrgID != p.Repo.OwnerID {
			return a, fault.Field("team_reviewers", "There is no team "+n+" in "+p.Repo.Owner.Name+".")
		}
		a.teams = append(a.teams, t)
	}
	return a, nil
}

// mayLook says who of those that are asked may not read the repository.
func (s *Service) mayLook(ctx context.Context, p Place, a asked) error {
	if !p.Repo.IsPrivate() {
		return nil
	}
	for _, id := range a.people {
		readable, err := repodb.ReadableIDs(ctx, s.DB.Directory(), []int64{p.Repo.ID}, id)
		if err != nil {
			return err
		}
		if !readable[p.Repo.ID] {
			return fault.Field("reviewers", "Reviews may only be requested from people who can read the repository.")
		}
	}
	return nil
}

// askTx writes down who is asked, each with a line and an event.
func (s *Service) askTx(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull, a asked) error {
	changed := false
	tell := func(item *model.TimelineItem, person, team int64) error {
		changed = true
		item.Number, item.Kind, item.AuthorID = pull.Number, model.ItemReviewRequested, p.Viewer.ID()
		if err := threaddb.Append(ctx, tx, item); err != nil {
			return err
		}
		e := EventOf(pull, "review_requested")
		e.ReviewerID, e.ReviewTeamID = person, team
		return emit(ctx, tx, p, e)
	}
	for _, id := range a.people {
		if slices.Contains(pull.ReviewerIDs, id) || len(pull.ReviewerIDs) >= maxReviewers {
			continue
		}
		pull.ReviewerIDs = append(pull.ReviewerIDs, id)
		if err := tell(&model.TimelineItem{Data: model.TimelineData{Assignee: id}}, id, 0); err != nil {
			return err
		}
	}
	for _, t := range a.teams {
		if slices.Contains(pull.TeamIDs, t.ID) || len(pull.TeamIDs) >= maxReviewers {
			continue
		}
		pull.TeamIDs = append(pull.TeamIDs, t.ID)
		if err := tell(&model.TimelineItem{Data: model.TimelineData{From: t.Org.Name + "/" + t.Slug}}, 0, t.ID); err != nil {
			return err
		}
	}
	if !changed {
		return nil
	}
	if err := pulldb.Update(ctx, tx, pull, "reviewer_ids", "team_ids"); err != nil {
		return err
	}
	return threaddb.Update(ctx, tx, pull.Issue)
}

// Unask takes people and teams off those who are asked for a review.
func (s *Service) Unask(ctx context.Context, p Place, number int64, in ReviewersInput) (*model.Pull, error) {
	a, err := s.meant(ctx, p, in)
	if err != nil {
		return nil, err
	}
	var pull *model.Pull
	err = s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) (err error) {
		if pull, err = find(ctx, tx.Repo, p, number); err != nil {
			return err
		}
		if !s.MayAsk(p, pull) && !(len(a.teams) == 0 && slices.Equal(a.people, []int64{p.Viewer.ID()})) {
			return denied("The author and people with the triage role or more may do this.")
		}
		return s.unaskTx(ctx, tx, p, pull, a)
	})
	return pull, err
}

func (s *Service) unaskTx(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull, a asked) error {
	changed := false
	tell := func(item *model.TimelineItem, person, team int64) error {
		changed = true
		item.Number, item.Kind, item.AuthorID = pull.Number, model.ItemReviewUnasked, p.Viewer.ID()
		if err := threaddb.Append(ctx, tx, item); err != nil {
			return err
		}
		e := EventOf(pull, "review_request_removed")
		e.ReviewerID, e.ReviewTeamID = person, team
		return emit(ctx, tx, p, e)
	}
	for _, id := range a.people {
		if at := slices.Index(pull.ReviewerIDs, id); at >= 0 {
			pull.ReviewerIDs = slices.Delete(pull.ReviewerIDs, at, at+1)
			if err := tell(&model.TimelineItem{Data: model.TimelineData{Assignee: id}}, id, 0); err != nil {
				return err
			}
		}
	}
	for _, t := range a.teams {
		if at := slices.Index(pull.TeamIDs, t.ID); at >= 0 {
			pull.TeamIDs = slices.Delete(pull.TeamIDs, at, at+1)
			if err := tell(&model.TimelineItem{Data: model.TimelineData{From: t.Org.Name + "/" + t.Slug}}, 0, t.ID); err != nil {
				return err
			}
		}
	}
	if !changed {
		return nil
	}
	if err := pulldb.Update(ctx, tx, pull, "reviewer_ids", "team_ids"); err != nil {
		return err
	}
	return threaddb.Update(ctx, tx, pull.Issue)
}

// askOwners asks those whom the base's CODEOWNERS names for the changed
// files, unless they were asked or have reviewed already. Drafts ask nobody.
func (s *Service) askOwners(ctx context.Context, p Place, g *git.Repository, pull *model.Pull) error {
	if pull.Issue.Draft || !pull.Issue.Open() {
		return nil
	}
	owned, err := s.owned(ctx, g, pull)
	if err != nil || len(owned) == 0 {
		return err
	}
	var in []string
	for _, o := range owned {
		for _, n := range o.Names {
			if strings.HasPrefix(n, "@") && !slices.Contains(in, n) {
				in = append(in, n)
			}
		}
	}
	if len(in) > maxReviewers {
		in = in[:maxReviewers]
	}
	a, err := s.known(ctx, p, in)
	if err != nil || len(a.people)+len(a.teams) == 0 {
		return err
	}
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		now, err := pulldb.Find(ctx, tx.Repo, pull.Number)
		if err != nil || !now.Issue.Open() {
			return err
		}
		list, err := reviewdb.List(ctx, tx.Repo, pull.Number, 0)
		if err != nil {
			return err
		}
		mine := asked{teams: a.teams}
		for _, id := range a.people {
			done := slices.ContainsFunc(list, func(r *model.Review) bool { return r.AuthorID == id })
			if id != now.Issue.AuthorID && !done {
				mine.people = append(mine.people, id)
			}
		}
		if err := s.askTx(ctx, tx, p, now, mine); err != nil {
			return err
		}
		pull.ReviewerIDs, pull.TeamIDs = now.ReviewerIDs, now.TeamIDs
		return nil
	})
}

// known is meant without the names that stand for nobody who may look.
func (s *Service) known(ctx context.Context, p Place, names []string) (asked, error) {
	var a asked
	for _, n := range names {
		one, err := s.meant(ctx, p, ReviewersInput{People: []string{n}})
		if err == nil {
			err = s.mayLook(ctx, p, one)
		}
		if fault.Is(err, fault.Invalid) {
			continue
		}
		if err != nil {
			return a, err
		}
		a.people, a.teams = append(a.people, one.people...), append(a.teams, one.teams...)
	}
	return a, nil
}
