package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// disk is a space in a folder: ab/cd/<sha>.
type disk struct{ dir, tmp string }

func (d *disk) path(sha string) string { return filepath.Join(d.dir, sha[:2], sha[2:4], sha) }

// Put stores what r holds.
func (d *disk) Put(ctx context.Context, r io.Reader) (Info, error) { return d.put(ctx, r, "", 0) }

// PutAs stores what r holds when it is what was announced.
func (d *disk) PutAs(ctx context.Context, sha string, size int64, r io.Reader) error {
	if !IsSHA256(sha) {
		return ErrMismatch
	}
	_, err := d.put(ctx, r, sha, size)
	return err
}

func (d *disk) put(ctx context.Context, r io.Reader, sha string, size int64) (Info, error) {
	name, info, err := spool(ctx, d.tmp, r, sha, size)
	if err != nil {
		return info, fmt.Errorf("put blob: %w", err)
	}
	if err := d.adopt(name, info.SHA256); err != nil {
		return info, errors.Join(fmt.Errorf("put blob: %w", err), os.Remove(name))
	}
	return info, nil
}

// adopt moves a durable file of this content into place.
func (d *disk) adopt(name, sha string) error {
	to := d.path(sha)
	dir := filepath.Dir(to)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := os.Chmod(name, 0o440); err != nil {
		return err
	}
	// A rename over the same content also makes it new.
	if err := os.Rename(name, to); err != nil {
		return err
	}
	// The entries of all folders that may have been made just now.
	for _, p := range []string{dir, filepath.Dir(dir), d.dir, filepath.Dir(d.dir)} {
		if err := syncDir(p); err != nil {
			return err
		}
	}
	return nil
}

func syncDir(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Open opens a blob.
func (d *disk) Open(_ context.Context, sha string) (io.ReadSeekCloser, Info, error) {
	if !IsSHA256(sha) {
		return nil, Info{}, ErrNotFound
	}
	f, err := os.Open(d.path(sha))
	if err != nil {
		return nil, Info{}, err
	}
	stat, err := f.Stat()
	if err != nil {
		return nil, Info{}, errors.Join(err, f.Close())
	}
	return f, Info{sha, stat.Size(), stat.ModTime()}, nil
}

// Stat describes a blob.
func (d *disk) Stat(_ context.Context, sha string) (Info, error) {
	if !IsSHA256(sha) {
		return Info{}, ErrNotFound
	}
	stat, err := os.Stat(d.path(sha))
	if err != nil {
		return Info{}, err
	}
	return Info{sha, stat.Size(), stat.ModTime()}, nil
}

// Delete removes a blob.
func (d *disk) Delete(_ context.Context, sha string) error {
	if !IsSHA256(sha) {
		return nil
	}
	if err := os.Remove(d.path(sha)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Each calls fn with every blob.
func (d *disk) Each(ctx context.Context, fn func(Info) error) error {
	return filepath.WalkDir(d.dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // nothing was put yet, or it went meanwhile
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case e.IsDir() || !IsSHA256(e.Name()):
			return nil
		}
		stat, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return fn(Info{e.Name(), stat.Size(), stat.ModTime()})
	})
}

// CleanTemp removes what unfinished puts left that began before the time, and
// partial uploads that nobody continued since.
func (s *Stores) CleanTemp(before time.Time) error {
	entries, err := os.ReadDir(s.tmp)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.ModTime().Before(before) {
			err = os.Remove(filepath.Join(s.tmp, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
