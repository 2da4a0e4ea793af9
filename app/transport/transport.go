package transport

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/git/protocol"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// PushRule decides about pushes while their objects are in quarantine. It
// rejects single refs, or returns a *protocol.Refusal for all of them.
type PushRule interface {
	CheckPush(ctx context.Context, p *Incoming) error
}

// Incoming is a push that rules decide about.
type Incoming struct {
	*protocol.Push
	Target *model.Repo
	Viewer *model.Viewer
	Role   model.Role
}

// Deps are what the service needs.
type Deps struct {
	DB    *db.DB
	Gate  *perms.Gate
	Repos *repos.Service
	// Folder holds the host keys, quarantines and the pack cache; it is on
	// the file system of the repositories.
	Folder string
	// URL is the public address.
	URL string
	// SSHKey finds who a public key of this fingerprint (SHA256:…) belongs
	// to; a fault or db.ErrNotFound when nobody.
	SSHKey func(ctx context.Context, fingerprint string) (*model.Viewer, error)
	// LFS answers git-lfs-authenticate for who may read the repository, or
	// write to it.
	LFS func(viewer *model.Viewer, repo *model.Repo) ([]byte, error)
	// Rules are asked about each push, in order.
	Rules []PushRule
	// FailPoint is called at the steps of a push; tests stop the process
	// there.
	FailPoint func(name string)
	Log       *slog.Logger
}

// Service serves git's clients.
type Service struct {
	Deps

	http    protocol.HTTP
	cache   *protocol.PackCache
	nothing *git.Repository
}

// Bounds of the service: packs are computed by as many processes as keep the
// processors busy; equal fetches share one.
const (
	cacheBytes = 2 << 30
	cacheAge   = 10 * time.Minute
	waitForPut = 30 * time.Second
)

// New makes the service and its folders.
func New(ctx context.Context, deps Deps) (*Service, error) {
	s := &Service{Deps: deps}
	quarantine := filepath.Join(deps.Folder, "quarantine")
	for _, dir := range []string{quarantine, filepath.Join(deps.Folder, "packs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("git folder: %w", err)
		}
	}
	var err error
	if s.cache, err = protocol.NewPackCache(filepath.Join(deps.Folder, "packs"), cacheBytes, cacheAge); err != nil {
		return nil, err
	}
	busy := max(4, 2*runtime.NumCPU())
	s.http.Upload = &protocol.UploadPack{Cache: s.cache,
		Gate: &protocol.Gate{Total: 2 * busy, PerRepository: busy, PerClient: busy, Wait: waitForPut}}
	s.http.Receive = &protocol.ReceivePack{Quarantine: quarantine, Agent: "gitfor", FailPoint: deps.FailPoint,
		Gate: &protocol.Gate{Total: 4 * busy, PerRepository: 2 * busy, PerClient: busy, Wait: waitForPut}}
	if err := s.http.Receive.CleanQuarantine(); err != nil {
		return nil, err
	}
	return s, s.makeNothing(ctx)
}

// makeNothing makes the empty repository that is advertised to who pushes to
// one that does not exist yet.
func (s *Service) makeNothing(ctx context.Context) error {
	store, err := git.NewStore(filepath.Join(s.Folder, "nothing"), git.StoreOptions{OpenRepositories: 1})
	if err != nil {
		return err
	}
	if !store.Exists(1) {
		s.nothing, err = store.Init(ctx, 1, "main")
		return err
	}
	s.nothing, err = store.Open(ctx, 1)
	return err
}

// target is what of a repository git's clients see who push: the refs of pull
// requests are the server's to move.
func (s *Service) target(g *git.Repository) protocol.Target {
	return protocol.Target{Repo: g, Hide: []string{"refs/pull/", "refs/mirror/"}}
}

// reading is what they see who fetch: the heads of pull requests too.
func (s *Service) reading(g *git.Repository) protocol.Target { return protocol.Target{Repo: g} }

// request is a push of viewer into repo.
func (s *Service) request(g *git.Repository, repo *model.Repo, viewer *model.Viewer, role model.Role) protocol.ReceiveRequest {
	who := s.Repos.Person(viewer)
	push := &repos.Push{Repo: repo, Actor: viewer, Via: "git"}
	return protocol.ReceiveRequest{
		Target:   s.target(g),
		Client:   fmt.Sprintf("account-%d", viewer.ID()),
		Identity: protocol.Identity{Name: who.Name, Email: who.Email},
		Hooks: protocol.Hooks{
			Check: func(ctx context.Context, p *protocol.Push) error {
				in := &Incoming{p, repo, viewer, role}
				for _, rule := range s.Rules {
					if err := rule.CheckPush(ctx, in); err != nil {
						return err
					}
				}
				return nil
			},
			Prepare: func(ctx context.Context, p *protocol.Push) error {
				push.Options = p.Options
				for _, c := range p.Pending() {
					push.Updates = append(push.Updates, git.RefUpdate{Name: c.Ref, Old: c.Old, New: c.New})
				}
				return s.Repos.BeginPush(ctx, push)
			},
			Done: func(ctx context.Context, _ *protocol.Push, results []protocol.Result) ([]string, error) {
				return s.done(ctx, push, results)
			},
		},
	}
}

// done publishes what moved and tells who pushed what can be done next.
func (s *Service) done(ctx context.Context, push *repos.Push, results []protocol.Result) ([]string, error) {
	var moved []git.RefUpdate
	for _, r := range results {
		if r.OK {
			moved = append(moved, git.RefUpdate{Name: r.Ref, Old: r.Old, New: r.New})
		}
	}
	if err := s.Repos.FinishPush(ctx, push, moved); err != nil {
		return nil, err
	}
	if err := s.Repos.AdoptBranch(ctx, push.Repo, moved); err != nil {
		return nil, err
	}
	return s.advice(push.Repo, moved), nil
}

// Stop ends what the service keeps.
func (s *Service) Stop(context.Context) error { return s.cache.Close() }
