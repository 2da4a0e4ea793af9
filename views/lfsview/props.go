// Package lfsview shows the pages about large files.
package lfsview

import (
	"strconv"
	"time"

	"github.com/gitfor/gitfor/views/ui"
)

// Lock is a locked path.
type Lock struct {
	ID          int64
	Path, Owner string
	At          time.Time
}

// SettingsProps is the page of a repository; 0 is no limit.
type SettingsProps struct {
	Base           string
	Objects, Bytes int64
	// Owner keeps OwnerBytes of Quota in all repositories together.
	Owner             string
	OwnerBytes, Quota int64
	Largest           int64
	Locks             []Lock
}

func (p SettingsProps) unlock(l Lock) string {
	return p.Base + "/locks/" + strconv.FormatInt(l.ID, 10) + "/delete"
}

func (p SettingsProps) used() string {
	if p.Objects == 0 {
		return "This repository has none yet."
	}
	return "This repository has " + files(p.Objects) + " of " + ui.Bytes(p.Bytes) + " together."
}

func (p SettingsProps) limits() string {
	text := ""
	if p.Quota > 0 {
		text = "All repositories of " + p.Owner + " use " + ui.Bytes(p.OwnerBytes) + " of " + ui.Bytes(p.Quota) + "."
	}
	if p.Largest > 0 {
		text += " One file has at most " + ui.Bytes(p.Largest) + "."
	}
	return text
}

// near says that little of the quota is left.
func (p SettingsProps) near() bool { return p.Quota > 0 && p.OwnerBytes*5 >= p.Quota*4 }

// AdminProps is the operator's page; limits as typed, in megabytes.
type AdminProps struct {
	Place          string
	Objects, Bytes int64
	Quota, Largest string
	Owners         []Owner
	Errors         ui.Errors
}

// Owner is what the repositories of one account keep.
type Owner struct {
	Name           string
	Objects, Bytes int64
}

func files(n int64) string { return ui.Plural(int(n), "file") }
