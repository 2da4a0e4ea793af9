package codes

import (
	"context"

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
		if on {
			return repodb.Star(ctx, tx, repo.ID, viewer.ID())
		}
		return repodb.Unstar(ctx, tx, repo.ID, viewer.ID())
	})
}

// Watch sets the level of the viewer's watch of a repository; "" ends it.
func (s *Service) Watch(ctx context.Context, viewer *model.Viewer, repo *model.Repo, level string) error {
	if !viewer.SignedIn() || viewer.DeployRepo != 0 {
		return fault.New(fault.Unauthorized, "Sign in to watch repositories.")
	}
	switch level {
	case "", model.WatchAll, model.WatchReleases, model.WatchIgnore:
	default:
		return fault.Field("level", "Choose all, releases or ignore.")
	}
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if level == "" {
			return repodb.Unwatch(ctx, tx, repo.ID, viewer.ID())
		}
		return repodb.Watch(ctx, tx, repo.ID, viewer.ID(), level)
	})
}
