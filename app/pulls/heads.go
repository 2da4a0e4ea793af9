package pulls

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// Head is the branch that somebody proposes.
type Head struct {
	Repo   *model.Repo
	Role   model.Role // the viewer's there
	Branch string
	OID    git.OID
}

// Label is owner:branch.
func (h *Head) Label() string { return h.Repo.Owner.Name + ":" + h.Branch }

// FindHead finds the branch that spec names: "branch" of the place's
// repository, or "owner:branch" or "owner:repo:branch" of one in its network.
func (s *Service) FindHead(ctx context.Context, p Place, spec string) (*Head, error) {
	h := &Head{Repo: p.Repo, Role: p.Role, Branch: spec}
	// A branch's name has no colon (git-check-ref-format(1)).
	if owner, rest, ok := strings.Cut(spec, ":"); ok {
		name := ""
		if first, second, ok := strings.Cut(rest, ":"); ok {
			name, rest = first, second
		}
		h.Branch = rest
		var err error
		if h.Repo, h.Role, err = s.inNetwork(ctx, p, owner, name); err != nil {
			return nil, err
		}
	}
	if !utf8.ValidString(h.Branch) || h.Branch == "" {
		return nil, fault.Field("head", "Name the branch to merge.")
	}
	g, err := s.open(ctx, h.Repo)
	if err != nil {
		return nil, err
	}
	h.OID, err = tip(ctx, g, h.Branch)
	if errors.Is(err, git.ErrNotFound) {
		return nil, fault.Field("head", "There is no branch “"+git.Display(h.Branch)+"” in "+h.Repo.FullName()+".")
	}
	return h, err
}

// tip is the commit at the end of a branch.
func tip(ctx context.Context, g *git.Repository, branch string) (git.OID, error) {
	ref, err := g.Ref(ctx, git.BranchPrefix+branch)
	return ref.OID, err
}

// inNetwork finds the repository of owner that has a common origin with the
// place's one, and that the viewer may read.
func (s *Service) inNetwork(ctx context.Context, p Place, owner, name string) (*model.Repo, model.Role, error) {
	if model.Key(owner) == model.Key(p.Repo.Owner.Name) && (name == "" || model.Key(name) == p.Repo.NameKey) {
		return p.Repo, p.Role, nil
	}
	missing := fault.Field("head", owner+" has no fork of "+p.Repo.FullName()+".")
	if name == "" {
		fork, err := repodb.InNetwork(ctx, s.DB.Directory(), p.Repo, owner)
		if errors.Is(err, db.ErrNotFound) {
			return nil, "", missing
		}
		if err != nil {
			return nil, "", err
		}
		name = fork.Name
	}
	repo, role, err := repodb.Find(ctx, s.DB.Directory(), owner, name, p.Viewer.ID())
	if errors.Is(err, db.ErrNotFound) || err == nil &&
		(!p.Viewer.Reaches(repo.ID, repo.IsPrivate(), false) || network(repo) != network(p.Repo)) {
		return nil, "", missing
	}
	return repo, role, err
}

// network is the id of the repository that all forks of one come from.
func network(r *model.Repo) int64 {
	switch {
	case r.RootID != 0:
		return r.RootID
	case r.ForkOf != 0:
		return r.ForkOf
	}
	return r.ID
}

// headRepo is the repository of a pull request's head with the viewer's role
// there, nil when it is gone or the viewer may not see it.
func (s *Service) headRepo(ctx context.Context, p Place, pull *model.Pull) (*model.Repo, model.Role, error) {
	if pull.HeadRepo == p.Repo.ID {
		return p.Repo, p.Role, nil
	}
	if pull.HeadRepo == 0 {
		return nil, "", nil
	}
	repo, role, err := repodb.FindID(ctx, s.DB.Directory(), pull.HeadRepo, p.Viewer.ID())
	if errors.Is(err, db.ErrNotFound) {
		return nil, "", nil
	}
	return repo, role, err
}
