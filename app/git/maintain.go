package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// DefaultGrace is how long objects stay that nothing refers to any more: a
// push or a merge may be about to refer to them.
const DefaultGrace = 14 * 24 * time.Hour

// staleAfter is how old a file of an unfinished write must be to be taken for
// one that a crash left behind.
const staleAfter = time.Hour

// ErrMaintained says that the repository is being maintained already.
var ErrMaintained = errors.New("repository is being maintained already")

// MaintainOptions choose the steps of Maintain.
type MaintainOptions struct {
	// Refs packs loose refs into one file.
	Refs bool
	// Repack joins small packs and loose objects, so that each pack is at least
	// twice as large as the next, with an index and bitmaps over all.
	Repack bool
	// Full makes one pack of all that is reachable, with bitmaps, and one of the
	// rest, in which each object has the time when it was first found to be
	// unreachable. It takes the place of Repack.
	Full bool
	// Expire, after a Full repack, lets go of what was found to be unreachable
	// Grace ago. ErrWriting when somebody is writing: then nothing goes.
	Expire bool
	// Grace is DefaultGrace when 0.
	Grace time.Duration
	// KeepUnreachable keeps unreachable objects among the others in a Full
	// repack: other repositories borrow them. Expire then does nothing.
	KeepUnreachable bool
	// Graph writes the commit-graph with filters of changed paths.
	Graph bool
}

// None reports whether there is nothing to do.
func (o MaintainOptions) None() bool { return !o.Refs && !o.Repack && !o.Full && !o.Expire && !o.Graph }

// Maintain tidies the repository while it is in use. Only one run at a time is
// done for a repository in one process; another is ErrMaintained.
func (r *Repository) Maintain(ctx context.Context, opts MaintainOptions) error {
	if !r.shared.maintaining.TryLock() {
		return ErrMaintained
	}
	defer r.shared.maintaining.Unlock()
	if err := r.clearStale(time.Now().Add(-staleAfter)); err != nil {
		return fmt.Errorf("maintain repository %d: %w", r.ID, err)
	}
	if opts.Refs {
		if err := r.Command(ctx, "pack-refs", "--all", "--prune").Run(); err != nil {
			return err
		}
	}
	if err := r.repack(ctx, opts); err != nil {
		return err
	}
	if opts.Graph {
		options := []string{"write", "--reachable", "--changed-paths", "--no-progress"}
		if !opts.Full && !r.borrows() {
			options = append(options, "--split", "--size-multiple=4")
		}
		if err := r.Command(ctx, "commit-graph", options...).Run(); err != nil {
			return err
		}
	}
	return r.objects.Refresh()
}

// repack does the steps that are about packs.
func (r *Repository) repack(ctx context.Context, opts MaintainOptions) error {
	borrows := r.borrows()
	switch {
	case opts.Full:
		if err := r.repackFull(ctx, opts, borrows); err != nil {
			return err
		}
	case opts.Repack:
		if err := r.repackSome(ctx, borrows); err != nil {
			return err
		}
	}
	if opts.Expire && !opts.KeepUnreachable {
		return r.expire(ctx, opts, borrows)
	}
	return nil
}

// borrows reports whether objects come from another repository too. Bitmaps
// need all objects in one place.
func (r *Repository) borrows() bool {
	_, err := os.Stat(filepath.Join(r.Path, "objects", "info", "alternates"))
	return err == nil
}

// repackCommand leaves a processor and memory for those who wait for answers.
func (r *Repository) repackCommand(ctx context.Context, options ...string) *Cmd {
	return r.Command(ctx, "repack", append([]string{"-d", "-l", "-q"}, options...)...).
		Config("pack.threads", "1").Config("pack.windowMemory", "256m").Config("repack.updateServerInfo", "false")
}

func (r *Repository) repackFull(ctx context.Context, opts MaintainOptions, borrows bool) error {
	var options []string
	if !borrows {
		options = append(options, "--write-bitmap-index")
	}
	if opts.KeepUnreachable {
		return r.repackCommand(ctx, append(options, "-a", "-k")...).Run()
	}
	if err := r.freshen(ctx); err != nil {
		return err
	}
	return r.repackCommand(ctx, append(options, "--cruft", "--cruft-expiration=never")...).Run()
}

// freshen makes what is not known to be unreachable yet as old as now. Git
// takes the time of an object's file for the time since which nothing has
// referred to it, though a branch that was deleted a moment ago may have led to
// it for years.
func (r *Repository) freshen(ctx context.Context) error {
	now := time.Now()
	touch := func(path string) error {
		if err := os.Chtimes(path, now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("freshen repository %d: %w", r.ID, err)
		}
		return ctx.Err()
	}
	objects := filepath.Join(r.Path, "objects")
	packs, err := filepath.Glob(filepath.Join(objects, "pack", "pack-*.pack"))
	if err != nil {
		return err
	}
	for _, path := range packs {
		if _, err := os.Stat(strings.TrimSuffix(path, ".pack") + ".mtimes"); err == nil {
			continue // the objects have times of their own
		}
		if err := touch(path); err != nil {
			return err
		}
	}
	loose, err := filepath.Glob(filepath.Join(objects, "[0-9a-f][0-9a-f]", "*"))
	if err != nil {
		return err
	}
	for _, path := range loose {
		if err := touch(path); err != nil {
			return err
		}
	}
	return nil
}

// expire drops what has been unreachable for the grace period. No writer may be
// about to refer to it: a push in quarantine, or one that has begun to move refs.
func (r *Repository) expire(ctx context.Context, opts MaintainOptions, borrows bool) error {
	release, err := r.alone()
	if err != nil {
		return err
	}
	defer release()
	grace := opts.Grace
	if grace <= 0 {
		grace = DefaultGrace
	}
	options := []string{"--cruft", "--cruft-expiration=" + time.Now().Add(-grace).UTC().Format(time.RFC3339)}
	if !borrows {
		options = append(options, "--write-bitmap-index")
	}
	return r.repackCommand(ctx, options...).Run()
}

func (r *Repository) repackSome(ctx context.Context, borrows bool) error {
	if borrows {
		return r.repackCommand(ctx, "--geometric=2").Run()
	}
	err := r.repackCommand(ctx, "--geometric=2", "--write-midx", "--write-bitmap-index").Run()
	if err == nil || ctx.Err() != nil {
		return err
	}
	// Bitmaps over several packs fail when something reachable lies outside of
	// them, in a cruft pack. A full repack brings it back.
	return r.repackFull(ctx, MaintainOptions{}, borrows)
}

// ClearStale removes locks and temporary files that a crash left behind, once
// they are older than age. Nobody may be writing for that long.
func (r *Repository) ClearStale(age time.Duration) error {
	if err := r.clearStale(time.Now().Add(-age)); err != nil {
		return fmt.Errorf("clear repository %d: %w", r.ID, err)
	}
	return nil
}

func (r *Repository) clearStale(before time.Time) error {
	return filepath.WalkDir(r.Path, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name := d.Name()
		rel, _ := filepath.Rel(r.Path, path)
		rel = filepath.ToSlash(rel)
		inObjects := strings.HasPrefix(rel, "objects/")
		if d.IsDir() {
			// 256 folders of loose objects hold nothing of ours
			if inObjects && len(name) == 2 && isHex(name) {
				return fs.SkipDir
			}
			if !inObjects || !(strings.HasPrefix(name, "tmp_objdir-") || strings.HasPrefix(name, "incoming-")) {
				return nil
			}
		} else if !strings.HasSuffix(name, ".lock") && !(inObjects && strings.HasPrefix(name, "tmp_")) {
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.ModTime().After(before) {
			return nil
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}
