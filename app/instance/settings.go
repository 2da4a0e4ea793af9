// Package instance holds the settings of the whole instance: what an operator
// changes while it runs. A setting's value comes from the environment, else
// from what an administrator set on the page, else it is the default.
//
// To add one, add a field to Settings and a line to Table.
package instance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Ways of signing up.
const (
	SignupOpen     = "open"
	SignupInvite   = "invite"
	SignupWaitlist = "waitlist"
	SignupClosed   = "closed"
)

// Settings are the values in force. Sizes are in bytes.
type Settings struct {
	// SignupMode is one of the ways of signing up.
	SignupMode string
	// Announcement is shown above every page, "" for none.
	Announcement string
	// SleepAfterDays is how long a scope is untouched before it sleeps; 0
	// is for ever.
	SleepAfterDays int
	// DeletedKeepDays is how long what was deleted can be restored.
	DeletedKeepDays int
	// HourlyRequests is how many API requests one token, or one stranger's
	// address, may make in an hour.
	HourlyRequests int
	// MaxFileMB bounds a file that is pushed; 0 is no bound.
	MaxFileMB int
}

// Setting declares one setting.
type Setting struct {
	Key     string
	Section string
	Label   string
	Doc     string
	Default string
	// Unit stands behind a number.
	Unit string
	// Min and Max bound a number, and Max the length of a text (default
	// 1,000).
	Min, Max int
	// Options are the values of a choice.
	Options []Option
	// Long is a text of several lines, Secret one that is kept sealed and
	// never shown.
	Long, Secret bool
	// field is where the value goes: a *string, *int or *bool.
	field func(*Settings) any
}

// Option is one value of a choice.
type Option struct{ Value, Label, Doc string }

// Table declares every setting, in the order of the page.
func Table() []Setting {
	return []Setting{
		{Key: "signup.mode", Section: "Sign-up", Label: "Who can sign up", Default: SignupOpen,
			Doc: "The first account of an instance can always be made.",
			Options: []Option{{SignupOpen, "Everybody", ""}, {SignupInvite, "Who was invited", ""},
				{SignupWaitlist, "Who was let in from the waiting list", ""}, {SignupClosed, "Nobody", "Administrators make accounts with gitfor admin user create."}},
			field: func(s *Settings) any { return &s.SignupMode }},
		{Key: "site.announcement", Section: "Announcement", Label: "Announcement", Long: true, Max: 500,
			Doc:   "Shown above every page until it is emptied, such as a maintenance to come.",
			field: func(s *Settings) any { return &s.Announcement }},
		{Key: "state.sleep_days", Section: "State", Label: "Sleep after", Unit: "days", Default: "60", Max: 3650,
			Doc:   "The tables of a repository or account that nobody touched for so long are put away until the next visit. 0 is never.",
			field: func(s *Settings) any { return &s.SleepAfterDays }},
		{Key: "state.deleted_keep_days", Section: "State", Label: "Keep what was deleted for", Unit: "days", Default: "30", Min: 1, Max: 3650,
			Doc:   "So long deleted repositories and accounts can be restored by their owners; then they are gone for good.",
			field: func(s *Settings) any { return &s.DeletedKeepDays }},
		{Key: "limits.hourly_requests", Section: "Limits", Label: "API requests an hour", Default: "15000", Min: 60, Max: 100_000_000,
			Doc:   "For one token, or one address that is not signed in.",
			field: func(s *Settings) any { return &s.HourlyRequests }},
		{Key: "limits.max_file_mb", Section: "Limits", Label: "Largest file in git", Unit: "MB", Default: "100", Max: 10_000,
			Doc:   "What is larger belongs into git-lfs. Repositories can set less. 0 is no limit.",
			field: func(s *Settings) any { return &s.MaxFileMB }},
	}
}

// Find is the setting of this key.
func Find(key string) (Setting, bool) {
	table := Table()
	i := slices.IndexFunc(table, func(s Setting) bool { return s.Key == key })
	if i < 0 {
		return Setting{}, false
	}
	return table[i], true
}

// EnvName is the environment variable that sets it.
func (s *Setting) EnvName() string {
	return "GITFOR_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// Number says that the value is a number.
func (s *Setting) Number() bool { _, ok := s.field(new(Settings)).(*int); return ok }

// Switch says that the value is "true" or "false".
func (s *Setting) Switch() bool { _, ok := s.field(new(Settings)).(*bool); return ok }

// Check says in a sentence what is wrong with a value, "" for nothing.
func (s *Setting) Check(value string) string {
	switch {
	case s.Number():
		n, err := strconv.Atoi(value)
		if err != nil {
			return "Type a whole number."
		}
		if n < s.Min || s.Max > 0 && n > s.Max {
			return fmt.Sprintf("Type a number from %d to %d.", s.Min, s.Max)
		}
	case s.Switch():
		if value != "true" && value != "false" {
			return "It is either on or off."
		}
	case len(s.Options) > 0:
		if !slices.ContainsFunc(s.Options, func(o Option) bool { return o.Value == value }) {
			return "Choose one of the values."
		}
	default:
		longest := s.Max
		if longest == 0 {
			longest = 1000
		}
		if len([]rune(value)) > longest {
			return fmt.Sprintf("It is longer than %d characters.", longest)
		}
	}
	return ""
}

// put writes a value that Check found good; another is ignored.
func (s *Setting) put(to *Settings, value string) {
	switch p := s.field(to).(type) {
	case *string:
		*p = value
	case *int:
		if n, err := strconv.Atoi(value); err == nil {
			*p = n
		}
	case *bool:
		*p = value == "true"
	}
}

// Defaults are the values of an instance in which nothing was set.
func Defaults() Settings {
	var out Settings
	for _, s := range Table() {
		s.put(&out, s.Default)
	}
	return out
}
