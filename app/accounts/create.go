package accounts

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// CreateInput describes a new person.
type CreateInput struct {
	// ID is one that NewID gave, or 0.
	ID    int64  `form:"-" json:"-"`
	Name  string `form:"username" json:"username"`
	Email string `form:"email" json:"email"`
	// Admin makes the person an administrator; the first account always is.
	Admin bool `form:"-" json:"-"`
	// Locators are credential ids of passkeys that are stored already.
	Locators []string `form:"-" json:"-"`
}

// Clean takes away what people type by accident.
func (in *CreateInput) Clean() {
	in.Name, in.Email = strings.TrimSpace(in.Name), strings.TrimSpace(in.Email)
}

// Validate checks what needs no database.
func (in *CreateInput) Validate() fault.Fields {
	f := fault.Fields{}
	f.Add("username", CheckName(in.Name))
	f.Add("email", CheckEmail(in.Email))
	return f
}

const takenMessage = "That name is taken. Choose another."

// CheckFree says why the name cannot be taken now, "" when it can.
func (s *Service) CheckFree(ctx context.Context, name string) (string, error) {
	state, err := accountdb.Name(ctx, s.db.Directory(), name, time.Now().Add(-s.RestoreWindow(ctx)))
	switch {
	case err != nil:
		return "", err
	case state.Taken, state.Deleted:
		return takenMessage, nil
	case state.Retired:
		return "That name is retired: others still link to it. Choose another.", nil
	}
	return "", nil
}

// CreateUser makes a person's account. fault.Invalid when the name or the
// address cannot be used.
func (s *Service) CreateUser(ctx context.Context, in CreateInput) (*model.User, error) {
	in.Clean()
	fields := in.Validate()
	if len(fields) > 0 {
		return nil, fields.Err()
	}
	reason, err := s.CheckFree(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		return nil, fault.Field("username", reason)
	}
	var u *model.User
	err = s.db.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		u, err = createUser(ctx, tx, in)
		return err
	})
	if errors.Is(err, db.ErrConflict) && db.Constraint(err) == "accounts_name_key" {
		return nil, fault.Field("username", takenMessage)
	}
	return u, err
}

func createUser(ctx context.Context, tx db.DirectoryTx, in CreateInput) (*model.User, error) {
	a := &model.Account{ID: in.ID, Kind: model.KindUser, Name: in.Name}
	if a.ID == 0 {
		id, err := accountdb.NewID(ctx, tx.Directory)
		if err != nil {
			return nil, err
		}
		a.ID = id
	}
	first, err := accountdb.ClaimFirst(ctx, tx, a.ID)
	if err != nil {
		return nil, err
	}
	if err := accountdb.Insert(ctx, tx, a); err != nil {
		return nil, err
	}
	u := &model.User{AccountID: a.ID, Account: a, Admin: in.Admin || first, Email: in.Email, Theme: "system"}
	if err := accountdb.InsertUser(ctx, tx, u); err != nil {
		return nil, err
	}
	if err := accountdb.DropRedirect(ctx, tx, a.Name); err != nil {
		return nil, err
	}
	for _, key := range in.Locators {
		if err := accountdb.AddLocator(ctx, tx, accountdb.LocatePasskey, key, a.ID); err != nil {
			return nil, err
		}
	}
	viewer := &model.Viewer{Account: a, User: u}
	note := audit.Entry{Action: "user.create", AccountID: a.ID, Target: a.Name, After: audit.Facts{"admin": u.Admin}}
	if db.OriginOf(ctx).ActorID == 0 {
		note.Actor = viewer // they signed up
	}
	if err := audit.Record(ctx, tx, note); err != nil {
		return nil, err
	}
	about := events.About{AccountID: a.ID, Actor: viewer}
	return u, events.Emit(ctx, tx, about, Created{ID: a.ID, Name: a.Name, Kind: string(a.Kind)})
}
