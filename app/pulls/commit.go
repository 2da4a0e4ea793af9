package pulls

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// HeadCommit is a commit that somebody makes on a pull request's branch in the
// browser.
type HeadCommit struct {
	// Head is what the branch must be at.
	Head    string
	Message string
	// Parents are further parents; they and what they need are copied into the
	// head's repository.
	Parents []git.OID
	// Tree makes the tree of the commit from what the branch is at.
	Tree func(ctx context.Context, g *git.Repository, head git.OID) (git.OID, error)
}

// MayPush says whether the viewer may write the head's branch, as far as that
// is known without a look at other repositories.
func MayPush(p Place, pull *model.Pull) bool {
	if !p.Viewer.SignedIn() || p.Repo.Archived() || !pull.Issue.Open() || pull.HeadRepo == 0 {
		return false
	}
	if pull.HeadRepo == p.Repo.ID {
		return p.Role.AtLeast(model.RoleWrite)
	}
	return p.Viewer.ID() == pull.Issue.AuthorID || pull.MaintainerEdits && p.Role.AtLeast(model.RoleWrite)
}

// CommitToHead makes a commit on the head's branch; the pull request knows of
// it when it returns.
func (s *Service) CommitToHead(ctx context.Context, p Place, number int64, in HeadCommit) (string, error) {
	pull, err := s.Find(ctx, p, number)
	if err != nil {
		return "", err
	}
	if !pull.Issue.Open() {
		return "", conflict("The pull request is closed.")
	}
	repo, hg, err := s.headPlace(ctx, p, pull)
	if err != nil {
		return "", err
	}
	leave, err := s.lanes.enter(ctx, lane{repo.ID, pull.HeadRef})
	if err != nil {
		return "", err
	}
	defer leave()
	head, err := tip(ctx, hg, pull.HeadRef)
	if errors.Is(err, git.ErrNotFound) {
		return "", conflict("The branch does not exist any more.")
	}
	if err != nil {
		return "", err
	}
	if head != git.OID(in.Head) {
		return "", conflict("New commits have arrived on the branch. Look at them and try again.")
	}
	for _, parent := range in.Parents {
		if err := s.bring(ctx, hg, repo, p.Repo, parent); err != nil {
			return "", err
		}
	}
	tree, err := in.Tree(ctx, hg, head)
	if err != nil {
		return "", err
	}
	who := s.Repos.Person(p.Viewer)
	made, err := hg.CommitTree(ctx, git.CommitSpec{Tree: tree, Parents: append([]git.OID{head}, in.Parents...), Author: who, Committer: who, Message: in.Message, Sign: s.Repos.Sign})
	if err != nil {
		return "", err
	}
	err = s.Repos.MoveRefs(ctx, hg, &repos.Push{Repo: repo, Actor: p.Viewer, Via: "web",
		Updates: []git.RefUpdate{{Name: git.BranchPrefix + pull.HeadRef, Old: head, New: made}}})
	if retriable(err) {
		return "", conflict("New commits have arrived on the branch. Look at them and try again.")
	}
	if err != nil {
		return "", err
	}
	return made.String(), s.caughtUp(context.WithoutCancel(ctx), p, number)
}

// CoAuthors are the lines that credit accounts in a commit's message.
func (s *Service) CoAuthors(ctx context.Context, ids []int64) (string, error) {
	var lines []string
	for _, id := range ids {
		account, err := accountdb.ByID(ctx, s.DB.Directory(), id)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return "", err
		}
		user, err := accountdb.User(ctx, s.DB.Directory(), id)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return "", err
		}
		who := s.Repos.Person(&model.Viewer{Account: account, User: user})
		who.When = time.Time{}
		lines = append(lines, "Co-authored-by: "+who.Name+" <"+who.Email+">")
	}
	return strings.Join(lines, "\n"), nil
}
