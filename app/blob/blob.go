// Package blob keeps content by its SHA-256: LFS objects, attachments,
// packages and the like, on the local disk or in S3. It knows no domain noun.
//
// A feature works in a space of its own (Stores.Space), so that deleting
// concerns nobody else's content. It writes the blob before the row that names
// it, and deletes it a day after that row is gone: a backup then has every blob
// that its rows name.
package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Keep is how long a blob stays after its last row is gone.
const Keep = 24 * time.Hour

// ErrMismatch says that content is not what it was announced as.
var ErrMismatch = errors.New("content does not have the announced SHA-256 and size")

// ErrNotFound says that there is no blob of this SHA-256. It is fs.ErrNotExist.
var ErrNotFound = fs.ErrNotExist

// Info describes a blob.
type Info struct {
	// SHA256 is the content's, as 64 lower case hexadecimal digits.
	SHA256 string
	// Size is in bytes.
	Size int64
	// ModTime is when it was last put.
	ModTime time.Time
}

// Store is one space of blobs. Methods may be called concurrently; a put is
// durable when it returns, and one that fails leaves nothing.
type Store interface {
	// Put stores what r holds and says what it is. Content that is there
	// already is stored once, and counts as new: its ModTime is now.
	Put(ctx context.Context, r io.Reader) (Info, error)
	// PutAs is Put for content that must be of this SHA-256 and size;
	// ErrMismatch when it is not.
	PutAs(ctx context.Context, sha string, size int64, r io.Reader) error
	// Open opens a blob for reading and seeking; ErrNotFound.
	Open(ctx context.Context, sha string) (io.ReadSeekCloser, Info, error)
	// Stat describes a blob; ErrNotFound.
	Stat(ctx context.Context, sha string) (Info, error)
	// Delete removes a blob; none of this SHA-256 is no error.
	Delete(ctx context.Context, sha string) error
	// Each calls fn with every blob, in no order, until fn fails.
	Each(ctx context.Context, fn func(Info) error) error
}

// Stores makes the spaces of one place, and partial uploads on the local disk.
type Stores struct {
	tmp   string
	space func(name string) Store
	about string
}

// Open opens the place at address: "" for folder on the local disk, or
// s3://KEY:SECRET@HOST/BUCKET[/PREFIX][?region=R&insecure=1]. Content on its
// way is in folder/tmp in either case.
func Open(folder, address string) (*Stores, error) {
	s := &Stores{tmp: filepath.Join(folder, "tmp")}
	if err := os.MkdirAll(s.tmp, 0o700); err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	if address == "" {
		s.about = folder
		s.space = func(name string) Store { return &disk{filepath.Join(folder, name), s.tmp} }
		return s, nil
	}
	bucket, err := openBucket(address)
	if err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	s.about = bucket.String()
	s.space = func(name string) Store { return &s3{bucket, name, s.tmp} }
	return s, nil
}

// Space is the space called name, a word of lower case letters.
func (s *Stores) Space(name string) Store { return s.space(name) }

// String names the place, without credentials.
func (s *Stores) String() string { return s.about }

// Check says whether the place can be written to and read from.
func (s *Stores) Check(ctx context.Context) error {
	space := s.Space("check")
	info, err := space.Put(ctx, io.LimitReader(zeros{}, 16))
	if err != nil {
		return err
	}
	f, _, err := space.Open(ctx, info.SHA256)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), space.Delete(ctx, info.SHA256))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// IsSHA256 says whether s has the form of a blob's name.
func IsSHA256(s string) bool {
	if len(s) != 2*sha256.Size {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// spool writes r into a new file in tmp, durable and closed, and says what it
// holds. With a sha the content must be that, of size bytes.
func spool(ctx context.Context, tmp string, r io.Reader, sha string, size int64) (name string, info Info, err error) {
	f, err := os.CreateTemp(tmp, "put-")
	if err != nil {
		return "", info, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if sha != "" {
		r = io.LimitReader(r, size+1)
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, h), reader{ctx, r})
	if err != nil {
		return "", info, err
	}
	info = Info{SHA256: sum(h), Size: n, ModTime: time.Now()}
	if sha != "" && (info.SHA256 != sha || n != size) {
		return "", info, ErrMismatch
	}
	return f.Name(), info, f.Sync()
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// reader ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
