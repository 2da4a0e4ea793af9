package pulls

import (
	"context"
	"log/slog"

	"github.com/gitfor/gitfor/app/diffs"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/highlight"
	"github.com/gitfor/gitfor/app/issues"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/signatures"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
)

// Deps are what pull requests are built on.
type Deps struct {
	DB      *db.DB
	Gate    *perms.Gate
	Repos   *repos.Service
	Threads *threads.Service
	Issues  *issues.Service
	Markup  *markup.Renderer
	// Signatures verifies commits.
	Signatures *signatures.Service
	// Colours keeps files that were coloured.
	Colours *highlight.Cache
	Log     *slog.Logger
}

// Service is pull requests.
type Service struct {
	Deps

	// Reviews is how reviews take part; set before the first request.
	Reviews ReviewPages

	lanes  lanes
	differ *diffs.Renderer
}

// New makes the service.
func New(deps Deps) *Service {
	return &Service{Deps: deps, differ: diffs.New(deps.Colours)}
}

// Place is who acts, where, and with which role.
type Place = threads.Place

// Find returns a pull request with its thread, if the viewer may see it.
func (s *Service) Find(ctx context.Context, p Place, number int64) (*model.Pull, error) {
	return find(ctx, s.DB.Repo(p.Repo.ID), p, number)
}

func find(ctx context.Context, repo db.Repo, p Place, number int64) (*model.Pull, error) {
	pull, err := pulldb.Find(ctx, repo, number)
	if err != nil {
		return nil, err
	}
	if pull.Issue == nil || !pull.Issue.VisibleTo(p.Viewer.ID(), p.Role) {
		return nil, db.ErrNotFound
	}
	return pull, nil
}

func (s *Service) open(ctx context.Context, repo *model.Repo) (*git.Repository, error) {
	return s.Repos.Open(ctx, repo)
}

func denied(sentence string) error { return fault.New(fault.Forbidden, sentence) }

func conflict(sentence string) error { return fault.New(fault.Conflict, sentence) }

// errOff says that a repository takes no pull requests.
func errOff() error {
	return fault.New(fault.Gone, "Pull requests are switched off in this repository.")
}
