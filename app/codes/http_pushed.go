package codes

import (
	"time"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
)

// pushedRecently is how long a pushed branch is offered for a pull request.
const pushedRecently = time.Hour

// pushed is the branch that the viewer pushed last, a while ago at most, and
// that has something the default branch lacks; nil when there is none.
func (s *Service) pushed(c *web.Ctx, p *place) *codeview.PushedBranch {
	if !c.Viewer.SignedIn() || !c.Role.AtLeast(model.RoleWrite) || p.repo.Archived() || p.repo.Settings.NoPulls {
		return nil
	}
	last, ok := s.Repos.LastPush(p.repo.ID, c.Viewer.ID())
	if !ok || last.Branch == p.repo.DefaultBranch || time.Since(last.At) > pushedRecently {
		return nil
	}
	ref, err := p.git.Ref(c.Context(), git.BranchPrefix+last.Branch)
	if err != nil || ref.OID == p.rev.Commit {
		return nil
	}
	if merged, err := p.git.IsAncestor(c.Context(), ref.OID, p.rev.Commit); err != nil || merged {
		return nil
	}
	return &codeview.PushedBranch{Name: git.Display(last.Branch), When: last.At,
		Compare: link.Compare(p.repo.Owner.Name, p.repo.Name, p.repo.DefaultBranch, last.Branch)}
}
