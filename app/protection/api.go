package protection

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/protectdb"
	"github.com/gitfor/gitfor/views/link"
)

// Protection is GitHub's branch protection
// (https://docs.github.com/rest/branches/branch-protection).
type Protection struct {
	URL           string        `json:"url"`
	Checks        *ChecksWire   `json:"required_status_checks,omitempty"`
	Reviews       *ReviewsWire  `json:"required_pull_request_reviews,omitempty"`
	Admins        Switch        `json:"enforce_admins"`
	Restrictions  *Restrictions `json:"restrictions,omitempty"`
	Linear        Switch        `json:"required_linear_history"`
	Signatures    Switch        `json:"required_signatures"`
	Force         Switch        `json:"allow_force_pushes"`
	Deletions     Switch        `json:"allow_deletions"`
	Conversations Switch        `json:"required_conversation_resolution"`
}

// Switch is something that is on or off.
type Switch struct {
	URL     string `json:"url,omitempty"`
	Enabled bool   `json:"enabled"`
}

// ChecksWire are the statuses that are asked for.
type ChecksWire struct {
	URL         string      `json:"url"`
	Strict      bool        `json:"strict"`
	Contexts    []string    `json:"contexts"`
	ContextsURL string      `json:"contexts_url"`
	Checks      []CheckWire `json:"checks"`
}

// CheckWire is a status that is asked for.
type CheckWire struct {
	Context string `json:"context"`
	AppID   *int64 `json:"app_id"`
}

// ReviewsWire are the approvals that are asked for.
type ReviewsWire struct {
	URL          string `json:"url"`
	DismissStale bool   `json:"dismiss_stale_reviews"`
	Owners       bool   `json:"require_code_owner_reviews"`
	Count        int    `json:"required_approving_review_count"`
	LastPush     bool   `json:"require_last_push_approval"`
}

// Restrictions are who may push.
type Restrictions struct {
	URL      string `json:"url"`
	UsersURL string `json:"users_url"`
	TeamsURL string `json:"teams_url"`
	AppsURL  string `json:"apps_url"`

	Users []api.User `json:"users"`
	Teams []struct{} `json:"teams"`
	Apps  []struct{} `json:"apps"`
}

// protectionBody is the body of a request that protects a branch.
type protectionBody struct {
	Checks *struct {
		Strict   bool        `json:"strict"`
		Contexts []string    `json:"contexts"`
		Checks   []CheckWire `json:"checks"`
	} `json:"required_status_checks"`
	Admins  *bool `json:"enforce_admins"`
	Reviews *struct {
		DismissStale bool `json:"dismiss_stale_reviews"`
		Owners       bool `json:"require_code_owner_reviews"`
		Count        *int `json:"required_approving_review_count"`
		LastPush     bool `json:"require_last_push_approval"`
	} `json:"required_pull_request_reviews"`
	Restrictions *struct {
		Users []string `json:"users"`
	} `json:"restrictions"`
	Linear        bool  `json:"required_linear_history"`
	Force         *bool `json:"allow_force_pushes"`
	Deletions     bool  `json:"allow_deletions"`
	Conversations bool  `json:"required_conversation_resolution"`
}

func (s *Service) apiRoutes(r *web.Router) {
	a, admin, at := r.API(), s.Gate.Repo(model.RoleAdmin), "/repos/{owner}/{repo}/branches/{branch}/protection"
	a.Get(at, admin, s.apiGet, &web.Doc{ID: "repos/get-branch-protection", Summary: "Get branch protection", Out: Protection{}})
	a.Put(at, admin, s.apiPut, &web.Doc{ID: "repos/update-branch-protection", Summary: "Update branch protection", In: protectionBody{}, Out: Protection{}})
	s.partRoutes(a, admin, at)
	s.rulesetRoutes(a)
	a.Delete(at, admin, s.apiDelete, &web.Doc{ID: "repos/delete-branch-protection", Summary: "Delete branch protection", Status: http.StatusNoContent})
}

// exact is the rule whose pattern is the branch's name, nil when there is
// none.
func (s *Service) exact(c *web.Ctx) (*model.BranchRule, error) {
	rules, err := protectdb.List(c.Context(), s.DB.Repo(c.Repo.ID))
	for _, r := range rules {
		if r.Pattern == c.Param("branch") {
			return r, err
		}
	}
	return nil, err
}

