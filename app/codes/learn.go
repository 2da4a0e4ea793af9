package codes

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/highlight"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// Learn is the subscriber that keeps what the directory knows of a
// repository's files: its languages, licence and size. It looks at the default
// branch as it is now, so events out of order do no harm.
func (s *Service) Learn(ctx context.Context, e *model.Event) error {
	repo, err := repodb.ByIDAny(ctx, s.DB.Directory(), e.RepoID)
	if errors.Is(err, db.ErrNotFound) || err == nil && repo.DeletedAt != nil {
		return nil
	}
	if err != nil {
		return err
	}
	if !concerns(e, git.BranchPrefix+repo.DefaultBranch) {
		return nil
	}
	return s.LearnFiles(ctx, repo)
}

// concerns says whether a push may have moved the ref.
func concerns(e *model.Event, ref string) bool {
	var push repos.Pushed
	if e.Type != (repos.Pushed{}).EventType() || json.Unmarshal(e.Data, &push) != nil || push.RefsTotal > len(push.Refs) {
		return true
	}
	for _, r := range push.Refs {
		if r.Ref == ref {
			return true
		}
	}
	return false
}

// maxLearned is how many files are looked at.
const maxLearned = 200_000

// LearnFiles sums up the languages of the default branch and finds its
// licence.
func (s *Service) LearnFiles(ctx context.Context, repo *model.Repo) error {
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return err
	}
	rev, err := g.ResolveRef(ctx, git.BranchPrefix+repo.DefaultBranch)
	if errors.Is(err, git.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	languages, err := languagesOf(ctx, g, rev.Commit)
	if err != nil {
		return err
	}
	_, licence, err := s.findLicence(ctx, &place{repo: repo, git: g, rev: rev})
	if err != nil {
		return err
	}
	stats, err := g.Stats(ctx)
	if err != nil {
		return err
	}
	if maps.Equal(languages, repo.Languages) && licence == repo.Licence && stats.Bytes>>10 == repo.SizeKB {
		return nil
	}
	return repodb.Learn(ctx, s.DB.Directory(), repo.ID, languages, licence, stats.Bytes>>10)
}

// languagesOf is the bytes of each language below a commit; what others wrote
// or programs made does not count.
func languagesOf(ctx context.Context, g *git.Repository, commit git.OID) (map[string]int64, error) {
	tree, err := g.TreeOf(ctx, commit)
	if err != nil {
		return nil, err
	}
	sums, n := map[string]int64{}, 0
	err = g.WalkTree(ctx, tree, func(path string, e git.TreeEntry) error {
		if e.IsTree() || e.IsSubmodule() || e.IsSymlink() || highlight.Vendored(path) {
			return nil
		}
		if n++; n > maxLearned {
			return git.ErrStop
		}
		language := highlight.Language(e.Name)
		if !language.Counted() {
			return nil
		}
		info, err := g.Info(ctx, e.OID)
		if err != nil {
			return err
		}
		sums[language.Name] += info.Size
		return nil
	})
	for name, size := range sums {
		if size == 0 {
			delete(sums, name)
		}
	}
	return sums, err
}
