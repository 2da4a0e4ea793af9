package odb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// maxDeltaDepth bounds a chain of deltas; git's own packs stay below 4,095.
const maxDeltaDepth = 5000

// headRead is how much is read at an object's place first, in bytes: the
// header and, mostly, all of a small object.
const headRead = 1 << 10

// pack is one pack file with its index.
type pack struct {
	path  string // without ".pack"
	index *index
	once  sync.Once
	file  *os.File
	size  int64
	err   error
}

// open opens the pack's file at its first use. Both files stay open until the
// pack is garbage, so readers never see them closed.
func (p *pack) open() error {
	p.once.Do(func() {
		f, err := os.Open(p.path + ".pack")
		if errors.Is(err, fs.ErrNotExist) {
			p.err = errVanished
			return
		}
		if err != nil {
			p.err = err
			return
		}
		info, err := f.Stat()
		if err != nil {
			p.err = err
			return
		}
		p.file, p.size = f, info.Size()
	})
	return p.err
}

// entry is an object's header in a pack.
type entry struct {
	typ  Type
	size int64 // of the object, or of the delta's own data
	data int64 // where its deflated bytes begin
	base int64 // of an offset delta
	ref  string
}

// header reads the entry at offset; head holds bytes from data on that came
// with it.
func (p *pack) header(offset int64, buf []byte) (e entry, head []byte, err error) {
	if err := p.open(); err != nil {
		return entry{}, nil, err
	}
	n, err := p.file.ReadAt(buf, offset)
	if err != nil && err != io.EOF {
		return entry{}, nil, err
	}
	b := buf[:n]
	bad := fmt.Errorf("%w: entry at %d of %q", ErrCorrupt, offset, p.path)
	if n == 0 {
		return entry{}, nil, bad
	}
	e.typ = Type(b[0] >> 4 & 7)
	e.size = int64(b[0] & 15)
	i, shift := 1, uint(4)
	for more := b[0]&0x80 != 0; more; i++ {
		if i >= n || shift > 56 {
			return entry{}, nil, bad
		}
		e.size |= int64(b[i]&0x7f) << shift
		shift += 7
		more = b[i]&0x80 != 0
	}
	switch e.typ {
	case Commit, Tree, Blob, Tag:
	case ofsDelta:
		back, used := baseDistance(b[i:])
		if used == 0 || back <= 0 || back >= offset {
			return entry{}, nil, bad
		}
		e.base = offset - back
		i += used
	case refDelta:
		if i+p.index.hashLen > n {
			return entry{}, nil, bad
		}
		e.ref = string(b[i : i+p.index.hashLen])
		i += p.index.hashLen
	default:
		return entry{}, nil, bad
	}
	e.data = offset + int64(i)
	return e, b[i:], nil
}

// baseDistance reads the distance to a delta's base; used is 0 when broken.
func baseDistance(b []byte) (distance int64, used int) {
	for i := range b {
		if i > 8 {
			return 0, 0
		}
		if i > 0 {
			distance++
		}
		distance = distance<<7 | int64(b[i]&0x7f)
		if b[i]&0x80 == 0 {
			return distance, i + 1
		}
	}
	return 0, 0
}

// inflater is a zlib reader that is used again.
type inflater struct {
	z   io.ReadCloser
	src sectionReader
	buf [headRead]byte
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// sectionReader reads first head, then the file from offset on.
type sectionReader struct {
	head   []byte
	file   *os.File
	offset int64
	buf    [16 << 10]byte
}

func (r *sectionReader) fill() error {
	n, err := r.file.ReadAt(r.buf[:], r.offset)
	if n == 0 {
		if err == nil || err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	r.head, r.offset = r.buf[:n], r.offset+int64(n)
	return nil
}

func (r *sectionReader) Read(p []byte) (int, error) {
	if len(r.head) == 0 {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.head)
	r.head = r.head[n:]
	return n, nil
}

// ReadByte lets the inflater read without a buffer of its own.
func (r *sectionReader) ReadByte() (byte, error) {
	if len(r.head) == 0 {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	b := r.head[0]
	r.head = r.head[1:]
	return b, nil
}

func (in *inflater) reset(file *os.File, head []byte, offset int64) error {
	in.src.file, in.src.head, in.src.offset = file, head, offset
	if in.z == nil {
		z, err := zlib.NewReader(&in.src)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		in.z = z
		return nil
	}
	if err := in.z.(zlib.Resetter).Reset(&in.src, nil); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// release gives the inflater back without holding on to a file.
func (in *inflater) release() {
	in.src.file, in.src.head = nil, nil
	inflaters.Put(in)
}

// inflate is the whole data of the entry, whose first bytes are head.
func (p *pack) inflate(in *inflater, e entry, head []byte) ([]byte, error) {
	// A header may lie about the size; no object deflates better than this.
	if e.size > (p.size-e.data)*1100+64 {
		return nil, fmt.Errorf("%w: size of entry at %d of %q", ErrCorrupt, e.data, p.path)
	}
	if err := in.reset(p.file, head, e.data+int64(len(head))); err != nil {
		return nil, err
	}
	data := make([]byte, e.size)
	if _, err := io.ReadFull(in.z, data); err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrCorrupt, p.path, err)
	}
	// One more read meets the end and so checks the sum.
	var one [1]byte
	if n, err := in.z.Read(one[:]); n != 0 || err != io.EOF {
		return nil, fmt.Errorf("%w: entry at %d of %q does not end", ErrCorrupt, e.data, p.path)
	}
	return data, nil
}

// deltaSize is the size of what a delta makes, from its first bytes.
func (p *pack) deltaSize(in *inflater, e entry, head []byte) (int64, error) {
	if err := in.reset(p.file, head, e.data+int64(len(head))); err != nil {
		return 0, err
	}
	var b [20]byte
	n, err := io.ReadFull(in.z, b[:min(int64(len(b)), e.size)])
	if err != nil {
		return 0, fmt.Errorf("%w: %q: %w", ErrCorrupt, p.path, err)
	}
	_, used := binary.Uvarint(b[:n])
	if used <= 0 {
		return 0, fmt.Errorf("%w: delta at %d of %q", ErrCorrupt, e.data, p.path)
	}
	size, used := binary.Uvarint(b[used:n])
	if used <= 0 || size > 1<<62 {
		return 0, fmt.Errorf("%w: delta at %d of %q", ErrCorrupt, e.data, p.path)
	}
	return int64(size), nil
}

func isPackIndex(name string) bool {
	return strings.HasPrefix(name, "pack-") && strings.HasSuffix(name, ".idx")
}
