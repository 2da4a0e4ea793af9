package audit

import (
	"strings"
	"time"

	"github.com/gitfor/gitfor/db/eventdb"
)

// parse reads a search such as
//
//	action:repo.* actor:ann created:2026-01-01..2026-02-01 ip:192.0.2.1 web
//
// Words without a name are looked for in actions and targets. What cannot be
// read as a time is looked for as a word, so that it finds nothing rather than
// everything.
func parse(query string, f *eventdb.AuditFilter) {
	var words []string
	for _, word := range strings.Fields(query) {
		name, value, ok := strings.Cut(word, ":")
		switch {
		case !ok || value == "":
			words = append(words, word)
		case name == "action":
			f.Actions = append(f.Actions, value)
		case name == "actor" || name == "user":
			f.Actor = strings.TrimPrefix(value, "@")
		case name == "ip":
			f.Remote = value
		case name == "created" && created(value, f):
		default:
			words = append(words, word)
		}
	}
	f.Text = strings.Join(words, " ")
}

// created reads a day, from..until, or one with >=, >, <= or < before it, as
// GitHub's searches take them. Days are UTC and count whole.
func created(s string, f *eventdb.AuditFilter) bool {
	from, until, ok := strings.Cut(s, "..")
	if ok {
		return (from == "*" || day(from, &f.From, 0)) && (until == "*" || day(until, &f.Until, 1))
	}
	switch {
	case strings.HasPrefix(s, ">="):
		return day(s[2:], &f.From, 0)
	case strings.HasPrefix(s, ">"):
		return day(s[1:], &f.From, 1)
	case strings.HasPrefix(s, "<="):
		return day(s[2:], &f.Until, 1)
	case strings.HasPrefix(s, "<"):
		return day(s[1:], &f.Until, 0)
	}
	return day(s, &f.From, 0) && day(s, &f.Until, 1)
}

func day(s string, dst *time.Time, add int) bool {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		*dst = t
		return true
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return false
	}
	*dst = t.AddDate(0, 0, add)
	return true
}
