package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Prefixes of the two kinds of refs that people name.
const (
	BranchPrefix = "refs/heads/"
	TagPrefix    = "refs/tags/"
)

// maxSymbolic bounds chains of symbolic refs, as git does.
const maxSymbolic = 5

// Ref is a name for an object.
type Ref struct {
	// Name is the full name, such as "refs/heads/main", in raw bytes.
	Name string
	OID  OID
	// Peeled is the object that an annotated tag leads to in the end; empty
	// for every other ref.
	Peeled OID
	// Target is the full name of the ref that a symbolic ref points to.
	Target string
}

// Short is the name without refs/heads/, refs/tags/ or refs/.
func (r Ref) Short() string { return ShortRef(r.Name) }

// Commit is the object itself, or what the annotated tag leads to.
func (r Ref) Commit() OID {
	if r.Peeled != "" {
		return r.Peeled
	}
	return r.OID
}

// ShortRef is a full ref name without refs/heads/, refs/tags/ or refs/.
func ShortRef(name string) string {
	for _, prefix := range []string{BranchPrefix, TagPrefix, "refs/"} {
		if short, ok := strings.CutPrefix(name, prefix); ok {
			return short
		}
	}
	return name
}

// Refs is every ref below prefix ("refs/" for all), by name in byte order.
// The slice is shared and must not be changed.
func (r *Repository) Refs(ctx context.Context, prefix string) ([]Ref, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(prefix, "refs/") || !strings.HasSuffix(prefix, "/") {
		return nil, fmt.Errorf("list refs: %q is not a prefix of refs", prefix)
	}
	refs, err := r.shared.refs.list(prefix, r.peel)
	if err != nil {
		return nil, fmt.Errorf("list refs of repository %d: %w", r.ID, err)
	}
	return refs, nil
}

// Branches is every ref below refs/heads/; see Refs.
func (r *Repository) Branches(ctx context.Context) ([]Ref, error) { return r.Refs(ctx, BranchPrefix) }

// Tags is every ref below refs/tags/, peeled; see Refs.
func (r *Repository) Tags(ctx context.Context) ([]Ref, error) { return r.Refs(ctx, TagPrefix) }

// peel follows tags to what is none; it is "" for what is no tag to begin with.
func (r *Repository) peel(oid OID) (OID, error) {
	at := oid
	for range 20 {
		info, err := r.objects.Info(at.raw())
		if err != nil {
			return "", notFound(err)
		}
		if info.Type != TypeTag {
			if at == oid {
				return "", nil
			}
			return at, nil
		}
		tag, err := r.tagAt(at)
		if err != nil {
			return "", err
		}
		at = tag.Object
	}
	return "", fmt.Errorf("tag %s: tags point to tags without end", oid)
}

// Head is what HEAD points to: the full name of the default branch, and its
// commit, which is empty while the branch has none.
func (r *Repository) Head(ctx context.Context) (Ref, error) {
	if err := ctx.Err(); err != nil {
		return Ref{}, err
	}
	value, err := r.shared.refs.read("HEAD")
	if err != nil {
		return Ref{}, fmt.Errorf("HEAD of repository %d: %w", r.ID, err)
	}
	if value.target == "" {
		return Ref{Name: "HEAD", OID: value.oid}, nil
	}
	ref, err := r.Ref(ctx, value.target)
	if errors.Is(err, ErrNotFound) {
		return Ref{Name: value.target}, nil
	}
	return ref, err
}

// Ref is the ref of this full name, or ErrNotFound. A symbolic ref has the
// object of what it points to.
func (r *Repository) Ref(ctx context.Context, name string) (Ref, error) {
	if err := ctx.Err(); err != nil {
		return Ref{}, err
	}
	if !ValidRefName(name) {
		return Ref{}, fmt.Errorf("ref %q: %w", name, ErrNotFound)
	}
	ref := Ref{Name: name}
	at := name
	for range maxSymbolic {
		value, err := r.shared.refs.lookup(at)
		if err != nil {
			return Ref{}, fmt.Errorf("ref %q: %w", name, err)
		}
		if value.target == "" {
			ref.OID, ref.Peeled = value.oid, value.peeled
			if !value.peelKnown && strings.HasPrefix(at, TagPrefix) {
				if ref.Peeled, err = r.shared.refs.peel(value.oid, r.peel); err != nil {
					return Ref{}, fmt.Errorf("ref %q: %w", name, err)
				}
			}
			return ref, nil
		}
		if ref.Target == "" {
			ref.Target = value.target
		}
		at = value.target
	}
	return Ref{}, fmt.Errorf("ref %q: symbolic refs without end", name)
}

// refValue is what a ref's file or line says.
type refValue struct {
	oid       OID
	peeled    OID
	peelKnown bool
	target    string
}

// errBrokenRef: a ref's file does not hold what it should.
var errBrokenRef = errors.New("ref is broken")

// parseRefFile reads the content of a loose ref.
func parseRefFile(text string) (refValue, error) {
	if target, ok := strings.CutPrefix(text, "ref:"); ok {
		target = strings.TrimSpace(target)
		if !ValidRefName(target) {
			return refValue{}, fmt.Errorf("%w: symbolic ref to %q", errBrokenRef, target)
		}
		return refValue{target: target}, nil
	}
	oid, ok := ParseOID(strings.TrimRight(text, " \t\r\n"))
	if !ok {
		return refValue{}, fmt.Errorf("%w: it holds %q", errBrokenRef, text[:min(len(text), 80)])
	}
	return refValue{oid: oid}, nil
}

// read is the loose ref of this name.
func (c *refCache) read(name string) (refValue, error) {
	text, err := os.ReadFile(filepath.Join(c.path, filepath.FromSlash(name)))
	switch {
	case errors.Is(err, fs.ErrNotExist) || isNoFile(err):
		return refValue{}, ErrNotFound
	case err != nil:
		return refValue{}, err
	}
	return parseRefFile(string(text))
}

// lookup is the ref of this full name, loose or packed.
func (c *refCache) lookup(name string) (refValue, error) {
	value, err := c.read(name)
	if !errors.Is(err, ErrNotFound) {
		return value, err
	}
	packed, err := c.packedRefs()
	if err != nil {
		return refValue{}, err
	}
	i := sort.Search(len(packed), func(i int) bool { return packed[i].name >= name })
	if i < len(packed) && packed[i].name == name {
		return packed[i].refValue, nil
	}
	return refValue{}, ErrNotFound
}