func (s *Service) apiGet(c *web.Ctx) error {
	p, _, err := s.For(c.Context(), c.Repo.ID, c.Param("branch"))
	if err != nil {
		return err
	}
	if p == nil {
		return fault.New(fault.NotFound, "Branch not protected")
	}
	return s.answer(c, p)
}

func (s *Service) answer(c *web.Ctx, p *model.Protection) error {
	out, err := s.wire(c, p)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, out)
}

// wire is what holds for the branch of the request in GitHub's shape.
func (s *Service) wire(c *web.Ctx, p *model.Protection) (*Protection, error) {
	url := c.URL(web.APIPrefix+"/repos"+link.Repo(c.Repo.Owner.Name, c.Repo.Name)) + "/branches/" + link.Segment(c.Param("branch")) + "/protection"
	out := &Protection{URL: url, Admins: Switch{url + "/enforce_admins", p.Admins}, Linear: Switch{Enabled: p.Linear}, Signatures: Switch{url + "/required_signatures", p.Signed},
		Force: Switch{Enabled: p.AllowForce}, Deletions: Switch{Enabled: p.AllowDelete}, Conversations: Switch{Enabled: p.Resolved}}
	if len(p.Checks) > 0 || p.UpToDate {
		out.Checks = &ChecksWire{URL: url + "/required_status_checks", Strict: p.UpToDate, Contexts: append([]string{}, p.Checks...),
			ContextsURL: url + "/required_status_checks/contexts", Checks: []CheckWire{}}
		for _, name := range p.Checks {
			out.Checks.Checks = append(out.Checks.Checks, CheckWire{Context: name})
		}
	}
	if p.ByPull() {
		out.Reviews = &ReviewsWire{URL: url + "/required_pull_request_reviews", DismissStale: p.Fresh, Owners: p.Owners, Count: p.Reviews, LastPush: p.Other}
	}
	if p.Restricted {
		out.Restrictions = &Restrictions{URL: url + "/restrictions", UsersURL: url + "/restrictions/users", TeamsURL: url + "/restrictions/teams",
			AppsURL: url + "/restrictions/apps", Users: []api.User{}, Teams: []struct{}{}, Apps: []struct{}{}}
		if len(p.Pushers) > 0 {
			accounts, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), p.Pushers...)
			if err != nil {
				return nil, err
			}
			for _, id := range p.Pushers {
				if a := accounts[id]; a != nil {
					out.Restrictions.Users = append(out.Restrictions.Users, api.UserOf(c, a))
				}
			}
		}
	}
	return out, nil
}

func (s *Service) apiPut(c *web.Ctx) error {
	var b protectionBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	r, err := s.exact(c)
	if err != nil {
		return err
	}
	if r == nil {
		r = &model.BranchRule{Pattern: c.Param("branch")}
	}
	r.Demands = model.Protection{Linear: b.Linear, AllowDelete: b.Deletions, Resolved: b.Conversations,
		Admins: b.Admins != nil && *b.Admins, AllowForce: b.Force != nil && *b.Force}
	if k := b.Checks; k != nil {
		r.Demands.UpToDate = k.Strict
		r.Demands.Checks = slices.Clone(k.Contexts)
		for _, check := range k.Checks {
			r.Demands.Checks = append(r.Demands.Checks, check.Context)
		}
	}
	if k := b.Reviews; k != nil {
		r.Demands.Pull, r.Demands.Reviews = true, 1
		if k.Count != nil {
			r.Demands.Reviews = *k.Count
		}
		r.Demands.Fresh, r.Demands.Owners, r.Demands.Other = k.DismissStale, k.Owners, k.LastPush
	}
	if k := b.Restrictions; k != nil {
		f := ruleForm{Pushers: strings.Join(k.Users, ",")}
		named, err := s.rule(c.Context(), f)
		if err != nil {
			return err
		}
		r.Demands.Restricted, r.Demands.Pushers = true, named.Demands.Pushers
	}
	if err := s.Save(c.Context(), c.Viewer, c.Repo, r); err != nil {
		return err
	}
	return s.answer(c, &r.Demands)
}

func (s *Service) apiDelete(c *web.Ctx) error {
	r, err := s.exact(c)
	if err != nil {
		return err
	}
	if r == nil {
		return fault.New(fault.NotFound, "Branch not protected")
	}
	if err := s.Delete(c.Context(), c.Viewer, c.Repo, r.ID); err != nil {
		return err
	}
	return c.NoContent()
}
