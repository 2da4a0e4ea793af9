package git

import (
	"strconv"
	"strings"
	"time"
)

// Person is who made a commit or tag, and when. Name and Email are raw bytes,
// in the encoding of the commit.
type Person struct {
	Name  string
	Email string
	// When is in the zone that the person was in.
	When time.Time
}

// parsePerson reads "Name <email> 1700000000 +0100" as leniently as git: what
// is missing is empty.
func parsePerson(line string) Person {
	open := strings.IndexByte(line, '<')
	end := strings.LastIndexByte(line, '>')
	if open < 0 || end < open {
		return Person{Name: strings.TrimSpace(line)}
	}
	p := Person{Name: strings.TrimSpace(line[:open]), Email: strings.TrimSpace(line[open+1 : end])}
	fields := strings.Fields(line[end+1:])
	if len(fields) == 0 {
		return p
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return p
	}
	zone := time.UTC
	if len(fields) > 1 {
		zone = parseZone(fields[1])
	}
	p.When = time.Unix(seconds, 0).In(zone)
	return p
}

// parseZone reads "+0130"; what is none is UTC.
func parseZone(s string) *time.Location {
	n, err := strconv.Atoi(s)
	if err != nil || n == 0 || n < -9959 || n > 9959 {
		return time.UTC
	}
	return time.FixedZone("", (n/100*60+n%100)*60)
}

// format writes p as it stands in a commit.
func (p Person) format() string {
	clean := func(s string) string {
		s = strings.Map(func(r rune) rune {
			if r == '\n' || r == '<' || r == '>' || r == 0 {
				return -1
			}
			return r
		}, s)
		return strings.Trim(s, " .,:;\"\\'\t\r")
	}
	name := clean(p.Name)
	if name == "" {
		name = "unknown"
	}
	return name + " <" + clean(p.Email) + "> " + strconv.FormatInt(p.When.Unix(), 10) + " " + p.When.Format("-0700")
}
