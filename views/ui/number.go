package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Number writes n with thousands separated by commas: 12,345.
func Number(n int) string {
	s := strconv.Itoa(n)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		return "-" + s
	}
	return s
}

// Short writes n in at most four characters or so: 999, 1.2k, 34k, 5.6m.
func Short(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 10_000:
		return trimZero(float64(n/100)/10) + "k"
	case n < 1_000_000:
		return strconv.Itoa(n/1000) + "k"
	case n < 10_000_000:
		return trimZero(float64(n/100_000)/10) + "m"
	}
	return strconv.Itoa(n/1_000_000) + "m"
}

func trimZero(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }

// Bytes writes a size in bytes for people, in powers of 1024: 512 B, 1.5 KB.
func Bytes(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f, unit := float64(n)/1024, 0
	for f >= 1024 && unit < 4 {
		f, unit = f/1024, unit+1
	}
	s := fmt.Sprintf("%.1f", f)
	if f >= 100 {
		s = fmt.Sprintf("%.0f", f)
	}
	return strings.TrimSuffix(s, ".0") + " " + []string{"KB", "MB", "GB", "TB", "PB"}[unit]
}

// Plural writes a count with its noun: 1 commit, 2 commits, 0 commits. The
// plural is the noun with an s unless it is given.
func Plural(n int, noun string, plural ...string) string {
	if n == 1 {
		return "1 " + noun
	}
	if len(plural) > 0 {
		return Number(n) + " " + plural[0]
	}
	return Number(n) + " " + noun + "s"
}

// Duration writes how long something took: 0.4s, 12s, 3m 20s, 2h 5m.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return trimZero(d.Seconds()) + "s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return fmt.Sprintf("%dm %ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh %dm", int(d.Hours()), int(d.Minutes())%60)
}

// Ago says how long before now t was, in the words static/js/time.js uses too:
// "just now", "5 minutes ago", "yesterday", "12 days ago", then the date. Times
// after now read "in 5 minutes".
func Ago(t, now time.Time) string {
	d := now.Sub(t)
	if d < 0 {
		return ahead(-d, t, now)
	}
	switch {
	case d < 45*time.Second:
		return "just now"
	case d < 24*time.Hour:
		return span(d) + " ago"
	case d < 48*time.Hour:
		return "yesterday"
	case d < 30*24*time.Hour:
		return Plural(int(d.Hours())/24, "day") + " ago"
	}
	return "on " + day(t, now)
}

func ahead(d time.Duration, t, now time.Time) string {
	switch {
	case d < 45*time.Second:
		return "in a moment"
	case d < 24*time.Hour:
		return "in " + span(d)
	case d < 48*time.Hour:
		return "tomorrow"
	case d < 30*24*time.Hour:
		return "in " + Plural(int(d.Hours())/24, "day")
	}
	return "on " + day(t, now)
}

func span(d time.Duration) string {
	if d < time.Hour {
		return Plural(max(1, int(d.Minutes())), "minute")
	}
	return Plural(int(d.Hours()), "hour")
}

func day(t, now time.Time) string {
	if t.UTC().Year() == now.UTC().Year() {
		return t.UTC().Format("2 Jan")
	}
	return t.UTC().Format("2 Jan 2006")
}
