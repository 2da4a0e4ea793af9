package protocol

import (
	"context"
	"strings"

	"github.com/gitfor/gitfor/app/git"
)

// screen refuses the commands that need no objects to be judged.
func (r *receipt) screen(ctx context.Context) error {
	snap, err := r.req.refs(ctx)
	if err != nil {
		return err
	}
	spaces := r.s.Namespaces
	if spaces == nil {
		spaces = []string{"refs/heads/", "refs/tags/", "refs/notes/"}
	}
	for _, c := range r.push.Commands {
		switch {
		case r.req.hidden(c.Ref):
			c.Reject("deny updating a hidden ref")
		case !hasAnyPrefix(c.Ref, spaces):
			c.Reject("refs outside %s cannot be pushed", words(spaces))
		case !git.ValidRefName(c.Ref):
			c.Reject("funny refname")
		case c.Kind == Delete && c.Ref == snap.branch():
			c.Reject("the default branch cannot be deleted; choose another default branch first")
		}
	}
	return nil
}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// words lists a, b and c.
func words(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
