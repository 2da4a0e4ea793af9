package releases

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/attachdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/releasedb"
)

// Input is a release as it shall be; nil fields stay as they are.
type Input struct {
	Tag, Target, Name, Body *string
	Draft, Prerelease       *bool
	// Latest is true, false or legacy (by version and age), "" to leave it.
	Latest string
	// Notes adds notes that are made of the merged pull requests, and a name
	// where there is none.
	Notes bool
	// Version is that which the editor started from; nil writes whatever is
	// there.
	Version *int
}

// Limits in characters.
const (
	maxName = 256
	maxBody = 125_000
	maxTag  = 250
)

func (in *Input) validate() error {
	fields := fault.Fields{}
	if in.Tag != nil {
		tag := strings.TrimSpace(*in.Tag)
		in.Tag = &tag
		switch {
		case tag == "":
			fields.Add("tag_name", "Name a tag, such as v1.0.0.")
		case len(tag) > maxTag || !utf8.ValidString(tag) || !git.ValidTagName(tag):
			fields.Add("tag_name", "A tag cannot have this name. Use letters, digits, dots and hyphens.")
		}
	}
	if in.Target != nil && (len(*in.Target) > maxTag || !utf8.ValidString(*in.Target)) {
		fields.Add("target_commitish", "Name a branch or a commit.")
	}
	if in.Name != nil && strings.TrimSpace(*in.Name) != "" {
		name, problem := threads.TitleOf(*in.Name)
		in.Name = &name
		fields.Add("name", problem)
	}
	if in.Body != nil {
		body := strings.ReplaceAll(*in.Body, "\r\n", "\n")
		in.Body = &body
		switch {
		case !utf8.ValidString(body) || strings.ContainsRune(body, 0):
			fields.Add("body", "This is not text in UTF-8.")
		case utf8.RuneCountInString(body) > maxBody:
			fields.Add("body", "The notes are too long: at most 125,000 characters.")
		}
	}
	if in.Latest != "" && in.Latest != "true" && in.Latest != "false" && in.Latest != "legacy" {
		fields.Add("make_latest", "This is true, false or legacy.")
	}
	return fields.Err()
}

// apply writes the input into a release.
func (in *Input) apply(r *model.Release) {
	set(&r.Tag, in.Tag)
	set(&r.Target, in.Target)
	set(&r.Name, in.Name)
	set(&r.Body, in.Body)
	set(&r.Draft, in.Draft)
	set(&r.Prerelease, in.Prerelease)
}

func set[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}

// Create makes a release. Unless it is a draft its tag is made where there is
// none: the tag comes first, so that nothing is published without it.
func (s *Service) Create(ctx context.Context, viewer *model.Viewer, repo *model.Repo, in Input) (*model.Release, error) {
	if in.Tag == nil {
		in.Tag = new(string)
	}
	if err := in.validate(); err != nil {
		return nil, err
	}
	r := &model.Release{AuthorID: viewer.ID()}
	in.apply(r)
	if err := s.annotate(ctx, repo, r, in.Notes); err != nil {
		return nil, err
	}
	if err := s.ready(ctx, viewer, repo, r); err != nil {
		return nil, err
	}
	err := s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		r.PublishedAt, r.Immutable, r.Latest = nil, false, model.MaybeLatest
		if err := s.free(ctx, tx, r); err != nil {
			return err
		}
		publish(tx, repo, r)
		if err := rank(ctx, tx, r, in.Latest); err != nil {
			return err
		}
		if err := releasedb.Insert(ctx, tx, r); err != nil {
			return err
		}
		if err := mark(ctx, tx, r); err != nil {
			return err
		}
		if err := attachdb.Bind(ctx, tx, attachdb.Everyone, r.Body); err != nil {
			return err
		}
		tx.Count(counter, counted(r))
		if err := emit(ctx, tx, viewer, repo, eventOf(r, "created")); err != nil || r.Draft {
			return err
		}
		return emit(ctx, tx, viewer, repo, eventOf(r, "published"))
	})
	return r, err
}

// annotate adds notes where they are asked for.
func (s *Service) annotate(ctx context.Context, repo *model.Repo, r *model.Release, notes bool) error {
	if !notes {
		return nil
	}
	made, err := s.Notes(ctx, repo, NotesInput{Tag: r.Tag, Target: r.Target, Release: r.ID})
	if err != nil {
		return err
	}
	if r.Name == "" {
		r.Name = made.Name
	}
	r.Body = strings.TrimSpace(strings.TrimSpace(r.Body) + "\n\n" + made.Body)
	return nil
}

