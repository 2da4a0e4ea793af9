package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrOffset says that a part does not continue where the upload ended.
var ErrOffset = errors.New("part does not begin where the upload ended")

// ErrBusy says that another request writes to the upload.
var ErrBusy = errors.New("another request writes to this upload")

// Partial is an upload in parts, kept on the local disk until it is complete;
// CleanTemp forgets it when nobody continues it.
type Partial struct{ file string }

// Partial is the upload called key (letters, digits and -). It need not exist.
func (s *Stores) Partial(key string) *Partial {
	return &Partial{filepath.Join(s.tmp, "partial-"+filepath.Base(key))}
}

// Size is how many bytes arrived, 0 when none did.
func (p *Partial) Size() (int64, error) {
	stat, err := os.Stat(p.file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return stat.Size(), nil
}

// Append adds what r holds at offset, and keeps what arrived when r fails. At
// most limit bytes may be there then. ErrOffset, ErrBusy, ErrMismatch when it
// is more.
func (p *Partial) Append(ctx context.Context, offset, limit int64, r io.Reader) (size int64, err error) {
	f, err := os.OpenFile(p.file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := lockFile(f); err != nil {
		return 0, err
	}
	size, err = f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	if size != offset {
		return size, ErrOffset
	}
	n, err := io.Copy(f, io.LimitReader(reader{ctx, r}, limit-size))
	size += n
	if err != nil {
		return size, fmt.Errorf("upload part: %w", err)
	}
	var more [1]byte
	if n, _ := io.ReadFull(r, more[:]); n > 0 {
		return size, ErrMismatch
	}
	return size, nil
}

// Finish puts the upload into a space when it has this SHA-256 and size. With
// ErrMismatch it is forgotten, so that the next try begins anew.
func (p *Partial) Finish(ctx context.Context, to Store, sha string, size int64) error {
	f, err := os.Open(p.file)
	if err != nil {
		return err
	}
	err = to.PutAs(ctx, sha, size, f)
	if err == nil || errors.Is(err, ErrMismatch) {
		err = errors.Join(err, os.Remove(p.file))
	}
	return errors.Join(err, f.Close())
}
