package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gitfor/gitfor/app/git/odb"
)

// Type is the kind of an object.
type Type = odb.Type

// The kinds of objects.
const (
	TypeCommit = odb.Commit
	TypeTree   = odb.Tree
	TypeBlob   = odb.Blob
	TypeTag    = odb.Tag
)

// Limits in bytes on what is held in memory whole.
const (
	maxCommitSize = 16 << 20
	maxTreeSize   = 128 << 20
)

// Info is an object's type and size in bytes.
type Info = odb.Info

// Object is an object in memory. Data may be shared and must not be changed.
type Object struct {
	OID  OID
	Type Type
	Data []byte
}

// notFound makes the object database's "not found" this package's.
func notFound(err error) error {
	if errors.Is(err, odb.ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return err
}

// Info is the type and size of the object, without reading all of it.
func (r *Repository) Info(ctx context.Context, oid OID) (Info, error) {
	if err := ctx.Err(); err != nil {
		return Info{}, err
	}
	info, err := r.objects.Info(oid.raw())
	return info, notFound(err)
}

// Has reports whether the object is there.
func (r *Repository) Has(ctx context.Context, oid OID) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return r.objects.Has(oid.raw())
}

// Object is the whole object; one of more than limit bytes is ErrTooLarge
// (0 is no limit).
func (r *Repository) Object(ctx context.Context, oid OID, limit int64) (Object, error) {
	if err := ctx.Err(); err != nil {
		return Object{}, err
	}
	typ, data, err := r.objects.Get(oid.raw(), limit)
	return Object{OID: oid, Type: typ, Data: data}, notFound(err)
}

// typed is the data of an object that must be of typ.
func (r *Repository) typed(ctx context.Context, oid OID, typ Type, limit int64) ([]byte, error) {
	o, err := r.Object(ctx, oid, limit)
	if err != nil {
		return nil, err
	}
	if o.Type != typ {
		return nil, fmt.Errorf("%s is a %s, not a %s: %w", oid, o.Type, typ, ErrWrongType)
	}
	return o.Data, nil
}

// Blob is a file's content, of at most limit bytes (0 is no limit).
func (r *Repository) Blob(ctx context.Context, oid OID, limit int64) ([]byte, error) {
	return r.typed(ctx, oid, TypeBlob, limit)
}

// inMemory is the size in bytes up to which a stored delta is put together in
// memory to stream it; git does it for larger ones.
const inMemory = 8 << 20

// BlobReader streams a file's content and is its size in bytes. The reader
// must be closed.
func (r *Repository) BlobReader(ctx context.Context, oid OID) (io.ReadCloser, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	stream, info, ok, err := r.objects.Reader(oid.raw())
	if err != nil {
		return nil, 0, notFound(err)
	}
	if ok {
		if info.Type != TypeBlob {
			stream.Close()
			return nil, 0, fmt.Errorf("%s is a %s, not a blob: %w", oid, info.Type, ErrWrongType)
		}
		return stream, info.Size, nil
	}
	data, err := r.Blob(ctx, oid, inMemory)
	if err == nil {
		return io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
	}
	if !errors.Is(err, ErrTooLarge) {
		return nil, 0, err
	}
	if info, err = r.Info(ctx, oid); err != nil {
		return nil, 0, err
	}
	return r.blobFromGit(ctx, oid, info.Size)
}

// blobFromGit streams a large delta through git, which spares our memory.
func (r *Repository) blobFromGit(ctx context.Context, oid OID, size int64) (io.ReadCloser, int64, error) {
	cmd := r.Command(ctx, "cat-file", "blob").Revs(string(oid))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	return &commandReader{out: out, cmd: cmd}, size, nil
}

// commandReader reads what git writes; its end and its failure are git's.
type commandReader struct {
	out  io.ReadCloser
	cmd  *Cmd
	done bool
}

func (c *commandReader) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	if err == io.EOF && !c.done {
		c.done = true
		if werr := c.cmd.Wait(); werr != nil {
			return n, werr
		}
	}
	return n, err
}

// Close ends git when it still runs.
func (c *commandReader) Close() error {
	if c.done {
		return nil
	}
	c.done = true
	_ = c.cmd.stop()
	c.out.Close()
	_ = c.cmd.Wait() // it was told to stop; that it did is no failure
	return nil
}
