package repos

import (
	"context"
	"errors"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/model"
)

// checkBranch refuses a default branch that the repository does not have.
func (s *Service) checkBranch(ctx context.Context, repo *model.Repo, name string) error {
	g, err := s.Open(ctx, repo)
	if err != nil {
		return err
	}
	if _, err := g.Ref(ctx, "refs/heads/"+name); err != nil {
		if errors.Is(err, git.ErrNotFound) {
			return fault.Field("default_branch", "There is no branch “"+git.Display(name)+"”.")
		}
		return err
	}
	return nil
}

// pointHead makes the repository's HEAD follow its default branch.
func (s *Service) pointHead(ctx context.Context, repo *model.Repo) error {
	g, err := s.Open(ctx, repo)
	if err != nil {
		return err
	}
	return g.SetHead(ctx, repo.DefaultBranch)
}

// commitFiles makes a commit of files on an empty default branch.
func (s *Service) commitFiles(ctx context.Context, viewer *model.Viewer, repo *model.Repo, files map[string]string, message string) error {
	g, err := s.Open(ctx, repo)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	var changes []git.Change
	for _, name := range names {
		oid, err := g.WriteBlob(ctx, strings.NewReader(files[name]))
		if err != nil {
			return err
		}
		changes = append(changes, git.Change{Path: name, Mode: git.ModeFile, OID: oid})
	}
	tree, err := g.EditTree(ctx, g.EmptyTree(), changes)
	if err != nil {
		return err
	}
	who := s.Person(viewer)
	commit, err := g.CommitTree(ctx, git.CommitSpec{Tree: tree, Author: who, Committer: who, Message: message + "\n", Sign: s.Sign})
	if err != nil {
		return err
	}
	return s.MoveRefs(ctx, g, &Push{Repo: repo, Actor: viewer, Via: "web",
		Updates: []git.RefUpdate{{Name: "refs/heads/" + repo.DefaultBranch, Old: g.ZeroOID(), New: commit}}})
}

// AdoptBranch makes the first branch that is pushed to a repository its
// default when the one it was made with does not exist.
func (s *Service) AdoptBranch(ctx context.Context, repo *model.Repo, moved []git.RefUpdate) error {
	first := ""
	for _, u := range moved {
		if name, ok := branchOf(u.Name); ok && !u.New.IsZero() {
			if name == repo.DefaultBranch {
				return nil
			}
			if first == "" || name == "master" {
				first = name
			}
		}
	}
	if first == "" {
		return nil
	}
	g, err := s.Open(ctx, repo)
	if err != nil {
		return err
	}
	if _, err := g.Ref(ctx, git.BranchPrefix+repo.DefaultBranch); !errors.Is(err, git.ErrNotFound) {
		return err
	}
	if !utf8.ValidString(first) {
		return nil
	}
	return s.Edit(ctx, nil, repo, EditInput{DefaultBranch: &first})
}
