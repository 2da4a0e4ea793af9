package releases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/releasedb"
	"github.com/gitfor/gitfor/db/repodb"
)

// commitOf returns what the tag leads to, or where it does not exist what the
// target does; exists says which.
func (s *Service) commitOf(ctx context.Context, g *git.Repository, repo *model.Repo, tag, target string) (oid git.OID, exists bool, err error) {
	_, err = g.Ref(ctx, git.TagPrefix+tag)
	switch {
	case err == nil:
		rev, err := g.ResolveRef(ctx, git.TagPrefix+tag)
		if err == nil && rev.Commit == "" {
			err = fault.Field("tag_name", "The tag "+tag+" leads to no commit.")
		}
		return rev.Commit, true, err
	case !errors.Is(err, git.ErrNotFound):
		return "", false, err
	}
	name := target
	if name == "" {
		name = repo.DefaultBranch
	}
	rev, err := g.ResolveRef(ctx, name)
	switch {
	case errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrAmbiguous) || err == nil && rev.Commit == "":
		return "", false, fault.Field("target_commitish", "There is no branch or commit “"+git.Display(name)+"”, so the tag cannot be made.")
	case err != nil:
		return "", false, err
	}
	return rev.Commit, false, nil
}

// ready makes sure that the tag of a release that is no draft exists, and
// notes what it leads to.
func (s *Service) ready(ctx context.Context, viewer *model.Viewer, repo *model.Repo, r *model.Release) error {
	if r.Draft {
		return nil
	}
	other, err := releasedb.ByTag(ctx, s.DB.Repo(repo.ID), r.Tag)
	if err == nil && other.ID != r.ID {
		return taken(r.Tag)
	}
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return err
	}
	oid, exists, err := s.commitOf(ctx, g, repo, r.Tag, r.Target)
	if err != nil {
		return err
	}
	r.CommitSHA = oid.String()
	if exists {
		return nil
	}
	err = s.Repos.MoveRefs(ctx, g, &repos.Push{Repo: repo, Actor: viewer, Via: "web",
		Updates: []git.RefUpdate{{Name: git.TagPrefix + r.Tag, Old: g.ZeroOID(), New: oid}}})
	var bad *git.RefError
	if errors.As(err, &bad) {
		return fault.Field("tag_name", "The tag cannot be made: it clashes with another tag, or somebody is making it just now.")
	}
	return err
}

// OnPush follows what pushes do to tags: a release whose tag is deleted
// becomes a draft, and one whose tag moves says so. It may be called twice
// for an event.
func (s *Service) OnPush(ctx context.Context, e *model.Event) error {
	var push repos.Pushed
	if err := json.Unmarshal(e.Data, &push); err != nil {
		return fmt.Errorf("event %s: %w", e.EventID, err)
	}
	var tags []string
	for _, ref := range push.Refs {
		if tag, ok := strings.CutPrefix(ref.Ref, git.TagPrefix); ok && !ref.Created {
			tags = append(tags, tag)
		}
	}
	if len(tags) == 0 {
		return nil
	}
	found, err := releasedb.ByTags(ctx, s.DB.Repo(e.RepoID), tags)
	if err != nil || len(found) == 0 {
		return err
	}
	repo, _, err := repodb.FindID(ctx, s.DB.Directory(), e.RepoID, e.ActorID)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	actor, err := accountdb.ByID(ctx, s.DB.Directory(), e.ActorID)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return err
	}
	for tag, r := range found {
		if err := s.follow(ctx, g, &model.Viewer{Account: actor}, repo, tag, r.ID); err != nil {
			return err
		}
	}
	return nil
}

// follow brings one release to what its tag is now.
func (s *Service) follow(ctx context.Context, g *git.Repository, viewer *model.Viewer, repo *model.Repo, tag string, id int64) error {
	commit := ""
	rev, err := g.ResolveRef(ctx, git.TagPrefix+tag)
	switch {
	case err == nil:
		commit = rev.Commit.String()
	case !errors.Is(err, git.ErrNotFound):
		return err
	}
	return s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		r, err := releasedb.Find(ctx, tx.Repo, id)
		if errors.Is(err, db.ErrNotFound) {
			return nil
		}
		if err != nil || r.Draft || r.CommitSHA == commit {
			return err
		}
		r.CommitSHA = commit
		what := "edited"
		if commit == "" {
			r.Draft, r.PublishedAt, r.Latest, what = true, nil, model.MaybeLatest, "unpublished"
			tx.Count(counter, -1)
		}
		r.Version++
		if err := releasedb.Update(ctx, tx, r); err != nil {
			return err
		}
		return emit(ctx, tx, viewer, repo, eventOf(r, what))
	})
}

// Refuse says for each move of a ref why it is refused, "" where it is not:
// the tag of an immutable release stays what it is.
func (s *Service) Refuse(ctx context.Context, repoID int64, moves []git.RefUpdate) ([]string, error) {
	out := make([]string, len(moves))
	var tags []string
	for _, m := range moves {
		if tag, ok := strings.CutPrefix(m.Name, git.TagPrefix); ok && m.Old != "" && !m.Old.IsZero() {
			tags = append(tags, tag)
		}
	}
	if len(tags) == 0 {
		return out, nil
	}
	found, err := releasedb.ByTags(ctx, s.DB.Repo(repoID), tags)
	if err != nil {
		return nil, err
	}
	for i, m := range moves {
		if r := found[strings.TrimPrefix(m.Name, git.TagPrefix)]; r != nil && r.Immutable && strings.HasPrefix(m.Name, git.TagPrefix) {
			out[i] = "the tag " + r.Tag + " belongs to an immutable release"
		}
	}
	return out, nil
}

// Guard is Refuse for writers of refs in this process.
func (s *Service) Guard(ctx context.Context, _ *git.Repository, p *repos.Push) error {
	why, err := s.Refuse(ctx, p.Repo.ID, p.Updates)
	if err != nil {
		return err
	}
	for _, w := range why {
		if w != "" {
			return denied(strings.ToUpper(w[:1]) + w[1:] + ", so it stays as it is.")
		}
	}
	return nil
}
