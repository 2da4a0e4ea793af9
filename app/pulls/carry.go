package pulls

import (
	"context"
	"errors"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db/model"
)

// before is what the base was without a merged pull request's change.
func (s *Service) before(ctx context.Context, g *git.Repository, pull *model.Pull) (git.OID, error) {
	at := git.OID(pull.MergeSHA)
	commit, err := g.Commit(ctx, at)
	if err != nil {
		return "", err
	}
	switch pull.MergeMethod {
	case model.MethodMerge, model.MethodSquash:
		if len(commit.Parents) > 0 {
			return commit.Parents[0], nil
		}
		return g.EmptyTree(), nil
	case model.MethodRebase:
		log, err := g.Log(ctx, at, git.LogOptions{Limit: max(1, pull.Commits)})
		if err != nil {
			return "", err
		}
		if last := log[len(log)-1]; len(last.Parents) > 0 {
			return last.Parents[0], nil
		}
		return g.EmptyTree(), nil
	}
	// A fast-forward, or a push: what the branch was based on.
	return diffBase(g, pull), nil
}

// after is the state that holds a merged pull request's change: pushes may
// have brought more to the base at once.
func after(pull *model.Pull) git.OID {
	if pull.MergeMethod == model.MethodPushed || pull.MergeMethod == model.MethodFastForward {
		return git.OID(pull.HeadSHA)
	}
	return git.OID(pull.MergeSHA)
}

// Revert proposes to take a merged pull request's change back, on a branch of
// its own.
func (s *Service) Revert(ctx context.Context, p Place, number int64) (*model.Pull, error) {
	pull, g, err := s.carried(ctx, p, number)
	if err != nil {
		return nil, err
	}
	old, err := s.before(ctx, g, pull)
	if err != nil {
		return nil, err
	}
	title := `Revert "` + pull.Issue.Title + `"`
	return s.carry(ctx, p, g, carrying{base: after(pull), theirs: old, onto: pull.BaseRef, branch: "revert-" + num(number) + "-" + slug(pull.HeadRef),
		title: clipTitle(title), message: title + "\n\nThis reverts #" + num(number) + ", merged as " + pull.MergeSHA + ".\n",
		body: "Reverts #" + num(number) + ".", verb: "reverted"})
}

// CherryPick proposes a merged pull request's change for another branch too.
func (s *Service) CherryPick(ctx context.Context, p Place, number int64, onto string) (*model.Pull, error) {
	pull, g, err := s.carried(ctx, p, number)
	if err != nil {
		return nil, err
	}
	if onto == pull.BaseRef {
		return nil, conflict("The change is in " + git.Display(onto) + " already.")
	}
	old, err := s.before(ctx, g, pull)
	if err != nil {
		return nil, err
	}
	return s.carry(ctx, p, g, carrying{base: old, theirs: after(pull), onto: onto, branch: "pick-" + num(number) + "-onto-" + slug(onto),
		title: clipTitle(pull.Issue.Title + " (" + onto + ")"), body: "Picks #" + num(number) + " onto " + onto + ".",
		message: pull.Issue.Title + "\n\n(cherry picked from #" + num(number) + ", merged as " + pull.MergeSHA + ")\n", verb: "picked"})
}

func (s *Service) carried(ctx context.Context, p Place, number int64) (*model.Pull, *git.Repository, error) {
	pull, err := s.Find(ctx, p, number)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case !pull.Merged():
		return nil, nil, conflict("This pull request is not merged.")
	case !p.Role.AtLeast(model.RoleWrite) || p.Repo.Archived():
		return nil, nil, denied("Only people with write access to " + p.Repo.FullName() + " may do this.")
	}
	g, err := s.open(ctx, p.Repo)
	return pull, g, err
}

// carrying is a change from base to theirs that is made anew on a branch.
type carrying struct {
	base, theirs                             git.OID
	onto, branch, title, message, body, verb string
}

func (s *Service) carry(ctx context.Context, p Place, g *git.Repository, c carrying) (*model.Pull, error) {
	target, err := tip(ctx, g, c.onto)
	if errors.Is(err, git.ErrNotFound) {
		return nil, conflict("There is no branch “" + git.Display(c.onto) + "”.")
	}
	if err != nil {
		return nil, err
	}
	res, err := g.MergeTree(ctx, target, c.theirs, git.MergeOptions{Base: c.base})
	if err != nil {
		return nil, err
	}
	if !res.Clean() {
		return nil, conflict("The change cannot be " + c.verb + " without conflicts, in " + conflictNames(res) + ". Do it on your machine.")
	}
	tree, err := g.TreeOf(ctx, target)
	if err != nil {
		return nil, err
	}
	if tree == res.Tree {
		return nil, conflict("Nothing would change: " + git.Display(c.onto) + " is as it would be already.")
	}
	who := s.Repos.Person(p.Viewer)
	made, err := g.CommitTree(ctx, git.CommitSpec{Tree: res.Tree, Parents: []git.OID{target}, Author: who, Committer: who, Message: c.message, Sign: s.Repos.Sign})
	if err != nil {
		return nil, err
	}
	branch := c.branch
	for k := 2; ; k++ {
		err = s.Repos.MoveRefs(ctx, g, &repos.Push{Repo: p.Repo, Actor: p.Viewer, Via: "web",
			Updates: []git.RefUpdate{{Name: git.BranchPrefix + branch, Old: g.ZeroOID(), New: made}}})
		if k > 20 || !errors.Is(err, git.ErrRefChanged) && !errors.Is(err, git.ErrRefConflict) {
			break
		}
		branch = c.branch + "-" + num(int64(k))
	}
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, p, OpenInput{Title: c.title, Body: c.body, Head: branch, Base: c.onto})
}

// slug is a name as a part of a branch's name.
func slug(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, s)
	return strings.Trim(s[:min(len(s), 60)], "-")
}

// clipTitle keeps a title within what titles may be.
func clipTitle(s string) string {
	const most = 250
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
