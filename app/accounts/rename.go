package accounts

import (
	"context"
	"errors"
	"strings"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// Rename gives an account another name. The old one redirects, on the web, in
// git and in the API, until somebody takes it; only the case of letters can
// be changed too. fault.Invalid when the name cannot be had.
func (s *Service) Rename(ctx context.Context, viewer *model.Viewer, a *model.Account, name string) error {
	name = strings.TrimSpace(name)
	if why := CheckName(name); why != "" {
		return fault.Field("username", why)
	}
	if name == a.Name {
		return fault.Field("username", "That is the name already.")
	}
	if model.Key(name) != a.NameKey {
		why, err := s.CheckFree(ctx, name)
		if err != nil {
			return err
		}
		if why != "" {
			return fault.Field("username", why)
		}
	}
	old := a.Name
	err := s.inDirectory(ctx, a.ID, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := accountdb.Rename(ctx, tx, a, name); err != nil {
			return err
		}
		action := "user.rename"
		if !a.IsUser() {
			action = "org.rename"
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: action, Actor: viewer, AccountID: a.ID, Target: name,
			Before: audit.Facts{"name": old}, After: audit.Facts{"name": name}}); err != nil {
			return err
		}
		about := events.About{AccountID: a.ID, Actor: viewer}
		return events.Emit(ctx, tx, about, Renamed{ID: a.ID, Name: name, From: old, Workspace: !a.IsUser()})
	})
	if errors.Is(err, db.ErrConflict) {
		return fault.Field("username", takenMessage)
	}
	return err
}
