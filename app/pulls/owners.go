package pulls

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// Owned is a rule of CODEOWNERS that changed files fall under.
type Owned struct {
	Pattern string
	// Names are as the file has them, IDs the people that they stand for.
	Names []string
	IDs   []int64
	Files int
}

// ownerRule is a line of CODEOWNERS.
type ownerRule struct {
	pattern string
	names   []string
}

// maxOwners is the most that is read of CODEOWNERS.
const maxOwners = 1 << 20

// ownerRules reads the CODEOWNERS of a commit, where GitHub looks for it too
// (https://docs.github.com/articles/about-code-owners).
func ownerRules(ctx context.Context, g *git.Repository, rev git.OID) ([]ownerRule, error) {
	for _, name := range []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"} {
		text, _, err := g.BlobAt(ctx, rev, name, maxOwners)
		if errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrWrongType) || errors.Is(err, git.ErrTooLarge) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return parseOwners(string(text)), nil
	}
	return nil, nil
}

func parseOwners(text string) []ownerRule {
	var out []ownerRule
	for line := range strings.Lines(text) {
		if i := strings.Index(line, " #"); i >= 0 {
			line = line[:i]
		}
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		out = append(out, ownerRule{words[0], words[1:]})
	}
	return out
}

// owns says whether a pattern is about a file: as in .gitignore, a pattern
// with a slash at its start or middle is anchored at the root, one that names
// a folder is about all below it.
func owns(pattern, file string) bool {
	folder := strings.HasSuffix(pattern, "/")
	p := strings.Trim(pattern, "/")
	anchored := strings.HasPrefix(pattern, "/") || strings.Contains(p, "/")
	if p == "" {
		return false
	}
	parts, want := strings.Split(file, "/"), strings.Split(p, "/")
	if !anchored {
		want = append([]string{"**"}, want...)
	}
	if !folder && matchPath(want, parts) {
		return true
	}
	// A folder, or a name that may be one. "docs/*" is not about what lies
	// deeper, as on GitHub.
	if !folder && want[len(want)-1] == "*" {
		return false
	}
	for i := 1; i < len(parts); i++ {
		if matchPath(want, parts[:i]) {
			return true
		}
	}
	return false
}

func matchPath(pattern, parts []string) bool {
	if len(pattern) == 0 {
		return len(parts) == 0
	}
	if pattern[0] == "**" {
		for i := range len(parts) + 1 {
			if matchPath(pattern[1:], parts[i:]) {
				return true
			}
		}
		return false
	}
	if len(parts) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], parts[0])
	return err == nil && ok && matchPath(pattern[1:], parts[1:])
}

// owned are the rules of the base's CODEOWNERS that the changed files fall
// under, with the people that they name.
func (s *Service) owned(ctx context.Context, g *git.Repository, pull *model.Pull) ([]Owned, error) {
	if pull.BaseSHA == "" {
		return nil, nil
	}
	base, err := s.baseTip(ctx, g, pull)
	if err != nil || base == "" {
		return nil, err
	}
	rules, err := ownerRules(ctx, g, base)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	files, err := g.DiffFiles(ctx, git.DiffOptions{Base: diffBase(g, pull), Head: git.OID(pull.HeadSHA)})
	if err != nil {
		return nil, err
	}
	count := map[int]int{}
	for i := range files {
		for _, name := range files[i].Paths() {
			for at := len(rules) - 1; at >= 0; at-- {
				if owns(rules[at].pattern, name) {
					count[at]++
					break
				}
			}
		}
	}
	var out []Owned
	for at, r := range rules {
		if count[at] > 0 && len(r.names) > 0 {
			out = append(out, Owned{Pattern: r.pattern, Names: r.names, Files: count[at]})
		}
	}
	return out, s.nameOwners(ctx, out)
}

// nameOwners finds the people whom owners stand for: accounts by name, teams
// by org/team, addresses.
func (s *Service) nameOwners(ctx context.Context, list []Owned) error {
	var names, emails []string
	teams := map[string][]int64{}
	for _, o := range list {
		for _, n := range o.Names {
			who, named := strings.CutPrefix(n, "@")
			switch {
			case named && strings.Contains(who, "/"):
				teams[model.Key(who)] = nil
			case named:
				names = append(names, who)
			case strings.Contains(n, "@"):
				emails = append(emails, n)
			}
		}
	}
	dir := s.DB.Directory()
	people, err := accountdb.ByNames(ctx, dir, names)
	if err != nil {
		return err
	}
	byEmail, err := accountdb.ByEmails(ctx, dir, emails)
	if err != nil {
		return err
	}
	for key := range teams {
		if teams[key], err = accountdb.TeamMembers(ctx, dir, key); err != nil {
			return err
		}
	}
	for i := range list {
		o := &list[i]
		for _, n := range o.Names {
			who := strings.TrimPrefix(n, "@")
			if a := people[model.Key(who)]; a != nil {
				o.IDs = append(o.IDs, a.ID)
			}
			if a := byEmail[model.Key(n)]; a != nil {
				o.IDs = append(o.IDs, a.ID)
			}
			o.IDs = append(o.IDs, teams[model.Key(who)]...)
		}
		slices.Sort(o.IDs)
		o.IDs = slices.Compact(o.IDs)
	}
	return nil
}
