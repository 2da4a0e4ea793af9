package odb

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/klauspost/compress/zlib"
)

// looseReader reads a loose object's data.
type looseReader struct {
	file *os.File
	z    io.ReadCloser
	buf  *bufio.Reader
	info Info
	left int64
}

func openLoose(path string) (*looseReader, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errVanished
	}
	if err != nil {
		return nil, err
	}
	r, err := newLooseReader(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return r, nil
}

func newLooseReader(f *os.File) (*looseReader, error) {
	z, err := zlib.NewReader(bufio.NewReaderSize(f, 8<<10))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	r := &looseReader{file: f, z: z, buf: bufio.NewReaderSize(z, 4<<10)}
	head, err := r.buf.ReadSlice(0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	name, size, ok := bytes.Cut(head[:len(head)-1], []byte(" "))
	n, err := strconv.ParseInt(string(size), 10, 64)
	typ := ParseType(string(name))
	if !ok || err != nil || n < 0 || typ == 0 {
		return nil, fmt.Errorf("%w: header %q", ErrCorrupt, head)
	}
	r.info, r.left = Info{typ, n}, n
	return r, nil
}

func (r *looseReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.buf.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	if err == io.EOF && r.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (r *looseReader) Close() error { return r.file.Close() }

// loose reads a whole loose object.
func (db *Database) loose(pl place, hash string, limit int64) (Type, []byte, error) {
	key := cacheKey{owner: pl.dir, hash: hash}
	if typ, data, ok := db.cache.get(key); ok {
		if limit > 0 && int64(len(data)) > limit {
			return typ, nil, ErrTooLarge
		}
		return typ, data, nil
	}
	r, err := openLoose(pl.loose)
	if err != nil {
		return 0, nil, err
	}
	defer r.Close()
	if limit > 0 && r.info.Size > limit {
		return r.info.Type, nil, ErrTooLarge
	}
	// The buffer grows with what is there, not with what the header promises.
	var buf bytes.Buffer
	buf.Grow(int(min(r.info.Size, 1<<20)))
	if _, err := buf.ReadFrom(r); err != nil {
		return 0, nil, fmt.Errorf("%w: %q: %w", ErrCorrupt, pl.loose, err)
	}
	if int64(buf.Len()) != r.info.Size {
		return 0, nil, fmt.Errorf("%w: %q is cut short", ErrCorrupt, pl.loose)
	}
	db.cache.put(key, r.info.Type, buf.Bytes())
	return r.info.Type, buf.Bytes(), nil
}
