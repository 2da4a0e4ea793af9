package git

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Contributor is an author of commits, by email address.
type Contributor struct {
	// Name is that of the newest commit, in UTF-8.
	Name  string
	Email string
	// Commits counts those that are no merges.
	Commits     int
	First, Last time.Time
}

// contributions is the answer for one commit, by lower-case address.
type contributions struct {
	tip OID
	by  map[string]Contributor
}

// Contributors is the authors of all that rev reaches, most commits first. The
// last answer is kept, and counts only what is new when rev goes on from there.
func (r *Repository) Contributors(ctx context.Context, rev OID) ([]Contributor, error) {
	by, err := r.contributors(ctx, rev)
	if err != nil {
		return nil, fmt.Errorf("contributors of %s: %w", rev.Short(), err)
	}
	list := slices.Collect(maps.Values(by))
	slices.SortFunc(list, func(a, b Contributor) int {
		if a.Commits != b.Commits {
			return b.Commits - a.Commits
		}
		return strings.Compare(a.Email, b.Email)
	})
	return list, nil
}

func (r *Repository) contributors(ctx context.Context, rev OID) (map[string]Contributor, error) {
	last := r.answers.contributions.Load()
	if last != nil && last.tip == rev {
		return last.by, nil
	}
	by := make(map[string]Contributor)
	opts := LogOptions{NoMerges: true, Limit: math.MaxInt}
	if last != nil {
		onward, err := r.IsAncestor(ctx, last.tip, rev)
		if err == nil && onward {
			by = maps.Clone(last.by)
			opts.Exclude = []OID{last.tip}
		}
	}
	hashes, err := r.logWalk(ctx, rev, opts)
	if err != nil {
		return nil, err
	}
	for i, hash := range hashes {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		typ, data, err := r.objects.Get(hash, maxCommitSize)
		if err != nil || typ != TypeCommit {
			return nil, notFound(err)
		}
		c, err := parseCommit(oidFromRaw(hash), string(data))
		if err != nil {
			return nil, err
		}
		addContribution(by, c)
	}
	r.answers.contributions.Store(&contributions{rev, by})
	return by, nil
}

func addContribution(by map[string]Contributor, c *Commit) {
	email := DecodeText(c.Author.Email)
	key := strings.ToLower(email)
	k, ok := by[key]
	k.Commits++
	if !ok || c.Author.When.Before(k.First) {
		k.First = c.Author.When
	}
	if !ok || !c.Author.When.Before(k.Last) {
		k.Last, k.Name, k.Email = c.Author.When, c.AuthorName(), email
	}
	by[key] = k
}
