package protection

import (
	"context"
	"errors"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/protectdb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/statusdb"
)

// Move is one ref that somebody wants to move.
type Move struct {
	Ref      string
	Old, New git.OID
}

// Refuse returns for each of the moves why the rules forbid it, "" where they
// do not. g holds the objects that the moves bring.
func (s *Service) Refuse(ctx context.Context, g *git.Repository, repoID, account int64, role model.Role, moves []Move) ([]string, error) {
	out := make([]string, len(moves))
	handle := s.DB.Repo(repoID)
	rules, err := protectdb.List(ctx, handle)
	if err != nil || len(rules) == 0 {
		return out, err
	}
	for i, m := range moves {
		branch, ok := strings.CutPrefix(m.Ref, git.BranchPrefix)
		if !ok {
			continue
		}
		var mine []*model.BranchRule
		for _, r := range rules {
			if r.Matches(branch) {
				mine = append(mine, r)
			}
		}
		if p := model.Together(mine); p != nil {
			if out[i], err = s.refuse(ctx, g, handle, p, account, role, branch, m); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (s *Service) refuse(ctx context.Context, g *git.Repository, repo db.Repo, p *model.Protection, account int64, role model.Role, branch string, m Move) (string, error) {
	name := git.Display(branch)
	switch {
	case m.New.IsZero():
		if !p.AllowDelete {
			return name + " is protected: it cannot be deleted", nil
		}
		return "", nil
	case !p.MayPush(account, role):
		return name + " is protected: only certain people may push to it", nil
	}
	if !m.Old.IsZero() && !p.AllowForce {
		kept, err := g.IsAncestor(ctx, m.Old, m.New)
		if err != nil {
			return "", err
		}
		if !kept {
			return name + " is protected: its history cannot be rewritten", nil
		}
	}
	if p.Exempt(role) {
		return "", nil
	}
	if p.ByPull() && !m.Old.IsZero() {
		return name + " is protected: changes come by pull requests", nil
	}
	if p.Linear {
		merges, err := hasMerges(ctx, g, m)
		if err != nil || merges {
			return name + " is protected: it takes no merge commits", err
		}
	}
	if p.Signed && s.Signatures != nil {
		bad, err := s.unsigned(ctx, g, m)
		if err != nil {
			return "", err
		}
		if bad != "" {
			return name + " is protected: commit " + bad.Short() + " has no verified signature", nil
		}
	}
	if len(p.Checks) > 0 && !m.Old.IsZero() {
		missing, err := Missing(ctx, repo, p, m.New.String())
		if err != nil {
			return "", err
		}
		if len(missing) > 0 {
			return name + " is protected: " + strings.Join(missing, ", ") + " must succeed first", nil
		}
	}
	return "", nil
}

// unsigned is the first commit of a move without a verified signature, "" for
// none.
func (s *Service) unsigned(ctx context.Context, g *git.Repository, m Move) (git.OID, error) {
	log, err := brought(ctx, g, m)
	if err != nil {
		return "", err
	}
	return s.Signatures.AllVerified(ctx, g, log)
}

// brought are the commits that a move brings to its branch, at most 10,000.
func brought(ctx context.Context, g *git.Repository, m Move) ([]*git.Commit, error) {
	opts := git.LogOptions{Limit: 10_000}
	if !m.Old.IsZero() {
		opts.Exclude = []git.OID{m.Old}
	} else {
		refs, err := g.Branches(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range refs {
			opts.Exclude = append(opts.Exclude, r.OID)
		}
	}
	return g.Log(ctx, m.New, opts)
}

// hasMerges says whether a move brings commits with several parents.
func hasMerges(ctx context.Context, g *git.Repository, m Move) (bool, error) {
	log, err := brought(ctx, g, m)
	for _, c := range log {
		if c.IsMerge() {
			return true, err
		}
	}
	return false, err
}

// Missing are the checks that a rule asks for and that have not succeeded on
// a commit.
func Missing(ctx context.Context, repo db.Repo, p *model.Protection, sha string) ([]string, error) {
	all, err := statusdb.Latest(ctx, repo, "", sha)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range p.Checks {
		ok := false
		for _, st := range all[sha] {
			if st.Context == name {
				if ok = st.Outcome() == model.StatusSuccess; !ok {
					break
				}
			}
		}
		if !ok {
			out = append(out, name)
		}
	}
	return out, nil
}

// CheckMove is asked by writers of refs in this process, such as the editor
// and the API.
func (s *Service) CheckMove(ctx context.Context, g *git.Repository, p *repos.Push) error {
	if p.Actor == nil {
		return nil
	}
	_, role, err := repodb.FindID(ctx, s.DB.Directory(), p.Repo.ID, p.Actor.ID())
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	if p.Actor.DeployRepo != 0 {
		// A deploy token has its own right, not its maker's.
		role = model.RoleWrite
	}
	moves := make([]Move, len(p.Updates))
	for i, u := range p.Updates {
		moves[i] = Move{u.Name, u.Old, u.New}
	}
	why, err := s.Refuse(ctx, g, p.Repo.ID, p.Actor.ID(), role, moves)
	if err != nil {
		return err
	}
	for _, w := range why {
		if w != "" {
			return fault.New(fault.Forbidden, strings.ToUpper(w[:1])+w[1:]+".")
		}
	}
	return nil
}
