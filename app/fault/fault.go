// Package fault classifies errors for people: each kind has one meaning at
// every door (page, API, git, MCP, job).
package fault

import (
	"context"
	"errors"
	"net/http"
	"sort"
	"strings"
	"syscall"

	"github.com/gitfor/gitfor/db"
)

// Kind is the class of a fault.
type Kind int

// The kinds. Internal is the zero value: what nobody classified.
const (
	Internal     Kind = iota
	NotFound          // not there, or not for this viewer to see
	Unauthorized      // needs signing in, or a valid token
	Forbidden         // seen, but not allowed
	Invalid           // input is wrong; Fields say where
	Conflict          // the state does not allow it now
	TooLarge          // over a limit
	RateLimited       // too often
	Unavailable       // a part of the system is down for now
	Full              // the disk has no space left
	Gone              // was there and is no more
	BadRequest        // could not be read at all
)

// Status is the kind's HTTP status (RFC 9110).
func (k Kind) Status() int {
	switch k {
	case NotFound:
		return http.StatusNotFound
	case Unauthorized:
		return http.StatusUnauthorized
	case Forbidden:
		return http.StatusForbidden
	case Invalid:
		return http.StatusUnprocessableEntity
	case Conflict:
		return http.StatusConflict
	case TooLarge:
		return http.StatusRequestEntityTooLarge
	case RateLimited:
		return http.StatusTooManyRequests
	case Unavailable:
		return http.StatusServiceUnavailable
	case Full:
		return http.StatusInsufficientStorage
	case Gone:
		return http.StatusGone
	case BadRequest:
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// Fields are messages by the name of the input field that they are about.
type Fields map[string]string

// Add notes message for field unless one is there; an empty message is none.
func (f Fields) Add(field, message string) {
	if _, ok := f[field]; !ok && message != "" {
		f[field] = message
	}
}

// Err is a fault of kind Invalid with these fields, or nil when there is none.
func (f Fields) Err() error {
	if len(f) == 0 {
		return nil
	}
	return &Fault{Kind: Invalid, Message: "Some fields need another look.", Fields: f}
}

// Fault is an error that may be shown to the person who caused it.
type Fault struct {
	Kind Kind
	// Message is one sentence or two for a person: what happened, what to do.
	Message string
	Fields  Fields
	// Resource names in GitHub's errors what the fields belong to ("Issue").
	Resource string
	// RetryAfter is in seconds, for RateLimited and Unavailable; 0 is unset.
	RetryAfter int
	// Err is the cause, for the log only.
	Err error
}

func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.Message)
	names := make([]string, 0, len(f.Fields))
	for name := range f.Fields {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		b.WriteString("; " + name + ": " + f.Fields[name])
	}
	if f.Err != nil {
		b.WriteString(": " + f.Err.Error())
	}
	return b.String()
}

// Unwrap is the cause.
func (f *Fault) Unwrap() error { return f.Err }

// New is a fault of kind with a message for the person.
func New(kind Kind, message string) error { return &Fault{Kind: kind, Message: message} }

// Wrap is New with a cause for the log.
func Wrap(kind Kind, message string, err error) error {
	return &Fault{Kind: kind, Message: message, Err: err}
}

// Field is a fault of kind Invalid about one field.
func Field(field, message string) error { return Fields{field: message}.Err() }

// From classifies any error: faults stay, errors of the db package and of
// contexts get their kind, all else is Internal.
func From(err error) *Fault {
	var f *Fault
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f
	case errors.Is(err, db.ErrNotFound):
		return &Fault{Kind: NotFound, Message: "Nothing is here, or you may not see it.", Err: err}
	case errors.Is(err, db.ErrConflict):
		return &Fault{Kind: Conflict, Message: "That already exists.", Err: err}
	case full(err):
		return &Fault{Kind: Full, Message: FullMessage, RetryAfter: 60, Err: err}
	case errors.Is(err, db.ErrUnavailable):
		return &Fault{Kind: Unavailable, RetryAfter: 5, Err: err,
			Message: "The database cannot be reached just now. Nothing was changed; try again in a moment."}
	case errors.Is(err, db.ErrAsleep):
		return &Fault{Kind: Unavailable, RetryAfter: 60, Err: err,
			Message: "Nobody has been here for long, and much is being woken up just now. Try again in a minute."}
	case errors.As(err, &tooLarge):
		return &Fault{Kind: TooLarge, Message: "The request is larger than is allowed here.", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Fault{Kind: Unavailable, Message: "That took too long and was stopped.", RetryAfter: 5, Err: err}
	}
	return &Fault{Kind: Internal, Message: "Something went wrong on our side.", Err: err}
}

// FullMessage tells a person that there is no space left.
const FullMessage = "The disk of this server is full. Nothing was changed; tell its operator."

func full(err error) bool {
	return errors.Is(err, db.ErrFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Is reports whether err is a fault of this kind after From.
func Is(err error, kind Kind) bool { return err != nil && From(err).Kind == kind }
