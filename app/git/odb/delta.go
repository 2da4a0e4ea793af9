package odb

import (
	"encoding/binary"
	"fmt"
)

// applyDelta is what delta makes of base (gitformat-pack(5), "Deltified
// representation").
func applyDelta(base, delta []byte) ([]byte, error) {
	bad := fmt.Errorf("%w: delta", ErrCorrupt)
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return nil, bad
	}
	delta = delta[n:]
	size, n := binary.Uvarint(delta)
	// A copy of 7 bytes makes at most 16 MiB.
	if n <= 0 || size > uint64(len(delta))<<24 {
		return nil, bad
	}
	delta = delta[n:]
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(delta) {
				return nil, bad
			}
			out = append(out, delta[:op]...)
			delta = delta[op:]
		} else {
			offset, length, rest, ok := copyRange(op, delta)
			if !ok || offset+length > len(base) {
				return nil, bad
			}
			out = append(out, base[offset:offset+length]...)
			delta = rest
		}
		if uint64(len(out)) > size {
			return nil, bad
		}
	}
	if uint64(len(out)) != size {
		return nil, bad
	}
	return out, nil
}

// copyRange reads the operands of a copy instruction.
func copyRange(op byte, delta []byte) (offset, length int, rest []byte, ok bool) {
	for bit := range 7 {
		if op&(1<<bit) == 0 {
			continue
		}
		if len(delta) == 0 {
			return 0, 0, nil, false
		}
		if bit < 4 {
			offset |= int(delta[0]) << (8 * bit)
		} else {
			length |= int(delta[0]) << (8 * (bit - 4))
		}
		delta = delta[1:]
	}
	if length == 0 {
		length = 0x10000
	}
	return offset, length, delta, true
}
