package codes

import (
	"context"
	"errors"
	"log/slog"

	"github.com/gitfor/gitfor/app/diffs"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/highlight"
	"github.com/gitfor/gitfor/app/highlight/lru"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/signatures"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Deps are what the service needs.
type Deps struct {
	DB     *db.DB
	Gate   *perms.Gate
	Repos  *repos.Service
	Markup *markup.Renderer
	// ContentURL is the origin of raw user content, "" for none.
	ContentURL string
	// PullForm, when set, is shown on comparisons.
	PullForm PullForm
	// Protected, when set, says whether a rule guards a branch.
	Protected func(ctx context.Context, repo *model.Repo, branch string) bool
	// Large, when set, finds what a file in large file storage stands for;
	// nil when data is no pointer.
	Large func(ctx context.Context, viewer *model.Viewer, repo *model.Repo, data []byte) (*LargeFile, error)
	// LockedBy, when set, names who alone may change a file.
	LockedBy func(ctx context.Context, repo *model.Repo, path string) (string, error)
	// Signatures verifies commits and tags.
	Signatures *signatures.Service
	// Sign, when set, signs the commits that are made here.
	Sign func(payload []byte) (string, error)
	Log  *slog.Logger
}

// Service shows code.
type Service struct {
	Deps

	colours *highlight.Cache
	differ  *diffs.Renderer
	files   *lru.Cache[git.OID, fileNames]
	costly  *budget
	// finding bounds how many folders have their last commits found beside
	// the page.
	finding chan struct{}
}

// Bounds of what is kept in memory.
const (
	colourBytes = 64 << 20
	namesBytes  = 32 << 20
)

// New makes the service.
func New(deps Deps) *Service {
	colours := highlight.NewCache(colourBytes)
	return &Service{Deps: deps, colours: colours, differ: diffs.New(colours),
		files: lru.New[git.OID, fileNames](namesBytes), costly: newBudget(), finding: make(chan struct{}, 2)}
}

// Colours are the files that were coloured lately.
func (s *Service) Colours() *highlight.Cache { return s.colours }

// place is a revision of a repository and a path in it.
type place struct {
	repo *model.Repo
	git  *git.Repository
	rev  git.Revision
	path string
}

// ref is the revision as addresses name it.
func (p *place) ref() string { return p.rev.Name }

// errEmpty says that a repository has no commit yet.
var errEmpty = errors.New("repository is empty")

// at resolves the part of an address after tree/, blob/ and the like: the
// longest existing ref, then a path. "" is the default branch.
func (s *Service) at(ctx context.Context, repo *model.Repo, address string) (*place, error) {
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return nil, err
	}
	p := &place{repo: repo, git: g}
	if address == "" {
		p.rev, err = g.ResolveRef(ctx, repo.DefaultBranch)
		if errors.Is(err, git.ErrNotFound) {
			return p, s.emptyOr(ctx, g, "branch “"+repo.DefaultBranch+"”")
		}
		return p, err
	}
	p.rev, p.path, err = g.SplitRefPath(ctx, address)
	if errors.Is(err, git.ErrNotFound) {
		return p, s.emptyOr(ctx, g, "branch, tag or commit of this name")
	}
	if err == nil && p.rev.Commit == "" {
		return p, fault.New(fault.NotFound, "That tag does not lead to a commit.")
	}
	return p, err
}

// emptyOr is errEmpty for a repository without branches, else that there is
// no such thing.
func (s *Service) emptyOr(ctx context.Context, g *git.Repository, what string) error {
	branches, err := g.Branches(ctx)
	if err != nil {
		return err
	}
	if len(branches) == 0 {
		return errEmpty
	}
	return fault.New(fault.NotFound, "There is no "+what+" here.")
}

// lost turns git's not found into a page that does not exist.
func lost(err error) error {
	if errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrWrongType) || errors.Is(err, git.ErrAmbiguous) {
		return fault.Wrap(fault.NotFound, "There is no such file or folder at this revision.", err)
	}
	return err
}
