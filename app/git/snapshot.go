package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// IDs lists the repositories that have a folder, in no order.
func (s *Store) IDs(ctx context.Context) ([]int64, error) {
	paths, err := filepath.Glob(filepath.Join(s.root, "[0-9a-f][0-9a-f]", "*.git"))
	if err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	var out []int64
	for _, path := range paths {
		id, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(path), ".git"), 10, 64)
		if err == nil && s.Path(id) == path {
			out = append(out, id)
		}
	}
	return out, ctx.Err()
}

// Root is the folder of the store.
func (s *Store) Root() string { return s.root }

// snapshotTries bounds how often a snapshot starts again because maintenance
// replaced packs under it.
const snapshotTries = 5

// Snapshot makes dst, which must not exist, a whole repository with the refs
// that repository id has now, while it may be written and maintained. Objects
// are hard links where the file system has them. What can be made again
// (commit-graph, multi-pack index) is left out.
func (s *Store) Snapshot(ctx context.Context, id int64, dst string) error {
	r, err := s.Open(ctx, id)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		err = r.snapshot(ctx, dst)
		if err == nil || try == snapshotTries || !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err := os.RemoveAll(dst); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("snapshot of repository %d: %w", id, err)
	}
	return nil
}

func (r *Repository) snapshot(ctx context.Context, dst string) error {
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(dst, dir), 0o777); err != nil {
			return err
		}
	}
	// Refs first: objects only come, so those that the refs reach are among
	// what is linked afterwards.
	refs, err := r.Refs(ctx, "refs/")
	if err != nil {
		return err
	}
	var packed strings.Builder
	packed.WriteString("# pack-refs with: sorted \n")
	for _, ref := range refs {
		fmt.Fprintf(&packed, "%s %s\n", ref.OID, ref.Name)
	}
	if err := os.WriteFile(filepath.Join(dst, "packed-refs"), []byte(packed.String()), 0o666); err != nil {
		return err
	}
	entries, err := os.ReadDir(r.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == "objects", name == "refs", name == "packed-refs", name == "logs", strings.HasSuffix(name, ".lock"):
			continue
		case e.IsDir():
			err = os.CopyFS(filepath.Join(dst, name), os.DirFS(filepath.Join(r.Path, name)))
		default:
			err = copyFile(filepath.Join(r.Path, name), filepath.Join(dst, name))
		}
		if err != nil {
			return err
		}
	}
	return linkObjects(ctx, filepath.Join(r.Path, "objects"), filepath.Join(dst, "objects"))
}

// linkObjects links loose objects before packs: one that is packed meanwhile
// is then in a pack that is seen.
func linkObjects(ctx context.Context, from, to string) error {
	if err := copyFile(filepath.Join(from, "info", "alternates"), filepath.Join(to, "info", "alternates")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	folders, err := filepath.Glob(filepath.Join(from, "[0-9a-f][0-9a-f]"))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if err := linkFolder(ctx, folder, filepath.Join(to, filepath.Base(folder)), func(name string) bool {
			return !strings.HasPrefix(name, "tmp_")
		}); err != nil {
			return err
		}
	}
	return linkFolder(ctx, filepath.Join(from, "pack"), filepath.Join(to, "pack"), func(name string) bool {
		if !strings.HasPrefix(name, "pack-") {
			return false
		}
		// A pack counts from when its index is there.
		_, err := os.Stat(filepath.Join(from, "pack", strings.TrimSuffix(name, filepath.Ext(name))+".idx"))
		return err == nil
	})
}

func linkFolder(ctx context.Context, from, to string, want func(name string) bool) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() || !want(e.Name()) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		src, dst := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		err := os.Link(src, dst)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			err = copyFile(src, dst)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
