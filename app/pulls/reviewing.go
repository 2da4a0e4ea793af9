package pulls

import (
	"context"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Reviewing is what reviews, which build on pull requests, do when those
// change.
type Reviewing interface {
	// Round is told of a new round.
	Round(ctx context.Context, p Place, g *git.Repository, pull *model.Pull) error
}

// FindIn is Find within a transaction on the repository's state.
func (s *Service) FindIn(ctx context.Context, repo db.Repo, p Place, number int64) (*model.Pull, error) {
	return find(ctx, repo, p, number)
}

// Base is what a round of a pull request is compared with: its merge base, or
// nothing where there is none. Rounds count from 1 on.
func Base(g *git.Repository, pull *model.Pull, round int) git.OID {
	if round < 1 || round >= pull.Round() {
		return diffBase(g, pull)
	}
	if base := pull.Rounds[round-1].Base; base != "" {
		return git.OID(base)
	}
	return g.EmptyTree()
}
