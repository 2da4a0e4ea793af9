package codes

import (
	"context"
	"sort"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/model"
)

// Contributor is somebody who wrote commits: an account, or the name and
// address in the commits where no account has that address.
type Contributor struct {
	git.Contributor

	Account *model.Account
}

// maxContributors is how many people are told apart; those with the fewest
// commits are left out beyond it.
const maxContributors = 1000

// contributors are the authors of the commits that p reaches, merges left
// out, those with the most commits first. It costs one query.
func (s *Service) contributors(ctx context.Context, p *place) ([]Contributor, error) {
	list, err := p.git.Contributors(ctx, p.rev.Commit)
	if err != nil {
		return nil, err
	}
	list = list[:min(len(list), maxContributors)]
	addresses := make([]string, len(list))
	for i, one := range list {
		addresses[i] = git.DecodeText(one.Email)
	}
	accounts, err := s.accounts(ctx, addresses)
	if err != nil {
		return nil, err
	}
	at := map[int64]int{}
	out := make([]Contributor, 0, len(list))
	for i, one := range list {
		who := accounts[model.Key(addresses[i])]
		if who != nil {
			if j, ok := at[who.ID]; ok {
				out[j].Commits += one.Commits
				continue
			}
			at[who.ID] = len(out)
		}
		out = append(out, Contributor{one, who})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Commits > out[j].Commits })
	return out, nil
}
