package issues

import (
	"context"

	"github.com/gitfor/gitfor/app/attachments"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Deps are what issues are built on.
type Deps struct {
	DB      *db.DB
	Gate    *perms.Gate
	Threads *threads.Service
	Repos   *repos.Service
	// Attachments are copied when an issue moves to another repository.
	Attachments *attachments.Service
}

// Service is issues, labels and milestones.
type Service struct {
	Deps

	// Pulls shows pull requests; set before the first request.
	Pulls PullPages
	// AfterCopy, when set, runs between the two halves of a move: tests fail
	// it, or write meanwhile.
	AfterCopy func(ctx context.Context) error
}

// New makes the service.
func New(deps Deps) *Service { return &Service{Deps: deps} }

// Payloads are the events that issues publish.
func Payloads() []events.Payload {
	out := append(threads.Payloads(model.KindIssue), threads.CommentPayloads()...)
	for _, what := range []string{"created", "edited", "deleted"} {
		out = append(out, LabelEvent{Type: "label." + what}, MilestoneEvent{Type: "milestone." + what})
	}
	return append(out, MilestoneEvent{Type: "milestone.closed"}, MilestoneEvent{Type: "milestone.opened"})
}

// errOff says that a repository has no issues.
func errOff() error { return fault.New(fault.Gone, "Issues are disabled for this repo") }

func denied(sentence string) error { return fault.New(fault.Forbidden, sentence) }
