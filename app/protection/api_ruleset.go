package protection

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/protectdb"
	"github.com/gitfor/gitfor/views/link"
)

// Ruleset is GitHub's ruleset: here a rule for the branches of one pattern
// (https://docs.github.com/rest/repos/rules).
type Ruleset struct {
	ID           int64        `json:"id"`
	Name         string       `json:"name"`
	Target       string       `json:"target"`
	SourceType   string       `json:"source_type"`
	Source       string       `json:"source"`
	Enforcement  string       `json:"enforcement"`
	BypassActors []any        `json:"bypass_actors"`
	Conditions   *Conditions  `json:"conditions,omitempty"`
	Rules        []Rule       `json:"rules,omitempty"`
	NodeID       string       `json:"node_id"`
	Links        RulesetLinks `json:"_links"`
	CreatedAt    string       `json:"created_at"`
	UpdatedAt    string       `json:"updated_at"`
}

// RulesetLinks are a ruleset's addresses.
type RulesetLinks struct {
	Self struct {
		Href string `json:"href"`
	} `json:"self"`
	HTML struct {
		Href string `json:"href"`
	} `json:"html"`
}

// Conditions say which branches a ruleset is about.
type Conditions struct {
	RefName struct {
		Include []string `json:"include"`
		Exclude []string `json:"exclude"`
	} `json:"ref_name"`
}

// Rule is one thing that a ruleset asks for.
type Rule struct {
	Type       string `json:"type"`
	Parameters any    `json:"parameters,omitempty"`
	// The last three are set where the rules of a branch are listed.
	SourceType string `json:"ruleset_source_type,omitempty"`
	Source     string `json:"ruleset_source,omitempty"`
	RulesetID  int64  `json:"ruleset_id,omitempty"`
}

func (s *Service) rulesetRoutes(a *web.Router) {
	read, admin := s.Gate.Repo(model.RoleRead), s.Gate.Repo(model.RoleAdmin)
	const at = "/repos/{owner}/{repo}"
	a.Get(at+"/rules/branches/{branch}", read, s.apiBranchRules, &web.Doc{ID: "repos/get-branch-rules", Summary: "Get rules for a branch", Out: []Rule{}})
	a.Get(at+"/rulesets", read, s.apiRulesets, &web.Doc{ID: "repos/get-repo-rulesets", Summary: "Get all repository rulesets", Out: []Ruleset{}})
	a.Get(at+"/rulesets/{id}", read, s.apiRuleset, &web.Doc{ID: "repos/get-repo-ruleset", Summary: "Get a repository ruleset", Out: Ruleset{}})
	a.Post(at+"/rulesets", admin, s.apiSaveRuleset, &web.Doc{ID: "repos/create-repo-ruleset", Summary: "Create a repository ruleset", In: rulesetBody{}, Out: Ruleset{}, Status: http.StatusCreated})
	a.Put(at+"/rulesets/{id}", admin, s.apiSaveRuleset, &web.Doc{ID: "repos/update-repo-ruleset", Summary: "Update a repository ruleset", In: rulesetBody{}, Out: Ruleset{}})
	a.Delete(at+"/rulesets/{id}", admin, s.apiDeleteRuleset, &web.Doc{ID: "repos/delete-repo-ruleset", Summary: "Delete a repository ruleset", Status: http.StatusNoContent})
}

// rulesOf are the rules that a protection consists of, by GitHub's names.
func rulesOf(p *model.Protection) []Rule {
	out := []Rule{}
	if !p.AllowDelete {
		out = append(out, Rule{Type: "deletion"})
	}
	if !p.AllowForce {
		out = append(out, Rule{Type: "non_fast_forward"})
	}
	if p.Linear {
		out = append(out, Rule{Type: "required_linear_history"})
	}
	if p.Signed {
		out = append(out, Rule{Type: "required_signatures"})
	}
	if p.Restricted {
		out = append(out, Rule{Type: "update"})
	}
	if p.ByPull() {
		out = append(out, Rule{Type: "pull_request", Parameters: map[string]any{"required_approving_review_count": p.Reviews,
			"dismiss_stale_reviews_on_push": p.Fresh, "require_code_owner_review": p.Owners, "require_last_push_approval": p.Other,
			"required_review_thread_resolution": p.Resolved, "allowed_merge_methods": []string{"merge", "squash", "rebase"}}})
	}
	if len(p.Checks) > 0 || p.UpToDate {
		checks := []map[string]any{}
		for _, name := range p.Checks {
			checks = append(checks, map[string]any{"context": name})
		}
		out = append(out, Rule{Type: "required_status_checks", Parameters: map[string]any{"required_status_checks": checks,
			"strict_required_status_checks_policy": p.UpToDate, "do_not_enforce_on_create": true}})
	}
	return out
}

