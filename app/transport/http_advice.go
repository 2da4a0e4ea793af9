package transport

import (
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// advice names the page for a pull request from a branch that was just made.
func (s *Service) advice(repo *model.Repo, moved []git.RefUpdate) []string {
	if len(moved) != 1 || repo.Settings.NoPulls || !moved[0].Old.IsZero() {
		return nil
	}
	branch, ok := strings.CutPrefix(moved[0].Name, git.BranchPrefix)
	if !ok || branch == repo.DefaultBranch {
		return nil
	}
	return []string{"", "Open a pull request for " + git.Display(branch) + ":",
		"  " + s.URL + link.Compare(repo.Owner.Name, repo.Name, repo.DefaultBranch, branch), ""}
}