// publish turns a release that is no draft into a published one, where it is
// none yet.
func publish(tx *db.RepoTx, repo *model.Repo, r *model.Release) {
	if r.Draft || r.PublishedAt != nil {
		return
	}
	now := tx.Now()
	r.PublishedAt, r.Immutable = &now, repo.Settings.ImmutableReleases
}

// free says that no other release has the tag.
func (s *Service) free(ctx context.Context, tx *db.RepoTx, r *model.Release) error {
	if r.Draft {
		return nil
	}
	other, err := releasedb.ByTag(ctx, tx.Repo, r.Tag)
	if errors.Is(err, db.ErrNotFound) || err == nil && other.ID == r.ID {
		return nil
	}
	if err == nil {
		err = taken(r.Tag)
	}
	return err
}

func taken(tag string) error {
	return fault.Field("tag_name", "There is a release of the tag "+tag+" already.")
}

// conflict says that somebody else has changed the release meanwhile.
func conflict() error {
	return fault.New(fault.Conflict, "Somebody else has changed this release since you began to edit it. Nothing of yours was saved yet.")
}

// Edit changes a release, and publishes a draft when it is none any more.
func (s *Service) Edit(ctx context.Context, viewer *model.Viewer, repo *model.Repo, id int64, in Input) (*model.Release, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	before, err := releasedb.Find(ctx, s.DB.Repo(repo.ID), id)
	if err != nil {
		return nil, err
	}
	if in.Version != nil && *in.Version != before.Version {
		return nil, conflict()
	}
	want := *before
	in.apply(&want)
	if err := lasting(before, &want); err != nil {
		return nil, err
	}
	if err := s.annotate(ctx, repo, &want, in.Notes); err != nil {
		return nil, err
	}
	if err := s.ready(ctx, viewer, repo, &want); err != nil {
		return nil, err
	}
	var r *model.Release
	err = s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		now, err := releasedb.Find(ctx, tx.Repo, id)
		if err != nil {
			return err
		}
		if now.Version != before.Version {
			return conflict()
		}
		next := want
		r = &next
		return s.rewrite(ctx, tx, viewer, repo, now, r, in.Latest)
	})
	if err != nil {
		return nil, err
	}
	return s.with(ctx, repo, r, nil)
}

// lasting refuses what an immutable release keeps for good.
func lasting(old, now *model.Release) error {
	if !old.Immutable {
		return nil
	}
	switch {
	case old.Tag != now.Tag:
		return fault.Field("tag_name", "This release is immutable, so its tag stays.")
	case now.Draft:
		return fault.Field("draft", "This release is immutable, so it stays published.")
	}
	return nil
}

func (s *Service) rewrite(ctx context.Context, tx *db.RepoTx, viewer *model.Viewer, repo *model.Repo, old, r *model.Release, latest string) error {
	if err := s.free(ctx, tx, r); err != nil {
		return err
	}
	if r.Draft {
		r.PublishedAt, r.CommitSHA = nil, ""
	}
	publish(tx, repo, r)
	if err := rank(ctx, tx, r, latest); err != nil {
		return err
	}
	r.Version++
	if err := releasedb.Update(ctx, tx, r); err != nil {
		return err
	}
	if err := mark(ctx, tx, r); err != nil {
		return err
	}
	if err := attachdb.Bind(ctx, tx, attachdb.Everyone, r.Body); err != nil {
		return err
	}
	tx.Count(counter, counted(r)-counted(old))
	what := "edited"
	switch {
	case old.Draft && !r.Draft:
		what = "published"
	case !old.Draft && r.Draft:
		what = "unpublished"
	}
	return emit(ctx, tx, viewer, repo, eventOf(r, what))
}

// Delete removes a release. Its tag stays.
func (s *Service) Delete(ctx context.Context, viewer *model.Viewer, repo *model.Repo, id int64) (*model.Release, error) {
	var r *model.Release
	err := s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) (err error) {
		if r, err = releasedb.Find(ctx, tx.Repo, id); err != nil {
			return err
		}
		if err := releasedb.LoadAssets(ctx, tx.Repo, r); err != nil {
			return err
		}
		if err := releasedb.Delete(ctx, tx, id); err != nil {
			return err
		}
		if err := forget(ctx, tx, r.Assets...); err != nil {
			return err
		}
		tx.Count(counter, -counted(r))
		return emit(ctx, tx, viewer, repo, eventOf(r, "deleted"))
	})
	return r, err
}
