package codes

import (
	"bytes"
	"context"
	"sort"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
)

// Contributor is somebody who wrote commits.
type Contributor struct {
	Account     *model.Account // nil where no account has the address
	Name, Email string
	Commits     int
}

// maxContributors is how many people are told apart; those with the fewest
// commits are left out beyond it.
const maxContributors = 1000

// contributors are the authors of the commits that p reaches, merges left
// out, those with the most commits first.
func (s *Service) contributors(c *web.Ctx, p *place) ([]Contributor, error) {
	stop := c.Time("git")
	counted, err := s.authors.get(p.repo.ID, p.rev.Commit, func() ([]Contributor, error) {
		leave, err := s.costly.enter(c)
		if err != nil {
			return nil, err
		}
		defer leave()
		return countAuthors(c.Context(), p.git, p.rev.Commit)
	})
	stop()
	if err != nil {
		return nil, err
	}
	addresses := make([]string, len(counted))
	for i, one := range counted {
		addresses[i] = one.Email
	}
	accounts, err := s.accounts(c.Context(), addresses)
	if err != nil {
		return nil, err
	}
	return joined(counted, accounts), nil
}

// joined adds up the addresses of one account.
func joined(counted []Contributor, accounts map[string]*model.Account) []Contributor {
	at := map[int64]int{}
	out := make([]Contributor, 0, len(counted))
	for _, one := range counted {
		one.Account = accounts[model.Key(one.Email)]
		if one.Account != nil {
			if i, ok := at[one.Account.ID]; ok {
				out[i].Commits += one.Commits
				continue
			}
			at[one.Account.ID] = len(out)
		}
		out = append(out, one)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Commits > out[j].Commits })
	return out
}

// countAuthors asks git, which knows .mailmap.
func countAuthors(ctx context.Context, g *git.Repository, commit git.OID) ([]Contributor, error) {
	out, err := g.Command(ctx, "shortlog", "--summary", "--numbered", "--email", "--no-merges").
		Config("mailmap.blob", commit.String()+":.mailmap").Revs(commit.String()).Output()
	if err != nil {
		return nil, err
	}
	var list []Contributor
	for line := range bytes.Lines(out) {
		count, who, ok := strings.Cut(strings.TrimSpace(git.DecodeText(string(line))), "\t")
		n, err := strconv.Atoi(count)
		at := strings.LastIndex(who, " <")
		if !ok || err != nil || at < 0 {
			continue
		}
		list = append(list, Contributor{Name: who[:at], Email: strings.TrimSuffix(who[at+2:], ">"), Commits: n})
		if len(list) == maxContributors {
			break
		}
	}
	return list, nil
}
