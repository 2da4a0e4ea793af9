package git

import (
	"encoding/hex"
	"strings"
)

// OID is an object's id: 40 (SHA-1) or 64 (SHA-256) lower-case hex digits.
type OID string

// Lengths of ids in hex digits.
const (
	sha1Hex   = 40
	sha256Hex = 64
)

// EmptyTree is the id of the tree without entries in SHA-1 repositories. It
// stands for "no commit" in diffs; git knows it without it being stored.
const EmptyTree OID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// emptyTree256 is EmptyTree in SHA-256 repositories.
const emptyTree256 OID = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"

// ParseOID is the id in s, which may be in either case, and whether it is one.
func ParseOID(s string) (OID, bool) {
	if len(s) != sha1Hex && len(s) != sha256Hex {
		return "", false
	}
	if !isHex(s) {
		return "", false
	}
	return OID(strings.ToLower(s)), true
}

// ZeroOID is the all-zero id of the format that has hexLen digits (40 or 64);
// in ref updates it means "does not exist".
func ZeroOID(hexLen int) OID { return OID(strings.Repeat("0", hexLen)) }

// IsZero reports whether o is empty or all zeros: no object.
func (o OID) IsZero() bool { return strings.Trim(string(o), "0") == "" }

// Valid reports whether o is a whole id.
func (o OID) Valid() bool {
	if len(o) != sha1Hex && len(o) != sha256Hex {
		return false
	}
	for i := range len(o) {
		if c := o[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Short is the first seven digits, for people.
func (o OID) Short() string {
	if len(o) < 7 {
		return string(o)
	}
	return string(o[:7])
}

func (o OID) String() string { return string(o) }

// raw is the id's bytes as the object database takes them; "" when invalid.
func (o OID) raw() string {
	if !o.Valid() {
		return ""
	}
	b, err := hex.DecodeString(string(o))
	if err != nil {
		return ""
	}
	return string(b)
}

// oidFromRaw is the id of raw bytes.
func oidFromRaw[T string | []byte](raw T) OID {
	return OID(hex.EncodeToString([]byte(raw)))
}

func isHex(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return s != ""
}
