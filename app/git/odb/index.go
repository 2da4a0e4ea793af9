package odb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sort"
)

// windowEntries is how many ids one read of an index brings in.
const windowEntries = 128

// index is a version 2 pack index, read where needed: only its table of first
// bytes is kept in memory.
type index struct {
	file    *os.File
	fanout  [256]uint32
	count   int
	hashLen int
	size    int64
}

func openIndex(path string, hashLen int) (*index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	x := &index{file: f, hashLen: hashLen}
	if err := x.readHeader(); err != nil {
		f.Close()
		return nil, fmt.Errorf("pack index %q: %w", path, err)
	}
	return x, nil
}

func (x *index) readHeader() error {
	var head [8 + 256*4]byte
	if _, err := x.file.ReadAt(head[:], 0); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if !bytes.Equal(head[:8], []byte("\xfftOc\x00\x00\x00\x02")) {
		return fmt.Errorf("%w: not an index of version 2", ErrCorrupt)
	}
	for i := range x.fanout {
		x.fanout[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if i > 0 && x.fanout[i] < x.fanout[i-1] {
			return fmt.Errorf("%w: fan-out is not sorted", ErrCorrupt)
		}
	}
	x.count = int(x.fanout[255])
	info, err := x.file.Stat()
	if err != nil {
		return err
	}
	x.size = info.Size()
	if least := int64(8+256*4) + int64(x.count)*int64(x.hashLen+8) + int64(2*x.hashLen); x.size < least {
		return fmt.Errorf("%w: index is cut short", ErrCorrupt)
	}
	return nil
}

func (x *index) namesAt() int64   { return 8 + 256*4 }
func (x *index) crcsAt() int64    { return x.namesAt() + int64(x.count)*int64(x.hashLen) }
func (x *index) offsetsAt() int64 { return x.crcsAt() + 4*int64(x.count) }
func (x *index) largeAt() int64   { return x.offsetsAt() + 4*int64(x.count) }

func (x *index) bucket(first byte) (lo, hi int) {
	if first > 0 {
		lo = int(x.fanout[first-1])
	}
	return lo, int(x.fanout[first])
}

// find is the position of hash in the index.
func (x *index) find(hash string) (n int, found bool, err error) {
	lo, hi := x.bucket(hash[0])
	n, name, err := x.lowerBound(hash, lo, hi)
	return n, err == nil && name == hash, err
}

// lowerBound is the first position from lo to hi whose name is not below
// prefix, and that name; it is hi and "" when all are below. Ids are spread
// evenly, so the place is guessed and one read is mostly enough.
func (x *index) lowerBound(prefix string, lo, hi int) (n int, name string, err error) {
	bottom, top := lo, hi // all before bottom are below, none from top on is
	var buf []byte
	for try := 0; bottom < top; try++ {
		at := x.guess(prefix, lo, hi, bottom, top, try)
		count := min(windowEntries, top-at)
		if buf == nil {
			buf = make([]byte, windowEntries*x.hashLen)
		}
		part := buf[:count*x.hashLen]
		if _, err := x.file.ReadAt(part, x.namesAt()+int64(at)*int64(x.hashLen)); err != nil {
			return 0, "", fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		i := sort.Search(count, func(i int) bool {
			return string(part[i*x.hashLen:(i+1)*x.hashLen]) >= prefix
		})
		if i > 0 {
			bottom = at + i
		}
		if i < count {
			top, name = at+i, string(part[i*x.hashLen:(i+1)*x.hashLen])
		}
	}
	return top, name, nil
}

// guess is where the next window begins: at the place that the id's digits
// say, then beside it, then halving, so that odd indexes come to an end too.
func (x *index) guess(prefix string, lo, hi, bottom, top, try int) int {
	at := bottom
	switch {
	case top-bottom <= windowEntries:
	case try == 0 && len(prefix) >= 5:
		share := binary.BigEndian.Uint32([]byte(prefix[1:5]))
		at = lo + int(uint64(hi-lo)*uint64(share)>>32) - windowEntries/2
	case try < 3 && top < hi && bottom == lo:
		at = top - windowEntries
	case try < 3 && bottom > lo && top == hi:
	default:
		at = bottom + (top-bottom)/2 - windowEntries/2
	}
	return max(bottom, min(at, top-1))
}

// offset is where object n lies in the pack.
func (x *index) offset(n int) (int64, error) {
	var b [8]byte
	if _, err := x.file.ReadAt(b[:4], x.offsetsAt()+4*int64(n)); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	v := binary.BigEndian.Uint32(b[:4])
	if v&0x80000000 == 0 {
		return int64(v), nil
	}
	if _, err := x.file.ReadAt(b[:8], x.largeAt()+8*int64(v&0x7fffffff)); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	large := binary.BigEndian.Uint64(b[:8])
	if large > 1<<62 {
		return 0, fmt.Errorf("%w: offset out of range", ErrCorrupt)
	}
	return int64(large), nil
}

// prefixed calls found with each id that begins with the digits of p, until it
// says stop.
func (x *index) prefixed(p prefix, found func(hash string) (more bool)) error {
	lo, hi := x.bucket(p.first())
	start, _, err := x.lowerBound(p.low, lo, hi)
	if err != nil {
		return err
	}
	name := make([]byte, x.hashLen)
	for n := start; n < hi; n++ {
		if _, err := x.file.ReadAt(name, x.namesAt()+int64(n)*int64(x.hashLen)); err != nil && err != io.EOF {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if !p.matches(string(name)) || !found(string(name)) {
			return nil
		}
	}
	return nil
}
