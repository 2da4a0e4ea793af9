// Package settingview holds the pages of a person's settings.
package settingview

import (
	"time"

	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/ui"
)

// ProfileProps is what the profile page shows.
type ProfileProps struct {
	Account *model.Account
	Company string
	Emails  []*model.Email
	Errors  ui.Errors
}

func (p ProfileProps) emailOptions() []ui.Option {
	out := []ui.Option{{Label: "Show no address"}}
	for _, e := range p.Emails {
		out = append(out, ui.Option{Value: e.Email, Label: e.Email})
	}
	return out
}

// AccountProps is what the page of the name and the end of an account shows.
type AccountProps struct {
	Account *model.Account
	NewName string // typed and refused
	Typed   string // to confirm deletion, refused
	Days    int    // for which it can be restored
	Errors  ui.Errors
}

func (p AccountProps) name() string {
	if p.NewName != "" {
		return p.NewName
	}
	return p.Account.Name
}

// EmailsProps is what the page of addresses shows.
type EmailsProps struct {
	User    *model.User
	Emails  []*model.Email
	Hidden  string // the address that stands for the person's
	Typed   string
	CanSend bool // confirmation mail can be sent
	Errors  ui.Errors
}

// PasskeysProps is what the page of passkeys shows.
type PasskeysProps struct {
	Passkeys []Passkey
	Left     int // recovery codes
	Suggest  string
}

// Passkey is one row of the passkeys.
type Passkey struct {
	ID      int64
	Name    string
	Synced  bool
	Warning bool // its counter went backwards
	Created time.Time
	Used    *time.Time
}

// SessionsProps is what the page of sessions shows.
type SessionsProps struct {
	Sessions []Session
}

// Session is one row of the sessions.
type Session struct {
	ID      string
	Device  string
	Phone   bool
	Agent   string
	Remote  string
	Way     string
	Current bool
	Created time.Time
	Seen    time.Time
}

// KeysProps is what the page of SSH and GPG keys shows.
type KeysProps struct {
	SSH    []Key
	GPG    []Key
	Form   string // which form is open: "ssh", "gpg" or none
	Title  string
	Key    string
	Errors ui.Errors
}

// Key is one row of the keys.
type Key struct {
	ID          int64
	Name        string
	Type        string
	Fingerprint string
	SignsOnly   bool
	Emails      []string
	Created     time.Time
	Used        *time.Time
	Expires     *time.Time
}

// TokensProps is what the page of tokens shows.
type TokensProps struct {
	New    string // the text of the token that was just made
	Tokens []Token
	Now    time.Time
}

// Token is one row of the tokens.
type Token struct {
	ID      int64
	Name    string
	Scopes  string
	Repos   []string
	Some    bool // only the repositories in Repos
	Created time.Time
	Used    *time.Time
	Expires *time.Time
}

// NewTokenProps is what the form of a new token shows.
type NewTokenProps struct {
	Name, Expires, Reach, Repos string
	All                         bool
	Scopes                      []Scope
	Errors                      ui.Errors
}

// Scope is one choice of what a token may do.
type Scope struct {
	Name, About string
	Checked     bool
	Inner       bool // part of the one above
}

// AppearanceProps is what the page of looks shows.
type AppearanceProps struct {
	Theme    string
	DiffCB   bool
	TimeZone string
	Errors   ui.Errors
}

// OrgsProps is what the page of organisations shows.
type OrgsProps struct {
	Orgs []*model.Account
}

// Sections are the pages of the settings. more are those of other features.
func Sections(more ...ui.Tab) []ui.NavSection {
	tab := func(key, label, icon string) ui.Tab {
		return ui.Tab{Key: key, Label: label, Icon: icon, Href: "/settings/" + key}
	}
	return []ui.NavSection{
		{Links: append([]ui.Tab{tab("profile", "Profile", "user"), tab("account", "Account", "settings"), tab("emails", "Emails", "mail"),
			tab("appearance", "Appearance", "palette"), tab("organizations", "Organisations", "building-2"), tab("deleted", "Deleted", "archive"), tab("invitations", "Invitations", "user-plus")}, more...)},
		{Title: "Access", Links: []ui.Tab{tab("credentials", "All credentials", "list-checks"), tab("passkeys", "Passkeys", "key-round"), tab("sessions", "Sessions", "laptop"),
			tab("keys", "SSH and GPG keys", "key"), tab("tokens", "Access tokens", "ticket"),
			tab("applications", "Applications", "layout-grid"), tab("developers", "Your apps", "code"), tab("security-log", "Security log", "scale")}},
	}
}
