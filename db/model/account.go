// Package model holds the records of all stores: one file per table, with
// pure methods only. A record of a scope names its table ?scope.<table>.
package model

import (
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// AccountKind tells users and organisations apart.
type AccountKind string

// The kinds of accounts.
const (
	KindUser         AccountKind = "user"
	KindOrganization AccountKind = "organization"
)

// Account is a user or an organisation: whatever owns repositories.
type Account struct {
	bun.BaseModel `bun:"table:directory.accounts,alias:a"`

	ID          int64          `bun:"id,pk,autoincrement"`
	Kind        AccountKind    `bun:"kind"`
	Name        string         `bun:"name"`
	NameKey     string         `bun:"name_key"`
	DisplayName string         `bun:"display_name"`
	Bio         string         `bun:"bio"`
	Location    string         `bun:"location"`
	Website     string         `bun:"website"`
	PublicEmail string         `bun:"public_email"`
	Avatar      string         `bun:"avatar"`
	Settings    map[string]any `bun:"settings,type:jsonb"`
	BaseRole    Role           `bun:"base_role"`
	SuspendedAt *time.Time     `bun:"suspended_at"`
	DeletedAt   *time.Time     `bun:"deleted_at"`
	CreatedAt   time.Time      `bun:"created_at"`
	UpdatedAt   time.Time      `bun:"updated_at"`
}

// Key is the form of a name under which it is unique: names differ only in
// case are the same name.
func Key(name string) string { return strings.ToLower(name) }

// IsUser says that the account is a person's.
func (a *Account) IsUser() bool { return a.Kind == KindUser }

// Shown is the display name, or the name where there is none.
func (a *Account) Shown() string {
	if a.DisplayName != "" {
		return a.DisplayName
	}
	return a.Name
}

// User is what a person's account has beside its Account.
type User struct {
	bun.BaseModel `bun:"table:directory.users,alias:u"`

	AccountID    int64      `bun:"account_id,pk"`
	Admin        bool       `bun:"admin"`
	Email        string     `bun:"email"`
	EmailPrivate bool       `bun:"email_private"`
	TimeZone     string     `bun:"time_zone"`
	Theme        string     `bun:"theme"`
	LastActiveAt *time.Time `bun:"last_active_at"`

	Account *Account `bun:"rel:belongs-to,join:account_id=id"`
}

// Email is one address of a user.
type Email struct {
	bun.BaseModel `bun:"table:directory.user_emails,alias:em"`

	EmailKey   string     `bun:"email_key,pk"`
	Email      string     `bun:"email"`
	AccountID  int64      `bun:"account_id,pk"`
	VerifiedAt *time.Time `bun:"verified_at"`
	CreatedAt  time.Time  `bun:"created_at"`
}

// Keys of an organisation's settings.
const (
	SettingMembersCreate  = "members_create"
	SettingRequirePasskey = "require_passkey"
)

// MembersCreate says that members of the organisation may make repositories
// in it, as they may unless its owners said otherwise.
func (a *Account) MembersCreate() bool {
	on, set := a.Settings[SettingMembersCreate].(bool)
	return on || !set
}

// RequiresPasskey says that the organisation wants its members to have signed
// in with a passkey.
func (a *Account) RequiresPasskey() bool {
	on, _ := a.Settings[SettingRequirePasskey].(bool)
	return on
}
