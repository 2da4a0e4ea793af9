// Package authview holds the pages of signing up, in and out.
package authview

import (
	"strings"
	"time"

	"github.com/gitfor/gitfor/views/ui"
)

// SignupProps is what the sign-up page shows.
type SignupProps struct {
	Username, Email string
	Code            bool // the set-up code is needed
	Origin          string
	Errors          ui.Errors
}

// LoginProps is what the sign-in page shows.
type LoginProps struct {
	Username, Next string
	Origin         string
	Errors         ui.Errors
}

// RecoveryProps is what the page for recovery codes shows.
type RecoveryProps struct {
	Username, Code string
	Errors         ui.Errors
}

// CodesProps is what the page with new recovery codes shows.
type CodesProps struct {
	Name, Site string
	Codes      []string
}

// text is the codes as a file.
func (p CodesProps) text() string {
	return "Recovery codes of " + p.Name + " at " + p.Site + "\nEach is good once.\n\n" + strings.Join(p.Codes, "\n") + "\n"
}

// SudoProps is what the page shows that asks who it is once more.
type SudoProps struct {
	Name, Next, Code string
	ByCode           bool // ask for a recovery code in place of a passkey
	Errors           ui.Errors
}

// LinkProps is what the page of a passkey link shows.
type LinkProps struct {
	Name, Path, Origin string
}

// RestoreProps is what the page shows that brings a deleted account back.
type RestoreProps struct {
	Name    string
	Deleted time.Time
	Until   time.Time // when it is gone for good
	Path    string
}

// ceremony are the attributes of a form that starts a passkey ceremony.
// At another origin than the given one the script goes there first, since a
// passkey of one host does not work at another.
func ceremony(kind, options, finish, origin string) map[string]any {
	a := map[string]any{"data-passkey": kind, "data-options": options, "data-finish": finish}
	if origin != "" {
		a["data-origin"] = origin
	}
	return a
}
