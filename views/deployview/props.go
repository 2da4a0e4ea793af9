// Package deployview shows deploy keys and tokens.
package deployview

import (
	"strconv"
	"time"

	"github.com/gitfor/gitfor/views/ui"
)

// Row is a key or token.
type Row struct {
	ID                       int64
	Name, Fingerprint, Maker string
	Writes                   bool
	Made                     time.Time
	Used, Ends               *time.Time
}

func (r Row) may() string {
	if r.Writes {
		return "Fetch and push"
	}
	return "Fetch only"
}

// KeysProps is the page of keys with the form as typed.
type KeysProps struct {
	Base       string
	Rows       []Row
	Title, Key string
	Write      bool
	Errors     ui.Errors
}

// TokensProps is the page of tokens with the form as typed; New is shown once.
type TokensProps struct {
	Base          string
	Rows          []Row
	New           string
	Name, Expires string
	Write         bool
	Now           time.Time
	Errors        ui.Errors
}

func remove(base string, r Row) string {
	return base + "/" + strconv.FormatInt(r.ID, 10) + "/delete"
}
