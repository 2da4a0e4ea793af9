package model

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// BranchRule says what holds for the branches that a pattern names.
type BranchRule struct {
	bun.BaseModel `bun:"table:?scope.branch_rules,alias:br"`

	ID int64 `bun:"id,pk"`
	// Pattern is a name in which * stands for anything within a part, and **
	// for any parts.
	Pattern   string     `bun:"pattern"`
	Demands   Protection `bun:"data,type:jsonb"`
	CreatedAt time.Time  `bun:"created_at"`
	UpdatedAt time.Time  `bun:"updated_at"`
}

// Protection is what is asked of changes to a branch.
type Protection struct {
	// Pull says that changes come by pull requests only.
	Pull bool `json:"pull,omitempty"`
	// Reviews is how many approvals by people with write access a pull
	// request needs.
	Reviews int `json:"reviews,omitempty"`
	// Owners asks for an approval by an owner of each changed file, as the
	// file CODEOWNERS of the base names them.
	Owners bool `json:"owners,omitempty"`
	// Fresh counts only approvals of the newest round.
	Fresh bool `json:"fresh,omitempty"`
	// Other asks that somebody else than who pushed last has approved.
	Other bool `json:"other,omitempty"`
	// Resolved asks that all conversations are resolved.
	Resolved bool `json:"resolved,omitempty"`
	// Checks are contexts of statuses and names of checks that must succeed.
	Checks []string `json:"checks,omitempty"`
	// UpToDate asks that the head holds the newest commit of the base.
	UpToDate bool `json:"up_to_date,omitempty"`
	// Linear forbids merge commits.
	Linear bool `json:"linear,omitempty"`
	// Signed asks that commits carry a verified signature.
	Signed bool `json:"signed,omitempty"`
	// Restricted says that only Pushers may push and merge.
	Restricted bool    `json:"restricted,omitempty"`
	Pushers    []int64 `json:"pushers,omitempty"`
	// AllowForce and AllowDelete allow what a protected branch refuses.
	AllowForce  bool `json:"allow_force,omitempty"`
	AllowDelete bool `json:"allow_delete,omitempty"`
	// Admins says that administrators are held to it too.
	Admins bool `json:"admins,omitempty"`
}

// Matches says whether the rule is about the branch.
func (r *BranchRule) Matches(branch string) bool { return MatchBranch(r.Pattern, branch) }

// MatchBranch says whether a pattern names a branch: * stands for any part of
// a name between slashes, ** for any parts.
func MatchBranch(pattern, branch string) bool {
	return matchParts(strings.Split(pattern, "/"), strings.Split(branch, "/"))
}

func matchParts(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			if len(pattern) == 1 {
				return len(parts) > 0
			}
			for i := range len(parts) + 1 {
				if matchParts(pattern[1:], parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], parts[0]); err != nil || !ok {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}

// Together is what several rules ask, the strictest of each.
func Together(rules []*BranchRule) *Protection {
	if len(rules) == 0 {
		return nil
	}
	out := rules[0].Demands
	out.Checks, out.Pushers = slices.Clone(out.Checks), slices.Clone(out.Pushers)
	for _, r := range rules[1:] {
		d := r.Demands
		out.Reviews = max(out.Reviews, d.Reviews)
		for _, b := range []struct {
			into *bool
			from bool
		}{{&out.Pull, d.Pull}, {&out.Owners, d.Owners}, {&out.Fresh, d.Fresh}, {&out.Other, d.Other}, {&out.Resolved, d.Resolved},
			{&out.UpToDate, d.UpToDate}, {&out.Linear, d.Linear}, {&out.Signed, d.Signed}, {&out.Admins, d.Admins}} {
			*b.into = *b.into || b.from
		}
		for _, c := range d.Checks {
			if !slices.Contains(out.Checks, c) {
				out.Checks = append(out.Checks, c)
			}
		}
		if d.Restricted {
			if out.Restricted {
				out.Pushers = slices.DeleteFunc(out.Pushers, func(id int64) bool { return !slices.Contains(d.Pushers, id) })
			} else {
				out.Restricted, out.Pushers = true, slices.Clone(d.Pushers)
			}
		}
		out.AllowForce, out.AllowDelete = out.AllowForce && d.AllowForce, out.AllowDelete && d.AllowDelete
	}
	return &out
}

// ByPull says that changes come by pull requests only: because it is asked
// for, or because of what only they can have.
func (p *Protection) ByPull() bool {
	return p.Pull || p.Reviews > 0 || p.Owners || p.Other || p.Resolved
}

// Exempt says that somebody with this role is not held to the rules.
func (p *Protection) Exempt(role Role) bool { return !p.Admins && role.AtLeast(RoleAdmin) }

// MayPush says whether an account may push to the branch, or merge into it,
// at all.
func (p *Protection) MayPush(account int64, role Role) bool {
	return !p.Restricted || slices.Contains(p.Pushers, account) || p.Exempt(role)
}
