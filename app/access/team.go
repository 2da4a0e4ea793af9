package access

import (
	"context"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accessdb"
	"github.com/gitfor/gitfor/db/model"
)

// SetTeam gives a team of the organisation that owns the repository a role
// in it.
func (s *Service) SetTeam(ctx context.Context, viewer *model.Viewer, repo *model.Repo, team *model.Team, word string) error {
	role, ok := ParseRole(word)
	if !ok {
		return fault.Field("role", "A role is read, triage, write, maintain or admin.")
	}
	if team.OrgID != repo.OwnerID {
		return fault.Field("team", "The team belongs to another organisation than the repository.")
	}
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := accessdb.SetTeam(ctx, tx, repo.ID, team.ID, role); err != nil {
			return err
		}
		if err := note(ctx, tx, "team.add_repository", viewer, repo, team.Slug, audit.Facts{"role": role}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, TeamAdded{TeamID: team.ID, Slug: team.Slug, Role: string(role)})
	})
}

// RemoveTeam takes a team's role in the repository away.
func (s *Service) RemoveTeam(ctx context.Context, viewer *model.Viewer, repo *model.Repo, team *model.Team) error {
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := accessdb.RemoveTeam(ctx, tx, repo.ID, team.ID); err != nil {
			return err
		}
		if err := note(ctx, tx, "team.remove_repository", viewer, repo, team.Slug, nil); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, TeamRemoved{TeamID: team.ID, Slug: team.Slug})
	})
}
