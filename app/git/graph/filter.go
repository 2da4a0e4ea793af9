package graph

import (
	"encoding/binary"
	"math/bits"
	"runtime"
	"strings"
)

// Key is a path, prepared for asking filters. Filters know the path of each
// changed file and of the folders that it is in.
type Key struct {
	h0, h1 [3]uint32 // by version of the hash
}

// The seeds that git's filters are made with.
const (
	seed0 = 0x293ae76f
	seed1 = 0x7e646e2c
)

// NewKey prepares a path without slashes at its ends.
func NewKey(path string) Key {
	path = strings.Trim(path, "/")
	var k Key
	for version := 1; version <= 2; version++ {
		k.h0[version] = murmur3(seed0, path, version == 1)
		k.h1[version] = murmur3(seed1, path, version == 1)
	}
	return k
}

// Changed reports whether the commit at pos may change the path, compared
// with its first parent. false is sure; known is false when there is no filter.
func (g *Graph) Changed(pos uint32, key Key) (maybe, known bool) {
	f, n := g.layer(pos)
	if f.filters == nil {
		return true, false
	}
	from := uint32(0)
	if n > 0 {
		from = binary.BigEndian.Uint32(f.filters[4*(n-1):])
	}
	to := binary.BigEndian.Uint32(f.filters[4*n:])
	if from >= to || int(to) > len(f.bits) {
		return true, false // none was made, as for commits that change too much
	}
	filter := f.bits[from:to]
	size := uint64(len(filter)) * 8
	h0, h1 := key.h0[f.version], key.h1[f.version]
	maybe = true
	for i := range f.hashes {
		bit := uint64(h0+i*h1) % size
		if filter[bit/8]&(1<<(bit%8)) == 0 {
			maybe = false
			break
		}
	}
	runtime.KeepAlive(f)
	return maybe, true
}

// murmur3 is MurmurHash3 of 32 bits. The first version of git's filters took
// bytes for signed; signed says to do so too.
func murmur3(seed uint32, s string, signed bool) uint32 {
	at := func(i int) uint32 {
		if signed {
			return uint32(int32(int8(s[i])))
		}
		return uint32(s[i])
	}
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	h := seed
	whole := len(s) &^ 3
	for i := 0; i < whole; i += 4 {
		k := at(i) | at(i+1)<<8 | at(i+2)<<16 | at(i+3)<<24
		h ^= bits.RotateLeft32(k*c1, 15) * c2
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	}
	var k uint32
	switch len(s) & 3 {
	case 3:
		k ^= at(whole+2) << 16
		fallthrough
	case 2:
		k ^= at(whole+1) << 8
		fallthrough
	case 1:
		k ^= at(whole)
		h ^= bits.RotateLeft32(k*c1, 15) * c2
	}
	h ^= uint32(len(s))
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}
