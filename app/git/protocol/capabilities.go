package protocol

import (
	"strconv"
	"strings"
)

// Version is a version of git's wire protocol.
type Version int

// The versions there are.
const (
	V0 Version = iota
	V1
	V2
)

// ParseVersion reads the value of the Git-Protocol header or the GIT_PROTOCOL
// variable: keys parted by colons, of which the highest known version counts
// (git(1), GIT_PROTOCOL). What it does not know is version 0.
func ParseVersion(value string) Version {
	best := V0
	if len(value) > 1024 {
		return best
	}
	for part := range strings.SplitSeq(value, ":") {
		text, ok := strings.CutPrefix(part, "version=")
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(text); err == nil && n >= int(best) && n <= int(V2) {
			best = Version(n)
		}
	}
	return best
}

// variable is the value of GIT_PROTOCOL for v.
func (v Version) variable() string { return "version=" + strconv.Itoa(int(v)) }

// Capabilities are the words that a client or server says it can do: the rest
// of the first line after its NUL in protocol v0, lines of their own in v2.
type Capabilities []string

// ParseCapabilities splits the list of protocol v0, words parted by spaces.
func ParseCapabilities(s string) Capabilities { return strings.Fields(s) }

// Has says whether name is among them, with or without a value.
func (c Capabilities) Has(name string) bool {
	_, ok := c.Get(name)
	return ok
}

// Get returns the value of the first capability called name.
func (c Capabilities) Get(name string) (value string, ok bool) {
	for _, s := range c {
		if key, v, _ := strings.Cut(s, "="); key == name {
			return v, true
		}
	}
	return "", false
}
