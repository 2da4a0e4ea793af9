package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// refReason tells git's refusals apart by its words, which LC_ALL fixes.
func refReason(ce *CommandError) error {
	for _, known := range []struct {
		words string
		err   error
	}{
		{"but expected", ErrRefChanged},
		{"reference already exists", ErrRefChanged},
		{"unable to resolve reference", ErrRefChanged},
		{"reference is missing", ErrRefChanged},
		{"; cannot create", ErrRefConflict},
		{"there is a non-empty directory", ErrRefConflict},
		{"cannot process", ErrRefConflict},
		{"Unable to create", ErrRefBusy},
	} {
		if strings.Contains(ce.Stderr, known.words) {
			return fmt.Errorf("%w: %w", known.err, ce)
		}
	}
	return ce
}

// quotedRef is the first ref that a message names in quotes.
func quotedRef(message string) string {
	for rest := message; ; {
		i := strings.Index(rest, "'refs/")
		if i < 0 {
			return ""
		}
		rest = rest[i+1:]
		if j := strings.IndexByte(rest, '\''); j >= 0 {
			return rest[:j]
		}
	}
}

// staleLock is the age from which on a lock belongs to nobody: git holds the
// locks of a transaction for seconds.
const staleLock = 10 * time.Minute

// removeStaleLock removes the lock that git could not take when whoever made it
// has died, as with the machine.
func (r *Repository) removeStaleLock(refused error) bool {
	var ce *CommandError
	if !errors.As(refused, &ce) {
		return false
	}
	_, rest, ok := strings.Cut(ce.Stderr, "Unable to create '")
	path, _, ok2 := strings.Cut(rest, "': File exists")
	if !ok || !ok2 || !strings.HasSuffix(path, ".lock") {
		return false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Path, path)
	}
	inside, err := filepath.Rel(r.Path, path)
	if err != nil || !filepath.IsLocal(inside) {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && time.Since(info.ModTime()) > staleLock && os.Remove(path) == nil
}
