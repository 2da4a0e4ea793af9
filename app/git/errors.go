package git

import (
	"errors"

	"github.com/gitfor/gitfor/app/git/odb"
)

// Errors that callers tell apart with errors.Is.
var (
	// ErrNoRepository: the repository has no folder (yet).
	ErrNoRepository = errors.New("git repository does not exist")
	// ErrNotFound: no object, ref, revision or path of this name.
	ErrNotFound = errors.New("not found in git")
	// ErrAmbiguous: a short id begins several objects.
	ErrAmbiguous = odb.ErrAmbiguous
	// ErrTooLarge: an object exceeds the limit that was given.
	ErrTooLarge = odb.ErrTooLarge
	// ErrWrongType: an object is not of the type that was asked for.
	ErrWrongType = errors.New("git object is of another type")
	// ErrStop ends a walk or a stream early, without a failure.
	ErrStop = errors.New("stop")
)
