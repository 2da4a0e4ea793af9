package codes

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// comparison is two commits and what they have in common.
type comparison struct {
	// git knows the objects of both sides.
	git                *git.Repository
	baseName, headName string
	dots               string
	base, head         *git.Commit
	// baseRepo and headRepo are where the sides lie; a fork's side is named
	// owner:branch.
	baseRepo, headRepo *model.Repo
	// common is the best common ancestor, nil when there is none.
	common *git.Commit
}

// side is one end of a comparison.
type side struct {
	name   string
	repo   *model.Repo
	git    *git.Repository
	commit *git.Commit
}

// compared resolves "base...head" in c's repository and its network.
func (s *Service) compared(c *web.Ctx, spec string) (*comparison, error) {
	defer c.Time("git")()
	base, head, dots, err := s.ends(c, spec)
	if err != nil {
		return nil, err
	}
	m := &comparison{git: base.git, baseName: base.name, headName: head.name, dots: dots, base: base.commit, head: head.commit,
		baseRepo: base.repo, headRepo: head.repo}
	if head.repo.ID != base.repo.ID {
		if m.git, err = base.git.Borrowing(head.git); err != nil {
			return nil, fault.Wrap(fault.Conflict, "These repositories cannot be compared.", err)
		}
	}
	common, err := m.git.MergeBase(c.Context(), m.base.OID, m.head.OID)
	if err != nil || common == "" {
		return m, err
	}
	m.common, err = m.git.Commit(c.Context(), common)
	return m, err
}

// ends finds both ends. A name may hold dots itself, so every place where the
// range could be cut is tried.
func (s *Service) ends(c *web.Ctx, spec string) (base, head *side, dots string, err error) {
	for _, dots := range []string{"...", ".."} {
		for at := strings.Index(spec, dots); at >= 0; {
			base, err := s.side(c, spec[:at])
			if err == nil {
				head, err = s.side(c, spec[at+len(dots):])
			}
			if err == nil {
				return base, head, dots, nil
			}
			if !errors.Is(err, git.ErrNotFound) {
				return nil, nil, "", err
			}
			next := strings.Index(spec[at+1:], dots)
			if next < 0 {
				break
			}
			at += 1 + next
		}
		if strings.Contains(spec, dots) {
			return nil, nil, "", fault.New(fault.NotFound, "One of the two revisions does not exist.")
		}
	}
	if base, err = s.side(c, ""); err == nil {
		head, err = s.side(c, spec)
	}
	return base, head, "...", lost(err)
}

// side finds one end: a branch, tag or commit, of a fork as owner:branch or
// owner:repository:branch; "" is the default branch. git.ErrNotFound when
// there is none that the viewer may see.
func (s *Service) side(c *web.Ctx, name string) (*side, error) {
	out := &side{name: or(name, c.Repo.DefaultBranch), repo: c.Repo}
	branch := out.name
	if owner, rest, ok := strings.Cut(branch, ":"); ok {
		repo, err := s.inNetwork(c, owner, &rest)
		if errors.Is(err, db.ErrNotFound) {
			return nil, git.ErrNotFound
		}
		if err != nil {
			return nil, err
		}
		out.repo, branch = repo, or(rest, repo.DefaultBranch)
	}
	var err error
	if out.git, err = s.Repos.Open(c.Context(), out.repo); err != nil {
		return nil, err
	}
	out.commit, err = commitOf(c.Context(), out.git, branch)
	return out, err
}

// inNetwork finds the repository of owner that shares its origin with c's and
// that the viewer may read. It takes a repository's name from rest.
func (s *Service) inNetwork(c *web.Ctx, owner string, rest *string) (*model.Repo, error) {
	id := c.Repo.ID
	if name, branch, ok := strings.Cut(*rest, ":"); ok {
		repo, _, err := repodb.Find(c.Context(), s.DB.Directory(), owner, name, c.Viewer.ID())
		if err != nil || network(repo) != network(c.Repo) {
			return nil, db.ErrNotFound
		}
		id, *rest = repo.ID, branch
	} else if model.Key(owner) != c.Repo.Owner.NameKey {
		repo, err := repodb.InNetwork(c.Context(), s.DB.Directory(), c.Repo, owner)
		if err != nil {
			return nil, err
		}
		id = repo.ID
	}
	if id == c.Repo.ID {
		return c.Repo, nil
	}
	repo, _, err := repodb.FindID(c.Context(), s.DB.Directory(), id, c.Viewer.ID())
	if err == nil && !c.Viewer.Reaches(repo.ID, repo.IsPrivate(), false) {
		err = db.ErrNotFound
	}
	return repo, err
}

// network is the id of the repository that all forks of one come from.
func network(r *model.Repo) int64 {
	if r.RootID != 0 {
		return r.RootID
	}
	return r.ID
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// commitOf is the commit that a name leads to; git.ErrNotFound when none.
func commitOf(ctx context.Context, g *git.Repository, name string) (*git.Commit, error) {
	rev, err := g.ResolveRef(ctx, name)
	if err != nil {
		return nil, err
	}
	if rev.Commit == "" {
		return nil, git.ErrNotFound
	}
	return g.Commit(ctx, rev.Commit)
}

// diff says what the comparison compares: with three dots the head with the
// common ancestor, with two the head with the base.
func (m *comparison) diff() git.DiffOptions {
	o := git.DiffOptions{Base: m.base.OID, Head: m.head.OID}
	if m.dots == ".." {
		return o
	}
	if m.common == nil {
		o.Base = m.git.EmptyTree()
		return o
	}
	o.Base = m.common.OID
	return o
}

// mails says which commits a patch of the comparison holds.
func (m *comparison) mails() git.DiffOptions {
	return git.DiffOptions{Base: m.base.OID, Head: m.head.OID}
}

// ahead is how many commits the head has that the base lacks, and the reverse.
func (m *comparison) ahead(ctx context.Context) (git.Divergence, error) {
	counts, err := m.git.AheadBehind(ctx, m.base.OID, m.head.OID)
	return counts[m.head.OID], err
}

// commits are those that the head has and the base lacks, the oldest first as
// GitHub has them; ahead is how many there are.
func (m *comparison) commits(ctx context.Context, ahead, page, per int) ([]*git.Commit, error) {
	end := ahead - (page-1)*per
	if end <= 0 {
		return nil, nil
	}
	skip := max(end-per, 0)
	list, err := m.git.Log(ctx, m.head.OID, git.LogOptions{Exclude: []git.OID{m.base.OID}, Skip: skip, Limit: end - skip})
	slices.Reverse(list)
	return list, err
}
