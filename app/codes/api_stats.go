package codes

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
)

const (
	maxStatsPeople = 100 // as at GitHub, those with the most commits
	secondsOfWeek  = 7 * 24 * 60 * 60
)

// contributorStats is GitHub's contributor activity. Weeks are those between
// the first commit of the repository and the last.
type contributorStats struct {
	Author *api.User   `json:"author"`
	Total  int         `json:"total"`
	Weeks  []weekStats `json:"weeks"`
}

type weekStats struct {
	Week      int64 `json:"w"`
	Additions int   `json:"a"`
	Deletions int   `json:"d"`
	Commits   int   `json:"c"`
}

// apiContributorStats tells what the people with the most commits did in each
// week, those with the fewest first.
func (s *Service) apiContributorStats(c *web.Ctx) error {
	p, err := s.apiRev(c, "")
	if fault.Is(err, fault.Conflict) {
		return c.NoContent()
	}
	if err != nil {
		return err
	}
	leave, err := s.costly.enter(c)
	if err != nil {
		return err
	}
	stop := c.Time("git")
	by, err := p.git.ContributorWeeks(c.Context(), p.rev.Commit)
	stop()
	leave()
	if err != nil {
		return err
	}
	people, weeks, err := s.weeksOfPeople(c.Context(), by)
	if err != nil {
		return err
	}
	slices.SortStableFunc(people, func(a, b *personWeeks) int { return a.total() - b.total() })
	out := []contributorStats{}
	for _, who := range people[max(0, len(people)-maxStatsPeople):] {
		out = append(out, statsOf(c, who, weeks))
	}
	return c.JSON(http.StatusOK, out)
}

// personWeeks is what one person did, under all addresses.
type personWeeks struct {
	account *model.Account
	weeks   []git.Week
}

func (p *personWeeks) total() (n int) {
	for _, w := range p.weeks {
		n += w.Commits
	}
	return n
}

// weeksOfPeople joins the addresses of each account, and says from when to
// when there are commits.
func (s *Service) weeksOfPeople(ctx context.Context, by map[string][]git.Week) (people []*personWeeks, span [2]int64, err error) {
	addresses := make([]string, 0, len(by))
	for address, weeks := range by {
		addresses = append(addresses, address)
		for _, w := range weeks {
			at := w.Start.Unix()
			if span[0] == 0 || at < span[0] {
				span[0] = at
			}
			span[1] = max(span[1], at)
		}
	}
	slices.SortFunc(addresses, func(a, b string) int {
		if d := len(by[b]) - len(by[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	accounts, err := s.accounts(ctx, addresses[:min(len(addresses), maxContributors)])
	if err != nil {
		return nil, span, err
	}
	at := map[int64]*personWeeks{}
	for _, address := range addresses {
		account := accounts[model.Key(address)]
		if account != nil && at[account.ID] != nil {
			at[account.ID].weeks = append(at[account.ID].weeks, by[address]...)
			continue
		}
		one := &personWeeks{account, slices.Clone(by[address])}
		if account != nil {
			at[account.ID] = one
		}
		people = append(people, one)
	}
	return people, span, nil
}

func statsOf(c *web.Ctx, who *personWeeks, span [2]int64) contributorStats {
	out := contributorStats{Author: api.UserRef(c, who.account), Total: who.total(), Weeks: make([]weekStats, (span[1]-span[0])/secondsOfWeek+1)}
	for i := range out.Weeks {
		out.Weeks[i].Week = span[0] + int64(i)*secondsOfWeek
	}
	for _, w := range who.weeks {
		at := &out.Weeks[(w.Start.Unix()-span[0])/secondsOfWeek]
		at.Additions += w.Added
		at.Deletions += w.Deleted
		at.Commits += w.Commits
	}
	return out
}
