package odb

import "encoding/hex"

// prefix is the beginning of an id: whole bytes and perhaps half of one more.
type prefix struct {
	low  string // the least id that begins so, without its trailing zeros
	full string // the whole bytes
	half bool
	nib  byte // the upper half of the byte after full
}

// MinPrefix is the least number of digits of a short id, as in git.
const MinPrefix = 4

// parsePrefix reads hex digits; ok is false when they are none or too few.
func parsePrefix(digits string) (p prefix, ok bool) {
	if len(digits) < MinPrefix {
		return prefix{}, false
	}
	whole, err := hex.DecodeString(digits[:len(digits)&^1])
	if err != nil {
		return prefix{}, false
	}
	p.full, p.low = string(whole), string(whole)
	if len(digits)%2 == 1 {
		last, err := hex.DecodeString(digits[len(digits)-1:] + "0")
		if err != nil {
			return prefix{}, false
		}
		p.half, p.nib = true, last[0]
		p.low += string(last)
	}
	return p, true
}

func (p prefix) first() byte { return p.low[0] }

func (p prefix) matches(hash string) bool {
	if len(hash) < len(p.low) || hash[:len(p.full)] != p.full {
		return false
	}
	return !p.half || hash[len(p.full)]&0xf0 == p.nib
}
