package protection

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
)

// partRoutes mounts the parts of a branch's protection that GitHub has
// endpoints of their own for
// (https://docs.github.com/rest/branches/branch-protection).
func (s *Service) partRoutes(a *web.Router, admin web.Access, at string) {
	reviews := at + "/required_pull_request_reviews"
	a.Get(reviews, admin, s.part(reviewsPart), &web.Doc{ID: "repos/get-pull-request-review-protection", Summary: "Get pull request review protection", Out: ReviewsWire{}})
	a.Patch(reviews, admin, s.apiReviews, &web.Doc{ID: "repos/update-pull-request-review-protection", Summary: "Update pull request review protection", In: reviewsBody{}, Out: ReviewsWire{}})
	a.Delete(reviews, admin, s.without(func(d *model.Protection) {
		d.Pull, d.Reviews, d.Fresh, d.Owners, d.Other = false, 0, false, false, false
	}), &web.Doc{ID: "repos/delete-pull-request-review-protection", Summary: "Delete pull request review protection", Status: http.StatusNoContent})
	checks := at + "/required_status_checks"
	a.Get(checks, admin, s.part(checksPart), &web.Doc{ID: "repos/get-status-checks-protection", Summary: "Get status checks protection", Out: ChecksWire{}})
	a.Patch(checks, admin, s.apiChecks, &web.Doc{ID: "repos/update-status-check-protection", Summary: "Update status check protection", In: checksBody{}, Out: ChecksWire{}})
	a.Delete(checks, admin, s.without(func(d *model.Protection) { d.Checks, d.UpToDate = nil, false }),
		&web.Doc{ID: "repos/remove-status-check-protection", Summary: "Remove status check protection", Status: http.StatusNoContent})
	a.Get(checks+"/contexts", admin, s.part(contextsPart), &web.Doc{ID: "repos/get-all-status-check-contexts", Summary: "Get all status check contexts", Out: []string{}})
	admins := at + "/enforce_admins"
	a.Get(admins, admin, s.part(adminsPart), &web.Doc{ID: "repos/get-admin-branch-protection", Summary: "Get admin branch protection", Out: Switch{}})
	a.Post(admins, admin, s.apiAdmins, &web.Doc{ID: "repos/set-admin-branch-protection", Summary: "Set admin branch protection", Out: Switch{}})
	a.Delete(admins, admin, s.without(func(d *model.Protection) { d.Admins = false }),
		&web.Doc{ID: "repos/delete-admin-branch-protection", Summary: "Delete admin branch protection", Status: http.StatusNoContent})
	restrictions := at + "/restrictions"
	a.Get(restrictions, admin, s.part(restrictionsPart), &web.Doc{ID: "repos/get-access-restrictions", Summary: "Get access restrictions", Out: Restrictions{}})
	a.Delete(restrictions, admin, s.without(func(d *model.Protection) { d.Restricted, d.Pushers = false, nil }),
		&web.Doc{ID: "repos/delete-access-restrictions", Summary: "Delete access restrictions", Status: http.StatusNoContent})
	users := restrictions + "/users"
	a.Get(users, admin, s.part(func(p *Protection) any {
		if p.Restrictions == nil {
			return nil
		}
		return p.Restrictions.Users
	}), &web.Doc{ID: "repos/get-users-with-access-to-protected-branch", Summary: "Get users with access to the protected branch", Out: []api.User{}})
	for method, doc := range map[string]*web.Doc{
		http.MethodPost:   {ID: "repos/add-user-access-restrictions", Summary: "Add user access restrictions"},
		http.MethodPut:    {ID: "repos/set-user-access-restrictions", Summary: "Set user access restrictions"},
		http.MethodDelete: {ID: "repos/remove-user-access-restrictions", Summary: "Remove user access restrictions"},
	} {
		doc.In, doc.Out = usersBody{}, []api.User{}
		mount := map[string]func(string, web.Access, web.Handler, ...*web.Doc){http.MethodPost: a.Post, http.MethodPut: a.Put, http.MethodDelete: a.Delete}[method]
		mount(users, admin, s.apiUsers(method), doc)
	}
}

func reviewsPart(p *Protection) any {
	if p.Reviews == nil {
		return nil
	}
	return p.Reviews
}

func checksPart(p *Protection) any {
	if p.Checks == nil {
		return nil
	}
	return p.Checks
}

func contextsPart(p *Protection) any {
	if p.Checks == nil {
		return nil
	}
	return p.Checks.Contexts
}

func adminsPart(p *Protection) any { return p.Admins }

func restrictionsPart(p *Protection) any {
	if p.Restrictions == nil {
		return nil
	}
	return p.Restrictions
}

