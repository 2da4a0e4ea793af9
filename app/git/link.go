package git

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// maxLinks bounds how many symbolic links are followed.
const maxLinks = 10

// maxLinkTarget is the longest link target that is read, in bytes.
const maxLinkTarget = 4096

// FollowLinks is the path and entry that the symbolic link at path leads to in
// the end, inside the same tree; what is no link is itself. Links in the middle
// of a path are followed too. One that leads outside, nowhere or in a circle is
// ErrNotFound; nothing outside the repository is ever read.
func (r *Repository) FollowLinks(ctx context.Context, rev OID, name string) (string, TreeEntry, error) {
	missing := func() (string, TreeEntry, error) {
		return "", TreeEntry{}, fmt.Errorf("link %q: %w", name, ErrNotFound)
	}
	clean, ok := CleanPath(name)
	if !ok {
		return missing()
	}
	todo := strings.Split(clean, "/")
	done := ""
	var at TreeEntry
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if done == "" {
				return missing()
			}
			done = strings.TrimPrefix(path.Dir("/"+done), "/")
			continue
		}
		here := path.Join(done, part)
		var err error
		if at, err = r.EntryAt(ctx, rev, here); err != nil {
			return "", TreeEntry{}, err
		}
		if !at.IsSymlink() {
			done = here
			continue
		}
		links++
		target, err := r.Blob(ctx, at.OID, maxLinkTarget)
		if err != nil {
			return "", TreeEntry{}, err
		}
		if links > maxLinks || len(target) == 0 || target[0] == '/' {
			return missing()
		}
		todo = append(strings.Split(string(target), "/"), todo...)
	}
	at, err := r.EntryAt(ctx, rev, done)
	return done, at, err
}
