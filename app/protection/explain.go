package protection

import (
	"context"
	"errors"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// Answer is what holds for a person's action on a branch, and why.
type Answer struct {
	Action string
	// Allowed is yes, and Only that it needs more, such as a pull request.
	Allowed bool
	Why     string
	// Rules are the patterns of the rules that say so.
	Rules []string
}

// Explanation is what holds for a branch and a person.
type Explanation struct {
	Branch  string
	Person  *model.Account
	Role    model.Role
	Rules   []*model.BranchRule
	Answers []Answer
}

// Explain says what a person may do to a branch, and which rules say so.
func (s *Service) Explain(ctx context.Context, repo *model.Repo, branch, person string) (*Explanation, error) {
	account, err := accountdb.ByName(ctx, s.DB.Directory(), person)
	if errors.Is(err, db.ErrNotFound) {
		return nil, fault.Field("person", "There is nobody of this name.")
	}
	if err != nil {
		return nil, err
	}
	e := &Explanation{Branch: branch, Person: account, Role: model.RoleNone}
	if _, e.Role, err = repodb.FindID(ctx, s.DB.Directory(), repo.ID, account.ID); err != nil && !errors.Is(err, db.ErrNotFound) {
		return nil, err
	}
	p, rules, err := s.For(ctx, repo.ID, branch)
	if err != nil {
		return nil, err
	}
	e.Rules = rules
	e.Answers = answers(p, e)
	return e, nil
}

// by are the patterns of the rules for which f holds.
func by(rules []*model.BranchRule, f func(d *model.Protection) bool) []string {
	var out []string
	for _, r := range rules {
		if f(&r.Demands) {
			out = append(out, r.Pattern)
		}
	}
	return out
}

func answers(p *model.Protection, e *Explanation) []Answer {
	push := Answer{Action: "Push commits directly"}
	force := Answer{Action: "Rewrite its history (force push)"}
	remove := Answer{Action: "Delete it"}
	merge := Answer{Action: "Merge a pull request into it"}
	all := []*Answer{&push, &merge, &force, &remove}
	list := func() []Answer {
		out := make([]Answer, len(all))
		for i, a := range all {
			out[i] = *a
		}
		return out
	}
	if !e.Role.AtLeast(model.RoleWrite) {
		for _, a := range all {
			a.Why = e.Person.Name + " has no write access to this repository."
		}
		return list()
	}
	if p == nil {
		for _, a := range all {
			a.Allowed, a.Why = true, "No rule is about this branch."
		}
		return list()
	}
	exempt := p.Exempt(e.Role)
	switch {
	case !p.MayPush(e.Person.ID, e.Role):
		for _, a := range []*Answer{&push, &merge, &force} {
			a.Why, a.Rules = "Only certain people may push or merge, and "+e.Person.Name+" is not one of them.", by(e.Rules, func(d *model.Protection) bool { return d.Restricted })
		}
	default:
		push.Allowed, push.Why = true, "Nothing forbids it."
		switch {
		case exempt:
			push.Why = "Administrators are not held to the rules."
		case p.ByPull():
			push.Allowed, push.Why, push.Rules = false, "Changes come by pull requests.", by(e.Rules, (*model.Protection).ByPull)
		case len(p.Checks) > 0:
			push.Why, push.Rules = "Only commits on which the required checks have succeeded.", by(e.Rules, func(d *model.Protection) bool { return len(d.Checks) > 0 })
		}
		merge.Allowed, merge.Why = true, mergeWhy(p)
		if exempt {
			merge.Why = "Administrators can merge in spite of the rules, but have to say so."
		}
		force.Allowed, force.Why = p.AllowForce && push.Allowed, "The rules allow it."
		if !p.AllowForce {
			force.Why, force.Rules = "The history of protected branches stays, for administrators too.", by(e.Rules, func(d *model.Protection) bool { return !d.AllowForce })
		} else if !push.Allowed {
			force.Why, force.Rules = push.Why, push.Rules
		}
	}
	remove.Allowed, remove.Why = p.AllowDelete, "The rules allow it."
	if !p.AllowDelete {
		remove.Why, remove.Rules = "Protected branches stay, for administrators too.", by(e.Rules, func(d *model.Protection) bool { return !d.AllowDelete })
	}
	return list()
}

func mergeWhy(p *model.Protection) string {
	if list := Demands(p); len(list) > 0 {
		return "Once all of this is met: " + sentence(list) + "."
	}
	return "Nothing more is asked for."
}

func sentence(list []string) string {
	out := ""
	for i, s := range list {
		switch {
		case i == 0:
		case i == len(list)-1:
			out += " and "
		default:
			out += ", "
		}
		out += s
	}
	return out
}

// Demands are what is asked of pull requests, in words.
func Demands(p *model.Protection) []string {
	var out []string
	add := func(on bool, s string) {
		if on {
			out = append(out, s)
		}
	}
	add(p.Reviews == 1, "an approval")
	add(p.Reviews > 1, string(rune('0'+p.Reviews))+" approvals")
	add(p.Owners, "an approval by owners of the files")
	add(p.Fresh, "approvals of the newest commits")
	add(p.Other, "an approval by somebody else than who pushed last")
	add(p.Resolved, "all conversations resolved")
	for _, c := range p.Checks {
		add(true, "the check "+c)
	}
	add(p.UpToDate, "the branch up to date")
	add(p.Linear, "no merge commits")
	add(p.Signed, "signed commits")
	return out
}
