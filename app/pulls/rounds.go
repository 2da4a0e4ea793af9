package pulls

import (
	"context"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/model"
)

// between is the tree that round to is compared with to see what its author
// changed since round from: round from as it would be upon the base of round
// to. So what a rebase brought from the base is left out. Where the old round
// does not go onto the new base without conflicts, it is the old round as it
// was.
func (s *Service) between(ctx context.Context, g *git.Repository, pull *model.Pull, from, to int) (git.OID, error) {
	old, now := pull.Rounds[from-1], pull.Rounds[to-1]
	head := git.OID(old.Head)
	if old.Base == now.Base || old.Base == "" || now.Base == "" {
		return head, nil
	}
	moved, err := g.MergeTree(ctx, git.OID(now.Base), head, git.MergeOptions{Base: git.OID(old.Base)})
	if err != nil {
		return "", err
	}
	if !moved.Clean() {
		return head, nil
	}
	return moved.Tree, nil
}
