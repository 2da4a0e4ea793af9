package pulls

import (
	"context"
	"errors"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/model"
)

// facts are what git knows of a proposal.
type facts struct {
	base, head, mergeBase git.OID
	mergeable             string
	conflicts             []string
	commits               int
	additions, deletions  int
	files                 int
	// counted says that commits to files were counted.
	counted bool
}

// maxConflicts is how many paths in conflict are kept.
const maxConflicts = 100

// survey looks at the proposal to merge head into base, both of which are in
// g. Counting may be left out when the merge base and head are the ones that
// were counted before.
func survey(ctx context.Context, g *git.Repository, base, head, countedBase, countedHead git.OID) (*facts, error) {
	f := &facts{base: base, head: head}
	var err error
	if f.mergeBase, err = g.MergeBase(ctx, base, head); err != nil {
		return nil, err
	}
	if f.mergeBase == head {
		// All of it is in the base already.
		f.mergeable = model.MergeClean
	} else if err := f.try(ctx, g); err != nil {
		return nil, err
	}
	if countedHead == head && countedBase == f.mergeBase {
		return f, nil
	}
	return f, f.count(ctx, g)
}

func (f *facts) try(ctx context.Context, g *git.Repository) error {
	if f.mergeBase == "" {
		f.mergeable = model.MergeUnrelated
		return nil
	}
	f.mergeable = model.MergeClean
	if f.mergeBase == f.base {
		return nil // a fast-forward
	}
	merged, err := g.MergeTree(ctx, f.base, f.head, git.MergeOptions{})
	if err != nil {
		return err
	}
	if merged.Clean() {
		return nil
	}
	f.mergeable = model.MergeConflict
	seen := map[string]bool{}
	for _, c := range merged.Conflicts {
		path := git.Display(c.Path)
		if !seen[path] && len(f.conflicts) < maxConflicts {
			f.conflicts = append(f.conflicts, path)
		}
		seen[path] = true
	}
	return nil
}

func (f *facts) count(ctx context.Context, g *git.Repository) error {
	f.counted = true
	ahead, err := g.AheadBehind(ctx, f.base, f.head)
	if err != nil {
		return err
	}
	f.commits = ahead[f.head].Ahead
	files, err := g.DiffFiles(ctx, git.DiffOptions{Base: f.mergeBase, Head: f.head})
	if err != nil {
		return err
	}
	f.files = len(files)
	for i := range files {
		f.additions += files[i].Additions
		f.deletions += files[i].Deletions
	}
	return nil
}

// into writes the facts into the record and names the columns that they are
// in.
func (f *facts) into(p *model.Pull) []string {
	p.BaseSHA, p.HeadSHA, p.MergeBase = f.base.String(), f.head.String(), f.mergeBase.String()
	p.Mergeable, p.Conflicts = f.mergeable, f.conflicts
	columns := []string{"base_sha", "head_sha", "merge_base", "mergeable", "conflicts"}
	if f.counted {
		p.Commits, p.Additions, p.Deletions, p.ChangedFiles = f.commits, f.additions, f.deletions, f.files
		columns = append(columns, "commits", "additions", "deletions", "changed_files")
	}
	return columns
}

// branches are where a pull request's branches are now; empty where one does
// not exist.
func (s *Service) baseTip(ctx context.Context, g *git.Repository, pull *model.Pull) (git.OID, error) {
	oid, err := tip(ctx, g, pull.BaseRef)
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	return oid, err
}
