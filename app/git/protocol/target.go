package protocol

import (
	"context"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/git"
)

// InternalRefs is the prefix of refs that are the server's own. They are never
// shown to clients and cannot be pushed.
const InternalRefs = "refs/gitfor/"

// Target is the repository that a request is about, and what of it the client
// may see.
type Target struct {
	Repo *git.Repository
	// Hide are prefixes of refs to hide besides InternalRefs, each with a final
	// slash: they are neither listed nor may they be pushed. Their objects can
	// still be fetched by id.
	Hide []string
	// Bundles are offered to clients by bundle-uri; none by default.
	Bundles []Bundle
}

// key tells repositories apart in caches and bounds.
func (t Target) key() string { return strconv.FormatInt(t.Repo.ID, 10) }

func (t Target) format() string { return string(t.Repo.Format()) }

func (t Target) hexLen() int { return hexLenOf(t.format()) }

func (t Target) hides() []string { return append([]string{InternalRefs}, t.Hide...) }

func (t Target) hidden(name string) bool {
	return strings.HasPrefix(name, InternalRefs) || hasAnyPrefix(name, t.Hide)
}

// refSnapshot are a repository's refs at one time.
type refSnapshot struct {
	// head is the name of the default branch, or "HEAD" when HEAD holds an id,
	// with its id, which is empty while the branch is not born.
	head git.Ref
	refs []git.Ref // by name, hidden ones included
}

// branch is the full name of the default branch, "" if there is none.
func (s refSnapshot) branch() string {
	if s.head.Name == "HEAD" {
		return ""
	}
	return s.head.Name
}

func (t Target) refs(ctx context.Context) (refSnapshot, error) {
	head, err := t.Repo.Head(ctx)
	if err != nil {
		return refSnapshot{}, err
	}
	refs, err := t.Repo.Refs(ctx, "refs/")
	return refSnapshot{head: head, refs: refs}, err
}
