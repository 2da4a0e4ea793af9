package secret

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// EventPrefix begins the id of every event.
const EventPrefix = "evt_"

// NewID returns prefix and a new UUIDv7 (RFC 9562), which sorts by the time of
// its making. It panics only when the machine has no random numbers.
func NewID(prefix string) string {
	return prefix + uuid.Must(uuid.NewV7()).String()
}

// EventID returns a new id for an event.
func EventID() string { return NewID(EventPrefix) }

// CheckID says whether id is prefix and a UUID in its canonical form.
func CheckID(prefix, id string) error {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok || len(rest) != 36 {
		return fmt.Errorf("%q is not an id that begins with %q", id, prefix)
	}
	u, err := uuid.Parse(rest)
	if err != nil || u.String() != rest {
		return fmt.Errorf("%q is not an id that begins with %q", id, prefix)
	}
	return nil
}
