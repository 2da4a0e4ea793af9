package git

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/gitfor/gitfor/app/git/odb"
)

// Borrowing is this repository as if it held the objects of other too, for
// comparing across the two. Refs stay this one's, and what is written goes
// into this one, where it may not refer to what is only borrowed.
func (r *Repository) Borrowing(other *Repository) (*Repository, error) {
	if r.shared.format != other.shared.format {
		return nil, fmt.Errorf("repositories %d and %d have different object formats", r.ID, other.ID)
	}
	b := *r
	b.borrowed = append(append([]string{}, r.borrowed...), filepath.Join(other.Path, "objects"))
	extra := b.borrowed
	path := filepath.Join(r.Path, "objects")
	if r.quarantine != "" {
		extra = append([]string{path}, extra...)
		path = r.quarantine
	}
	var err error
	if b.objects, err = odb.Open(path, r.shared.format.rawLen(), r.store.cache, extra...); err != nil {
		return nil, fmt.Errorf("repository %d borrowing of %d: %w", r.ID, other.ID, err)
	}
	// What is found with borrowed objects is no answer without them.
	if b.answers, err = newAnswers(); err != nil {
		return nil, err
	}
	return &b, nil
}

// Release lets go of what is kept in memory for a view that Quarantined or
// Borrowing made; the view must not be used any more. Without it files stay
// open until others push them out. On a repository from Open it does nothing.
func (r *Repository) Release() {
	if r.objects != r.shared.objects {
		r.objects.Forget()
	}
}

// objectEnv tells git where objects are when that is not where it would look.
func (r *Repository) objectEnv() []string {
	var alternates []string
	var env []string
	if r.quarantine != "" {
		env = append(env, "GIT_OBJECT_DIRECTORY="+r.quarantine, "GIT_QUARANTINE_PATH="+r.quarantine)
		alternates = append(alternates, quoteAlternate(filepath.Join(r.Path, "objects")))
	}
	for _, path := range r.borrowed {
		alternates = append(alternates, quoteAlternate(path))
	}
	if len(alternates) > 0 {
		env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+strings.Join(alternates, ":"))
	}
	return env
}

// keepAsPack is from how many objects on a pack stays one instead of becoming
// loose objects, as in git's own receive.unpackLimit.
const keepAsPack = 100

// CopyObjects brings the commits want, and all that they reach, from another
// repository on this disk into this one, unless they are here. No ref moves.
func (r *Repository) CopyObjects(ctx context.Context, from *Repository, want ...OID) error {
	fail := func(err error) error {
		return fmt.Errorf("copy objects from repository %d to %d: %w", from.ID, r.ID, err)
	}
	if r.shared.format != from.shared.format {
		return fail(errors.New("object formats differ"))
	}
	input, any, err := r.copyInput(ctx, from, want)
	if err != nil {
		return fail(err)
	}
	if !any {
		return nil
	}
	// The thread limit leaves a processor for others.
	pack := from.Command(ctx, "pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "-q").
		Config("pack.threads", "1").Stdin(strings.NewReader(input))
	err = pack.Stream(func(out io.Reader) error {
		stream := bufio.NewReader(out)
		head, err := stream.Peek(12) // "PACK", the version, the number of objects
		if err != nil {
			return err
		}
		take := r.Command(ctx, "unpack-objects", "-q", "--strict")
		if binary.BigEndian.Uint32(head[8:]) >= keepAsPack {
			take = r.Command(ctx, "index-pack", "--stdin", "--fix-thin", "--strict")
		}
		return take.Stdin(stream).Stdout(io.Discard).Run()
	})
	if err != nil {
		return fail(err)
	}
	return r.objects.Refresh()
}

// copyInput is what pack-objects --revs reads: what is wanted, and of what this
// repository has on its refs the commits that the other knows too.
func (r *Repository) copyInput(ctx context.Context, from *Repository, want []OID) (string, bool, error) {
	var input strings.Builder
	refs, err := r.Refs(ctx, "refs/")
	if err != nil {
		return "", false, err
	}
	reached := make(map[OID]bool, len(refs))
	for _, ref := range refs {
		reached[ref.OID], reached[ref.Commit()] = true, true
	}
	any := false
	for _, oid := range want {
		info, err := from.Info(ctx, oid)
		if err != nil {
			return "", false, err
		}
		if info.Type != TypeCommit && info.Type != TypeTag {
			return "", false, fmt.Errorf("%s is a %s: %w", oid, info.Type, ErrWrongType)
		}
		if !reached[oid] {
			any = true
			input.WriteString(string(oid) + "\n")
		}
	}
	for oid := range reached {
		has, err := from.Has(ctx, oid)
		if err != nil {
			return "", false, err
		}
		if has {
			input.WriteString("^" + string(oid) + "\n")
		}
	}
	return input.String(), any, nil
}
