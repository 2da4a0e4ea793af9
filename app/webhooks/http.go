package webhooks

import (
	"log/slog"

	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/alarms"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/issues"
	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/app/outbound"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/reviews"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
)

// Deps are what the feature needs.
type Deps struct {
	DB      *db.DB
	Gate    *perms.Gate
	Kit     *web.Kit
	Ring    *secret.Ring
	Client  *outbound.Client
	Repos   *repos.Service
	Issues  *issues.Service
	Pulls   *pulls.Service
	Reviews *reviews.Service
	Mail    *mail.Service
	// Accounts has the frame of an organisation's settings.
	Accounts *accounts.Service
	Log      *slog.Logger
}

// Service keeps hooks and delivers to them.
type Service struct {
	Deps
	sender *Sender
	github map[string]GitHubPayload
}

// New makes the service and ties it to the log and the alarms.
func New(deps Deps, ev *events.Service, al *alarms.Service) *Service {
	s := &Service{Deps: deps, github: map[string]GitHubPayload{}}
	s.sender = newSender(s.attempt)
	s.githubOwn()
	s.githubThreads()
	s.githubPulls()
	s.githubReviews()
	ev.Subscribe(events.Subscriber{Service: "webhooks", Name: "webhooks.deliver", Handle: s.Deliver})
	for _, kind := range []db.Kind{db.RepoKind, db.AccountKind, alarms.InstanceKind} {
		al.Add(alarms.Task{Kind: kind, Name: "webhooks", Run: s.ring(kind)})
	}
	return s
}

// Sender is what sends; it runs as long as jobs do.
func (s *Service) Sender() *Sender { return s.sender }

// Routes registers the operations and pages of webhooks.
func (s *Service) Routes(r *web.Router) {
	s.apiRoutes(r)
	s.pageRoutes(r)
}
