package lfs

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db/lfsdb"
	"github.com/gitfor/gitfor/db/model"
)

// Refuse returns for each of the moves why a lock forbids it to the account, ""
// where none does. g holds the objects that the moves bring.
//
// A branch is refused when its tip would have another content of a locked path
// than before, and the change is the branch's own: what came from the default
// branch by a merge was allowed there.
func (s *Service) Refuse(ctx context.Context, g *git.Repository, repo *model.Repo, account int64, moves []git.RefUpdate) ([]string, error) {
	out := make([]string, len(moves))
	rows, err := lfsdb.Locks(ctx, s.DB.Repo(repo.ID), lfsdb.LockFilter{})
	if err != nil {
		return nil, err
	}
	var others []*model.LFSLock
	for _, l := range rows {
		if l.AccountID != account {
			others = append(others, l)
		}
	}
	if len(others) == 0 {
		return out, nil
	}
	for i, m := range moves {
		branch, ok := strings.CutPrefix(m.Name, git.BranchPrefix)
		if !ok || m.New.IsZero() {
			continue
		}
		lock, err := firstChanged(ctx, g, repo, branch, m, others)
		if err != nil {
			return nil, err
		}
		if lock == nil {
			continue
		}
		named, err := s.named(ctx, lock)
		if err != nil {
			return nil, err
		}
		out[i] = why(named[0])
	}
	return out, nil
}

func why(l Lock) string {
	return l.Path + " is locked by " + l.Owner + " since " + l.CreatedAt.UTC().Format(time.DateOnly) +
		": ask " + l.Owner + " to unlock it, or a maintainer to end the lock"
}

// firstChanged is the first of the locks whose path the move changes.
func firstChanged(ctx context.Context, g *git.Repository, repo *model.Repo, branch string, m git.RefUpdate, locks []*model.LFSLock) (*model.LFSLock, error) {
	// What the tip is compared with; "" is nothing at all.
	bases := []git.OID{""}
	switch {
	case m.Old == "":
		if ref, err := g.Ref(ctx, m.Name); err == nil {
			bases[0] = ref.OID
		} else if !errors.Is(err, git.ErrNotFound) {
			return nil, err
		}
	case !m.Old.IsZero():
		bases[0] = m.Old
	}
	if branch != repo.DefaultBranch {
		base, err := forkPoint(ctx, g, repo, m.New)
		if err != nil {
			return nil, err
		}
		if bases[0] == "" {
			bases[0] = base
		} else {
			bases = append(bases, base)
		}
	}
	for _, l := range locks {
		now, err := entry(ctx, g, m.New, l.Path)
		if err != nil {
			return nil, err
		}
		changed := true
		for _, base := range bases {
			before, err := entry(ctx, g, base, l.Path)
			if err != nil {
				return nil, err
			}
			changed = changed && before != now
		}
		if changed {
			return l, nil
		}
	}
	return nil, nil //nolint:nilnil // none
}

// forkPoint is where a commit's history leaves the default branch, "" when it
// has nothing of it.
func forkPoint(ctx context.Context, g *git.Repository, repo *model.Repo, tip git.OID) (git.OID, error) {
	main, err := g.Ref(ctx, git.BranchPrefix+repo.DefaultBranch)
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	base, err := g.MergeBase(ctx, main.OID, tip)
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	return base, err
}

// entry is the content and mode of a path in a commit; zero when it has none.
func entry(ctx context.Context, g *git.Repository, commit git.OID, path string) (git.TreeEntry, error) {
	if commit == "" {
		return git.TreeEntry{}, nil
	}
	e, err := g.EntryAt(ctx, commit, path)
	if errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrWrongType) {
		return git.TreeEntry{}, nil
	}
	return e, err
}

// CheckMove is asked by writers of refs in this process, such as the editor,
// the API and merges. What a mirror brings was decided elsewhere.
func (s *Service) CheckMove(ctx context.Context, g *git.Repository, p *repos.Push) error {
	if p.Actor == nil || p.Via == "mirror" {
		return nil
	}
	reasons, err := s.Refuse(ctx, g, p.Repo, p.Actor.ID(), p.Updates)
	if err != nil {
		return err
	}
	for _, r := range reasons {
		if r != "" {
			return &fault.Fault{Kind: fault.Invalid, Message: r + ".", Fields: fault.Fields{"lock": r + "."}}
		}
	}
	return nil
}