func (s *Service) rulesetOf(c *web.Ctx, r *model.BranchRule, whole bool) Ruleset {
	out := Ruleset{ID: r.ID, Name: r.Pattern, Target: "branch", SourceType: "Repository", Source: c.Repo.FullName(), Enforcement: "active",
		BypassActors: []any{}, NodeID: api.NodeID("RepositoryRuleset", c.Repo.ID, r.ID), CreatedAt: api.Time(r.CreatedAt), UpdatedAt: api.Time(r.UpdatedAt)}
	out.Links.Self.Href = c.URL(web.APIPrefix+"/repos"+link.Repo(c.Repo.Owner.Name, c.Repo.Name)) + "/rulesets/" + strconv.FormatInt(r.ID, 10)
	out.Links.HTML.Href = c.URL(link.RepoSettings(c.Repo.Owner.Name, c.Repo.Name, "branches"))
	if !r.Demands.Admins {
		out.BypassActors = append(out.BypassActors, map[string]any{"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "always"})
	}
	if whole {
		out.Conditions = &Conditions{}
		out.Conditions.RefName.Include, out.Conditions.RefName.Exclude = []string{git.BranchPrefix + r.Pattern}, []string{}
		out.Rules = rulesOf(&r.Demands)
	}
	return out
}

func (s *Service) apiBranchRules(c *web.Ctx) error {
	rules, err := protectdb.For(c.Context(), s.DB.Repo(c.Repo.ID), c.Param("branch"))
	if err != nil {
		return err
	}
	out := []Rule{}
	for _, r := range rules {
		for _, x := range rulesOf(&r.Demands) {
			x.SourceType, x.Source, x.RulesetID = "Repository", c.Repo.FullName(), r.ID
			out = append(out, x)
		}
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiRulesets(c *web.Ctx) error {
	rules, err := protectdb.List(c.Context(), s.DB.Repo(c.Repo.ID))
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	page.LinkTotal(c, len(rules))
	from := min(int(page.Offset()), len(rules))
	out := []Ruleset{}
	for _, r := range rules[from:min(from+page.PerPage, len(rules))] {
		out = append(out, s.rulesetOf(c, r, false))
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) ruleset(c *web.Ctx) (*model.BranchRule, error) {
	id, err := c.ParamInt("id")
	if err != nil {
		return nil, err
	}
	rules, err := protectdb.List(c.Context(), s.DB.Repo(c.Repo.ID))
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(rules, func(r *model.BranchRule) bool { return r.ID == id })
	if at < 0 {
		return nil, db.ErrNotFound
	}
	return rules[at], nil
}

func (s *Service) apiRuleset(c *web.Ctx) error {
	r, err := s.ruleset(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, s.rulesetOf(c, r, true))
}

func (s *Service) apiDeleteRuleset(c *web.Ctx) error {
	r, err := s.ruleset(c)
	if err != nil {
		return err
	}
	if err := s.Delete(c.Context(), c.Viewer, c.Repo, r.ID); err != nil {
		return err
	}
	return c.NoContent()
}

// rulesetBody is the body of a request that makes or changes a ruleset.
type rulesetBody struct {
	Name         string      `json:"name"`
	Target       string      `json:"target"`
	Enforcement  string      `json:"enforcement"`
	BypassActors *[]any      `json:"bypass_actors"`
	Conditions   *Conditions `json:"conditions"`
	Rules        *[]struct {
		Type       string         `json:"type"`
		Parameters ruleParameters `json:"parameters"`
	} `json:"rules"`
}

type ruleParameters struct {
	Count    int  `json:"required_approving_review_count"`
	Stale    bool `json:"dismiss_stale_reviews_on_push"`
	Owners   bool `json:"require_code_owner_review"`
	LastPush bool `json:"require_last_push_approval"`
	Resolved bool `json:"required_review_thread_resolution"`
	Strict   bool `json:"strict_required_status_checks_policy"`
	Checks   []struct {
		Context string `json:"context"`
	} `json:"required_status_checks"`
}

func (s *Service) apiSaveRuleset(c *web.Ctx) error {
	var b rulesetBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	r, status := &model.BranchRule{Demands: model.Protection{AllowForce: true, AllowDelete: true, Admins: true}}, http.StatusCreated
	if c.Param("id") != "" {
		var err error
		if r, err = s.ruleset(c); err != nil {
			return err
		}
		status = http.StatusOK
	}
	if err := b.into(r, c.Repo.DefaultBranch); err != nil {
		return err
	}
	if err := s.Save(c.Context(), c.Viewer, c.Repo, r); err != nil {
		return err
	}
	return c.JSON(status, s.rulesetOf(c, r, true))
}

// into puts what a body says into a rule. What cannot be kept is refused.
func (b *rulesetBody) into(r *model.BranchRule, main string) error {
	switch {
	case b.Target != "" && b.Target != "branch":
		return fault.Field("target", "Only rulesets for branches exist here.")
	case b.Enforcement != "" && b.Enforcement != "active":
		return fault.Field("enforcement", "Rulesets are always active here.")
	}
	if b.Conditions != nil {
		include := b.Conditions.RefName.Include
		if len(include) != 1 || len(b.Conditions.RefName.Exclude) > 0 {
			return fault.Field("conditions", "A ruleset is about one pattern here, and excludes none.")
		}
		switch p := include[0]; p {
		case "~ALL":
			r.Pattern = "**"
		case "~DEFAULT_BRANCH":
			r.Pattern = main
		default:
			r.Pattern = strings.TrimPrefix(p, git.BranchPrefix)
		}
	}
	if r.Pattern == "" {
		return fault.Field("conditions", "Say which branches it is about.")
	}
	d := &r.Demands
	if b.BypassActors != nil {
		d.Admins = len(*b.BypassActors) == 0
	}
	if b.Rules == nil {
		return nil
	}
	*d = model.Protection{Admins: d.Admins, AllowForce: true, AllowDelete: true, Pushers: d.Pushers}
	for _, rule := range *b.Rules {
		k := rule.Parameters
		switch rule.Type {
		case "deletion":
			d.AllowDelete = false
		case "non_fast_forward":
			d.AllowForce = false
		case "required_linear_history":
			d.Linear = true
		case "required_signatures":
			d.Signed = true
		case "update":
			d.Restricted = true
		case "pull_request":
			d.Pull, d.Reviews, d.Fresh, d.Owners, d.Other, d.Resolved = true, k.Count, k.Stale, k.Owners, k.LastPush, k.Resolved
		case "required_status_checks":
			d.UpToDate = k.Strict
			for _, check := range k.Checks {
				d.Checks = append(d.Checks, check.Context)
			}
		default:
			return fault.Field("rules", "There is no rule of the type "+rule.Type+" here.")
		}
	}
	return nil
}
