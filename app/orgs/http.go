package orgs

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/app/access"
	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
)

// Deps are what the service needs.
type Deps struct {
	DB       *db.DB
	Gate     *perms.Gate
	Accounts *accounts.Service
	Auth     *auth.Service
	Access   *access.Service
	Repos    *repos.Service
	Tokens   *secret.Tokens
	// Mail carries invitations; none are sent when nil. URL is the public
	// address.
	Mail *mail.Service
	URL  string
}

// Service holds the operations and pages.
type Service struct {
	Deps
	// Blocked, when set, says that one account keeps another away.
	Blocked func(ctx context.Context, by, who int64) (bool, error)
	now     func() time.Time
}

// New makes the service.
func New(deps Deps) *Service { return &Service{Deps: deps, now: time.Now} }

// Routes mounts the pages and the API.
func (s *Service) Routes(r *web.Router) {
	g := s.Gate
	owner, member, in := g.OrgOwner(), g.OrgMember(), g.SignedIn()
	const at, set = "/orgs/{owner}", "/organizations/{owner}/settings"
	r.Get(at+"/people", g.Account(), s.people)
	r.Post(at+"/people", owner, s.memberSet)
	r.Post(at+"/people/invite", owner, s.inviteLink)
	r.Post(at+"/people/leave", member, s.leave)
	r.Post(at+"/people/publicity", member, s.publicity)
	r.Post(at+"/people/{username}/remove", owner, s.memberRemove)
	r.Post(at+"/invitations/{id}/revoke", owner, s.revoke)
	r.Get(at+"/invitation", in, s.invitation)
	r.Post(at+"/invitation/accept", in, s.accept)
	r.Post(at+"/invitation/decline", in, s.decline)
	r.Get("/invitations/{token}", in, s.link)
	r.Post("/invitations/{token}", in, s.linkAccept)
	s.teamRoutes(r)
	r.Get(set, owner, s.profile)
	r.Post(set, owner, s.profileSave)
	r.Get(set+"/members", owner, s.rules)
	r.Post(set+"/members", owner, s.rulesSave)
	r.Post(set+"/rename", owner, s.rename)
	r.Post(set+"/delete", owner, s.destroy)
	s.apiRoutes(r)
}

// invalid is the messages of a refused form; the error itself when it is
// another.
func invalid(err error) (fault.Fields, error) {
	if f := fault.From(err); err != nil && f.Kind == fault.Invalid {
		return f.Fields, nil
	}
	return nil, err
}
