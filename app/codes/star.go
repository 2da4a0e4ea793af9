package codes

import (
	"context"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// Star sets or removes the viewer's star of a repository.
func (s *Service) Star(ctx context.Context, viewer *model.Viewer, repo *model.Repo, on bool) error {
	if !viewer.SignedIn() || viewer.DeployRepo != 0 {
		return fault.New(fault.Unauthorized, "Sign in to star repositories.")
	}
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		change, payload := repodb.Unstar, events.Payload(Unstarred{})
		if on {
			change, payload = repodb.Star, Starred{}
		}
		changed, err := change(ctx, tx, repo.ID, viewer.ID())
		if err != nil || !changed {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, payload)
	})
}

// Starred says that somebody starred the repository.
type Starred struct{}

// EventType implements events.Payload.
func (Starred) EventType() string { return "star.created" }

// Unstarred says that somebody took the star back.
type Unstarred struct{}

// EventType implements events.Payload.
func (Unstarred) EventType() string { return "star.deleted" }

// Watch sets the level, with kinds for model.WatchCustom, of the viewer's watch of a repository; "" ends it.
func (s *Service) Watch(ctx context.Context, viewer *model.Viewer, repo *model.Repo, level string, kinds ...string) error {
	if !viewer.SignedIn() || viewer.DeployRepo != 0 {
		return fault.New(fault.Unauthorized, "Sign in to watch repositories.")
	}
	switch level {
	case "", model.WatchAll, model.WatchReleases, model.WatchIgnore:
	case model.WatchCustom:
		for _, k := range kinds {
			if !slices.Contains(model.WatchKinds(), k) {
				return fault.Field("kinds", "Choose among "+strings.Join(model.WatchKinds(), ", ")+".")
			}
		}
		if len(kinds) == 0 {
			return fault.Field("kinds", "Choose at least one kind.")
		}
	default:
		return fault.Field("level", "Choose all, releases, custom or ignore.")
	}
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if level == "" {
			_, err := repodb.Unwatch(ctx, tx, repo.ID, viewer.ID())
			return err
		}
		return repodb.Watch(ctx, tx, repo.ID, viewer.ID(), level, kinds)
	})
}
