package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"strings"
)

// RecoveryCount is how many recovery codes a person gets at a time.
const RecoveryCount = 10

const (
	recoveryLen = 12 // 60 bits
	// Crockford's base 32: no I, L, O or U. https://www.crockford.com/base32.html
	digits32 = "0123456789abcdefghjkmnpqrstvwxyz"
)

// ErrRecoveryCode says that a text cannot be a recovery code.
var ErrRecoveryCode = errors.New("a recovery code has 12 letters and digits, like 7k3m-x2pw-09qr")

// NewRecoveryCodes returns RecoveryCount new codes, to be shown once.
func NewRecoveryCodes() []string {
	codes := make([]string, RecoveryCount)
	for i := range codes {
		var raw [recoveryLen]byte
		rand.Read(raw[:])
		var b strings.Builder
		for j, c := range raw {
			if j > 0 && j%4 == 0 {
				b.WriteByte('-')
			}
			b.WriteByte(digits32[c%32]) // 256 is a multiple of 32
		}
		codes[i] = b.String()
	}
	return codes
}

// NormalizeRecoveryCode turns what a person typed into the form that
// NewRecoveryCodes made: case, spaces and hyphens do not matter, and O, I and L
// are read as the digits that they look like.
func NormalizeRecoveryCode(typed string) (string, error) {
	if len(typed) > 100 {
		return "", ErrRecoveryCode
	}
	var b strings.Builder
	n := 0
	for _, c := range strings.ToLower(typed) {
		switch c {
		case ' ', '\t', '\r', '\n', '\u00a0', '-', '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2212':
			continue
		case 'o':
			c = '0'
		case 'i', 'l':
			c = '1'
		}
		if !strings.ContainsRune(digits32, c) || n == recoveryLen {
			return "", ErrRecoveryCode
		}
		if n > 0 && n%4 == 0 {
			b.WriteByte('-')
		}
		b.WriteRune(c)
		n++
	}
	if n != recoveryLen {
		return "", ErrRecoveryCode
	}
	return b.String(), nil
}

// HashRecoveryCode returns what to store of an owner's code: an HMAC under the
// instance's key, so that a stolen database alone does not give 60-bit codes
// away to guessing. The code must be normalised.
func (r *Ring) HashRecoveryCode(ownerID int64, code string) [32]byte {
	return r.MAC("recovery code", recoveryData(ownerID, code))
}

// MatchRecoveryCode returns the index in stored of the hash of what the owner
// typed, under any key of the ring, or -1.
func (r *Ring) MatchRecoveryCode(ownerID int64, typed string, stored [][32]byte) int {
	code, err := NormalizeRecoveryCode(typed)
	if err != nil {
		return -1
	}
	found, data := -1, recoveryData(ownerID, code)
	for k := range r.keys {
		want := r.keys[k].mac("recovery code", data)
		for i := range stored {
			if hmac.Equal(want[:], stored[i][:]) {
				found = i
			}
		}
	}
	return found
}

func recoveryData(ownerID int64, code string) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(ownerID)), code...)
}
