package repos

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/instance"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/google/uuid"
)

// Deps are what the service needs.
type Deps struct {
	DB   *db.DB
	Gate *perms.Gate
	// Instance knows how long what was deleted is kept.
	Instance *instance.Service
	Git      *git.Store
	// Pools holds, by the id of the repository that all forks of a network
	// come from, what they borrow.
	Pools *git.Store
	Log   *slog.Logger
	// SSHHost and SSHPort are shown in clone addresses; port 0 hides SSH.
	SSHHost string
	SSHPort int
	// URL is the public address.
	URL string
	// Alone says that no other process serves the same data.
	Alone bool
}

// Service changes repositories.
type Service struct {
	Deps
	// Tabs are the keys of the repository tabs that features add (see
	// layout.RepoTabs), and Sections the pages of the settings. Features are
	// named here before the instance serves.
	Tabs     []string
	Sections []SettingsSection
	// Lent, when set, is told of the network whose pool got objects.
	Lent func(ctx context.Context, root int64) error
	// Sign, when set, signs the commits that are made here for people.
	Sign func(payload []byte) (string, error)
	// Files, when set, is asked about the files that MoveRefs brings.
	Files func(ctx context.Context, g *git.Repository, p *Push) error
	// Guard, when set, is asked before MoveRefs moves refs.
	Guard func(ctx context.Context, g *git.Repository, p *Push) error
	// Locks, when set, is asked too, about moves that were judged by the
	// rules of branches already as well.
	Locks func(ctx context.Context, g *git.Repository, p *Push) error

	node   string
	pushes lastPushes
	moving sync.Map // ids of the pushes whose refs this process moves now
}

// New makes the service.
func New(deps Deps) *Service { return &Service{Deps: deps, node: uuid.NewString()} }

// Open opens the repository's git folder, making an empty one where it has
// none yet.
func (s *Service) Open(ctx context.Context, repo *model.Repo) (*git.Repository, error) {
	g, err := s.Git.Open(ctx, repo.ID)
	if errors.Is(err, git.ErrNoRepository) {
		return s.Git.Init(ctx, repo.ID, repo.DefaultBranch)
	}
	return g, err
}

// CloneURLs are the addresses by which the repository is cloned.
type CloneURLs struct{ HTTPS, SSH string }

// CloneURLs returns the addresses under base, the public address; SSH is ""
// where it is off.
func (s *Service) CloneURLs(base string, repo *model.Repo) CloneURLs {
	urls := CloneURLs{HTTPS: base + "/" + repo.FullName() + ".git"}
	switch s.SSHPort {
	case 0:
	case 22:
		urls.SSH = "git@" + s.SSHHost + ":" + repo.FullName() + ".git"
	default:
		urls.SSH = "ssh://git@" + s.SSHHost + ":" + strconv.Itoa(s.SSHPort) + "/" + repo.FullName() + ".git"
	}
	return urls
}

// mayCreate finds the account owner and checks that the viewer may make
// repositories there.
func (s *Service) mayCreate(ctx context.Context, viewer *model.Viewer, owner string) (*model.Account, error) {
	if !viewer.SignedIn() || viewer.DeployRepo != 0 {
		return nil, fault.New(fault.Unauthorized, "Sign in to create a repository.")
	}
	if model.Key(owner) == viewer.Account.NameKey {
		return viewer.Account, nil
	}
	account, err := accountdb.ByName(ctx, s.DB.Directory(), owner)
	if err != nil {
		return nil, err
	}
	if account.IsUser() {
		return nil, fault.New(fault.Forbidden, "You can create repositories in your own account and in organisations that you belong to, not in "+account.Name+".")
	}
	role, err := accountdb.OrgRole(ctx, s.DB.Directory(), account.ID, viewer.ID())
	if err != nil {
		return nil, err
	}
	if role == "" {
		return nil, fault.New(fault.Forbidden, "You are not a member of "+account.Name+".")
	}
	if role != "owner" && !account.MembersCreate() {
		return nil, fault.New(fault.Forbidden, "Only owners of "+account.Name+" create repositories there.")
	}
	return account, nil
}

// facts is what events tell of the repository.
func facts(r *model.Repo) Facts {
	return Facts{Name: r.Name, FullName: r.FullName(), Private: r.IsPrivate(), DefaultBranch: r.DefaultBranch,
		Description: r.Description, ForkOf: r.ForkOf}
}
