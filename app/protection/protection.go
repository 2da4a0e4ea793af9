// Package protection is rules for branches: who may push to them, rewrite and
// delete them, and what a pull request needs before it is merged into them.
//
//	protection.go  Service, For, Save, Delete
//	push.go        what a push may do; writers of refs ask it too
//	explain.go     what holds for a branch and a person, and why
//	http.go        the settings page and the page that explains
//	api.go         GitHub's endpoints of branch protection
//
// Tables: the domain "protection" of a repository's scope. Events:
// protection.created, protection.edited, protection.deleted. Views:
// views/protectview.
package protection

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/signatures"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/protectdb"
)

// Deps are what rules are built on.
type Deps struct {
	DB    *db.DB
	Gate  *perms.Gate
	Repos *repos.Service
	// Signatures verifies commits where a rule asks for it.
	Signatures *signatures.Service
}

// Service is rules for branches.
type Service struct{ Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps} }

// Event is the data of the events about rules.
type Event struct {
	Type string `json:"-"`

	ID      int64  `json:"id"`
	Pattern string `json:"pattern"`
}

// EventType is the event's type.
func (e Event) EventType() string { return e.Type }

// Payloads are the events that rules publish.
func Payloads() []events.Payload {
	return []events.Payload{Event{Type: "protection.created"}, Event{Type: "protection.edited"}, Event{Type: "protection.deleted"}}
}

// For returns what is asked of changes to a branch, and by which rules; nil
// when the branch is not protected.
func (s *Service) For(ctx context.Context, repoID int64, branch string) (*model.Protection, []*model.BranchRule, error) {
	rules, err := protectdb.For(ctx, s.DB.Repo(repoID), branch)
	return model.Together(rules), rules, err
}

const (
	maxPattern = 200
	maxRules   = 100
	maxReviews = 6
)

func validate(r *model.BranchRule) error {
	fields := fault.Fields{}
	r.Pattern = strings.TrimSpace(r.Pattern)
	switch {
	case r.Pattern == "" || !utf8.ValidString(r.Pattern) || strings.ContainsAny(r.Pattern, " \x00~^:\\"):
		fields.Add("pattern", "Name branches, such as main or release/*.")
	case utf8.RuneCountInString(r.Pattern) > maxPattern:
		fields.Add("pattern", "The pattern is too long.")
	}
	d := &r.Demands
	if d.Reviews < 0 || d.Reviews > maxReviews {
		fields.Add("reviews", "Between 0 and 6 approvals can be asked for.")
	}
	var checks []string
	for _, c := range d.Checks {
		if c = strings.TrimSpace(c); c != "" && !slices.Contains(checks, c) {
			checks = append(checks, c)
		}
	}
	if d.Checks = checks; len(checks) > maxRules {
		fields.Add("checks", "At most 100 checks can be asked for.")
	}
	slices.Sort(d.Pushers)
	d.Pushers = slices.Compact(d.Pushers)
	return fields.Err()
}

// Save adds a rule, or changes the one with its id.
func (s *Service) Save(ctx context.Context, viewer *model.Viewer, repo *model.Repo, r *model.BranchRule) error {
	if err := validate(r); err != nil {
		return err
	}
	return s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := tx.Write(ctx, protectdb.Domain); err != nil {
			return err
		}
		all, err := protectdb.List(ctx, tx.Repo)
		if err != nil {
			return err
		}
		what := "protection.created"
		note := audit.Entry{Action: "protected_branch.create", Actor: viewer, Repo: repo, Target: r.Pattern, After: audit.Facts{"rule": r.Demands}}
		for _, o := range all {
			switch {
			case o.ID == r.ID:
				what, r.CreatedAt = "protection.edited", o.CreatedAt
				note.Action, note.Before = "protected_branch.update", audit.Facts{"rule": o.Demands}
			case o.Pattern == r.Pattern:
				return fault.Field("pattern", "There is a rule for "+r.Pattern+" already.")
			}
		}
		if r.ID != 0 && what == "protection.created" {
			return db.ErrNotFound
		}
		if len(all) >= maxRules && r.ID == 0 {
			return fault.New(fault.Conflict, "A repository has at most 100 rules.")
		}
		if err := protectdb.Save(ctx, tx, r); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, note); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, Event{Type: what, ID: r.ID, Pattern: r.Pattern})
	})
}

// Delete removes a rule.
func (s *Service) Delete(ctx context.Context, viewer *model.Viewer, repo *model.Repo, id int64) error {
	return s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := tx.Write(ctx, protectdb.Domain); err != nil {
			return err
		}
		all, err := protectdb.List(ctx, tx.Repo)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(r *model.BranchRule) bool { return r.ID == id })
		if at < 0 {
			return db.ErrNotFound
		}
		if err := protectdb.Delete(ctx, tx, id); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "protected_branch.destroy", Actor: viewer, Repo: repo, Target: all[at].Pattern,
			Before: audit.Facts{"rule": all[at].Demands}}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, Event{Type: "protection.deleted", ID: id, Pattern: all[at].Pattern})
	})
}
