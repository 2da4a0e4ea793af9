package git

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/gitfor/gitfor/app/git/odb"
)

// Revision is what a name that someone typed stands for.
type Revision struct {
	// Name is the name as typed.
	Name string
	// Ref is the full name of the ref; empty when Name is an object's id.
	Ref string
	// OID is the object that is named: a commit, or an annotated tag.
	OID OID
	// Commit is the commit in the end; empty when the tag leads to none.
	Commit OID
}

// IsBranch reports whether the name is a branch's.
func (v Revision) IsBranch() bool { return strings.HasPrefix(v.Ref, BranchPrefix) }

// IsTag reports whether the name is a tag's.
func (v Revision) IsTag() bool { return strings.HasPrefix(v.Ref, TagPrefix) }

// maxTypedRef bounds how long a prefix of an address is tried as a ref.
const maxTypedRef = maxRefName

// ResolveRef is what name stands for: a branch, a tag, HEAD, a full ref name
// ("refs/heads/x", also "heads/x" and "tags/x"), or a commit's id, whole or of
// at least four digits, in this order. So a branch whose name looks like an id
// is found as the branch. ErrNotFound when it is none of them, ErrAmbiguous
// when a short id fits several commits.
func (r *Repository) ResolveRef(ctx context.Context, name string) (Revision, error) {
	for _, full := range []string{BranchPrefix + name, TagPrefix + name, name, "refs/" + name} {
		if len(full) > maxTypedRef || !ValidRefName(full) {
			continue
		}
		ref, err := r.Ref(ctx, full)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return Revision{}, err
		}
		return r.revision(ctx, name, ref)
	}
	if name == "HEAD" {
		head, err := r.Head(ctx)
		if err == nil && head.OID == "" {
			err = fmt.Errorf("HEAD: %w", ErrNotFound)
		}
		if err != nil {
			return Revision{}, err
		}
		return r.revision(ctx, name, head)
	}
	oid, err := r.expand(ctx, name)
	if err != nil {
		return Revision{}, err
	}
	return r.revision(ctx, name, Ref{OID: oid})
}

// revision finds the commit that a ref or an id leads to.
func (r *Repository) revision(ctx context.Context, name string, ref Ref) (Revision, error) {
	v := Revision{Name: name, Ref: ref.Name, OID: ref.OID}
	if v.Ref == "HEAD" {
		v.Ref = ""
	}
	at := ref.Commit()
	for range 20 {
		info, err := r.Info(ctx, at)
		if err != nil {
			return Revision{}, fmt.Errorf("revision %q: %w", name, err)
		}
		switch info.Type {
		case TypeCommit:
			v.Commit = at
			return v, nil
		case TypeTag:
			tag, err := r.Tag(ctx, at)
			if err != nil {
				return Revision{}, fmt.Errorf("revision %q: %w", name, err)
			}
			at = tag.Object
		default:
			if ref.Name == "" {
				return Revision{}, fmt.Errorf("revision %q: %w", name, ErrNotFound)
			}
			return v, nil
		}
	}
	return v, nil
}

// expand is the object whose id begins with digits. Where several do, the only
// commit or tag among them is meant.
func (r *Repository) expand(ctx context.Context, digits string) (OID, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	hexLen := 2 * r.shared.format.rawLen()
	if len(digits) < odb.MinPrefix || len(digits) > hexLen || !isHex(digits) {
		return "", fmt.Errorf("revision %q: %w", digits, ErrNotFound)
	}
	if len(digits) == hexLen {
		oid := OID(strings.ToLower(digits))
		has, err := r.Has(ctx, oid)
		if err == nil && !has {
			err = fmt.Errorf("revision %q: %w", digits, ErrNotFound)
		}
		return oid, err
	}
	all, err := r.objects.ExpandAll(digits, 256)
	if err != nil {
		return "", fmt.Errorf("revision %q: %w", digits, notFound(err))
	}
	var found OID
	for _, raw := range all {
		info, err := r.objects.Info(raw)
		if err != nil {
			return "", fmt.Errorf("revision %q: %w", digits, notFound(err))
		}
		if info.Type != TypeCommit && info.Type != TypeTag {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("revision %q: %w", digits, ErrAmbiguous)
		}
		found = OID(hex.EncodeToString([]byte(raw)))
	}
	if found == "" {
		return "", fmt.Errorf("revision %q: %w", digits, ErrNotFound)
	}
	return found, nil
}

// SplitRefPath splits "feature/x/dir/file" from an address (decoded) into the
// revision that it begins with and the path after it. The longest existing
// branch or tag wins, a branch before a tag of the same name; then full ref
// names, HEAD and commit ids of the first part.
func (r *Repository) SplitRefPath(ctx context.Context, address string) (Revision, string, error) {
	address = strings.Trim(address, "/")
	best, err := r.longestRef(ctx, BranchPrefix, address)
	if err != nil {
		return Revision{}, "", err
	}
	tag, err := r.longestRef(ctx, TagPrefix, address)
	if err != nil {
		return Revision{}, "", err
	}
	if len(tag.Short()) > len(best.Short()) || best.Name == "" {
		best = tag
	}
	if best.Name != "" {
		name := best.Short()
		v, err := r.revision(ctx, name, best)
		return v, strings.Trim(address[len(name):], "/"), err
	}
	if strings.HasPrefix(address, "refs/") || strings.HasPrefix(address, "heads/") || strings.HasPrefix(address, "tags/") {
		full := "refs/" + strings.TrimPrefix(address, "refs/")
		ref, err := r.longestRef(ctx, "refs/", strings.TrimPrefix(full, "refs/"))
		if err != nil {
			return Revision{}, "", err
		}
		if ref.Name != "" {
			v, err := r.revision(ctx, ref.Name, ref)
			return v, strings.Trim(full[len(ref.Name):], "/"), err
		}
	}
	name, path, _ := strings.Cut(address, "/")
	v, err := r.ResolveRef(ctx, name)
	return v, strings.Trim(path, "/"), err
}

// longestRef is the ref below prefix whose name address begins with; Name is
// empty when there is none. No ref's name is the folder of another, so there
// is one at most.
func (r *Repository) longestRef(ctx context.Context, prefix, address string) (Ref, error) {
	refs, err := r.Refs(ctx, prefix)
	if err != nil {
		return Ref{}, err
	}
	for end := 0; end < len(address) && end < maxTypedRef; {
		next := strings.IndexByte(address[end:], '/')
		if next < 0 {
			end = len(address)
		} else {
			end += next
		}
		name := prefix + address[:end]
		i := sort.Search(len(refs), func(i int) bool { return refs[i].Name >= name })
		if i < len(refs) && refs[i].Name == name {
			return refs[i], nil
		}
		folder := name + "/"
		j := sort.Search(len(refs), func(i int) bool { return refs[i].Name >= folder })
		if j == len(refs) || !strings.HasPrefix(refs[j].Name, folder) {
			return Ref{}, nil
		}
		end++
	}
	return Ref{}, nil
}
