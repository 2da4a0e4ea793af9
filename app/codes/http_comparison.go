package codes

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
)

// comparison is two commits and what they have in common.
type comparison struct {
	git                *git.Repository
	baseName, headName string
	dots               string
	base, head         *git.Commit
	// common is the best common ancestor, nil when there is none.
	common *git.Commit
}

// compared resolves "base...head" in c's repository.
func (s *Service) compared(c *web.Ctx, spec string) (*comparison, error) {
	defer c.Time("git")()
	g, err := s.Repos.Open(c.Context(), c.Repo)
	if err != nil {
		return nil, err
	}
	m := &comparison{git: g}
	if err := m.resolve(c.Context(), spec, c.Repo.DefaultBranch); err != nil {
		return nil, err
	}
	common, err := g.MergeBase(c.Context(), m.base.OID, m.head.OID)
	if err != nil || common == "" {
		return m, err
	}
	m.common, err = g.Commit(c.Context(), common)
	return m, err
}

// resolve finds both ends. A name may hold dots itself, so every place where
// the range could be cut is tried.
func (m *comparison) resolve(ctx context.Context, spec, defaultBranch string) error {
	for _, dots := range []string{"...", ".."} {
		for at := strings.Index(spec, dots); at >= 0; {
			base, head := or(spec[:at], defaultBranch), or(spec[at+len(dots):], defaultBranch)
			from, err := commitOf(ctx, m.git, base)
			if err == nil {
				to, err := commitOf(ctx, m.git, head)
				if err == nil {
					m.baseName, m.headName, m.dots, m.base, m.head = base, head, dots, from, to
					return nil
				}
				if !errors.Is(err, git.ErrNotFound) {
					return err
				}
			} else if !errors.Is(err, git.ErrNotFound) {
				return err
			}
			next := strings.Index(spec[at+1:], dots)
			if next < 0 {
				break
			}
			at += 1 + next
		}
		if strings.Contains(spec, dots) {
			return fault.New(fault.NotFound, "One of the two revisions does not exist.")
		}
	}
	base, err := commitOf(ctx, m.git, defaultBranch)
	if err != nil {
		return lost(err)
	}
	head, err := commitOf(ctx, m.git, or(spec, defaultBranch))
	m.baseName, m.headName, m.dots, m.base, m.head = defaultBranch, or(spec, defaultBranch), "...", base, head
	return lost(err)
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
