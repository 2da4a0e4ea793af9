package pulls

import (
	"context"
	"slices"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
)

// Fresh brings what is known about merging up to date where the base moved
// since. Pushes to a base touch none of its pull requests: who looks at one
// does.
func (s *Service) Fresh(ctx context.Context, p Place, g *git.Repository, pull *model.Pull) error {
	if !pull.Issue.Open() || pull.Merged() {
		return nil
	}
	base, err := s.baseTip(ctx, g, pull)
	if err != nil || base == git.OID(pull.BaseSHA) && pull.Mergeable != "" && pull.Mergeable != model.MergeGone {
		return err
	}
	if base == "" {
		pull.Mergeable, pull.Conflicts = model.MergeGone, nil
		return nil
	}
	f, err := survey(ctx, g, base, git.OID(pull.HeadSHA), git.OID(pull.MergeBase), git.OID(pull.HeadSHA))
	if err != nil {
		return err
	}
	known := pull.BaseSHA
	columns := f.into(pull)
	if f.mergeBase == f.head && known != "" {
		// The push is about to be recognised as a merge, by what the base
		// was before it.
		return nil
	}
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		now, err := pulldb.Find(ctx, tx.Repo, pull.Number)
		if err != nil || now.HeadSHA != pull.HeadSHA || now.BaseSHA != known || now.Merged() {
			return err
		}
		return pulldb.Update(ctx, tx, pull, slices.DeleteFunc(columns, func(c string) bool { return c == "head_sha" })...)
	})
}
