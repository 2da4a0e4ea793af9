package orgs

import (
	"context"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// RulesInput is what an organisation's members may do; nil stays as it is.
type RulesInput struct {
	// BaseRole is the role of every member in every repository: "none",
	// read, write or admin.
	BaseRole *string
	// MembersCreate lets members make repositories.
	MembersCreate *bool
	// RequirePasskey refuses members whose session began without a passkey.
	RequirePasskey *bool
}

// SetRules changes what an organisation's members may do.
func (s *Service) SetRules(ctx context.Context, viewer *model.Viewer, org *model.Account, in RulesInput) (*model.Account, error) {
	var a *model.Account
	err := s.Accounts.Change(ctx, org.ID, func(ctx context.Context, tx db.DirectoryTx) (err error) {
		if a, err = accountdb.ByID(ctx, tx.Directory, org.ID); err != nil {
			return err
		}
		before := rulesOf(a)
		if in.BaseRole != nil {
			role := model.Role(*in.BaseRole)
			switch role {
			case "none":
				role = model.RoleNone
			case model.RoleRead, model.RoleWrite, model.RoleAdmin:
			default:
				return fault.Field("base_role", "A base role is none, read, write or admin.")
			}
			a.BaseRole = role
		}
		if a.Settings == nil {
			a.Settings = map[string]any{}
		}
		set := func(key string, on, def bool) {
			if on == def {
				delete(a.Settings, key)
			} else {
				a.Settings[key] = on
			}
		}
		if in.MembersCreate != nil {
			set(model.SettingMembersCreate, *in.MembersCreate, true)
		}
		if in.RequirePasskey != nil {
			set(model.SettingRequirePasskey, *in.RequirePasskey, false)
		}
		if err := accountdb.SaveRules(ctx, tx, a); err != nil {
			return err
		}
		after := rulesOf(a)
		if before == after {
			return nil
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "org.update_member_rules", Actor: viewer, AccountID: a.ID, Target: a.Name,
			Before: facts(before), After: facts(after)}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{AccountID: a.ID, Actor: viewer}, after)
	})
	return a, err
}

func rulesOf(a *model.Account) RulesChanged {
	return RulesChanged{BaseRole: string(a.BaseRole), MembersCreate: a.MembersCreate(), RequirePasskey: a.RequiresPasskey()}
}

func facts(r RulesChanged) audit.Facts {
	return audit.Facts{"base_role": r.BaseRole, "members_create": r.MembersCreate, "require_passkey": r.RequirePasskey}
}