// part answers with a part of what holds for a branch.
func (s *Service) part(of func(p *Protection) any) web.Handler {
	return func(c *web.Ctx) error {
		p, _, err := s.For(c.Context(), c.Repo.ID, c.Param("branch"))
		if err != nil {
			return err
		}
		return s.answerPart(c, p, of)
	}
}

func (s *Service) answerPart(c *web.Ctx, p *model.Protection, of func(p *Protection) any) error {
	if p == nil {
		return fault.New(fault.NotFound, "Branch not protected")
	}
	w, err := s.wire(c, p)
	if err != nil {
		return err
	}
	out := of(w)
	if out == nil {
		return fault.New(fault.NotFound, "This protection is not enabled on the branch")
	}
	return c.JSON(http.StatusOK, out)
}

// edit changes the rule that is about this branch alone.
func (s *Service) edit(c *web.Ctx, change func(d *model.Protection) error) (*model.Protection, error) {
	r, err := s.exact(c)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, fault.New(fault.NotFound, "Branch not protected")
	}
	if err := change(&r.Demands); err != nil {
		return nil, err
	}
	return &r.Demands, s.Save(c.Context(), c.Viewer, c.Repo, r)
}

// without takes a part of the protection away.
func (s *Service) without(change func(d *model.Protection)) web.Handler {
	return func(c *web.Ctx) error {
		_, err := s.edit(c, func(d *model.Protection) error {
			change(d)
			return nil
		})
		if err != nil {
			return err
		}
		return c.NoContent()
	}
}

type reviewsBody struct {
	DismissStale *bool `json:"dismiss_stale_reviews"`
	Owners       *bool `json:"require_code_owner_reviews"`
	Count        *int  `json:"required_approving_review_count"`
	LastPush     *bool `json:"require_last_push_approval"`
}

func (s *Service) apiReviews(c *web.Ctx) error {
	var b reviewsBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	p, err := s.edit(c, func(d *model.Protection) error {
		d.Pull = true
		for _, set := range []struct {
			into *bool
			from *bool
		}{{&d.Fresh, b.DismissStale}, {&d.Owners, b.Owners}, {&d.Other, b.LastPush}} {
			if set.from != nil {
				*set.into = *set.from
			}
		}
		if b.Count != nil {
			d.Reviews = *b.Count
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.answerPart(c, p, reviewsPart)
}

type checksBody struct {
	Strict   *bool       `json:"strict"`
	Contexts *[]string   `json:"contexts"`
	Checks   []CheckWire `json:"checks"`
}

func (s *Service) apiChecks(c *web.Ctx) error {
	var b checksBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	p, err := s.edit(c, func(d *model.Protection) error {
		if b.Strict != nil {
			d.UpToDate = *b.Strict
		}
		if b.Contexts != nil || len(b.Checks) > 0 {
			d.Checks = nil
			if b.Contexts != nil {
				d.Checks = slices.Clone(*b.Contexts)
			}
			for _, check := range b.Checks {
				d.Checks = append(d.Checks, check.Context)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.answerPart(c, p, checksPart)
}

func (s *Service) apiAdmins(c *web.Ctx) error {
	p, err := s.edit(c, func(d *model.Protection) error {
		d.Admins = true
		return nil
	})
	if err != nil {
		return err
	}
	return s.answerPart(c, p, adminsPart)
}

// usersBody are names, by themselves or in an object, as GitHub takes both.
type usersBody struct {
	Users []string `json:"users"`
}

// UnmarshalJSON reads both forms.
func (b *usersBody) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &b.Users); err == nil {
		return nil
	}
	type object usersBody
	return json.Unmarshal(data, (*object)(b))
}

// apiUsers adds, replaces or removes who may push.
func (s *Service) apiUsers(method string) web.Handler {
	return func(c *web.Ctx) error {
		var b usersBody
		if err := c.Decode(&b); err != nil {
			return err
		}
		named, err := s.rule(c.Context(), ruleForm{Pushers: strings.Join(b.Users, ",")})
		if err != nil {
			return err
		}
		ids := named.Demands.Pushers
		p, err := s.edit(c, func(d *model.Protection) error {
			if !d.Restricted {
				return fault.New(fault.NotFound, "Push restrictions not enabled")
			}
			switch method {
			case http.MethodPost:
				d.Pushers = append(d.Pushers, ids...)
			case http.MethodPut:
				d.Pushers = ids
			default:
				d.Pushers = slices.DeleteFunc(d.Pushers, func(id int64) bool { return slices.Contains(ids, id) })
			}
			return nil
		})
		if err != nil {
			return err
		}
		return s.answerPart(c, p, func(p *Protection) any { return p.Restrictions.Users })
	}
}
