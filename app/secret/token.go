package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
)

// Kind says what a token is for.
type Kind string

// The kinds of tokens. A dep or job token is owned by a repository, every
// other kind by an account.
const (
	Personal     Kind = "pat" // personal access token
	Deploy       Kind = "dep" // deploy token
	Job          Kind = "job" // CI job token
	OAuthAccess  Kind = "oat" // OAuth access token
	OAuthRefresh Kind = "ort" // OAuth refresh token
	Runner       Kind = "run" // runner credential
	Session      Kind = "ses" // session cookie
)

// known reports whether k is one of the kinds above.
func (k Kind) known() bool {
	switch k {
	case Personal, Deploy, Job, OAuthAccess, OAuthRefresh, Runner, Session:
		return true
	}
	return false
}

// ErrToken says that a text is not a token that this instance made: a typo,
// a forgery or another instance's token. It needs no query to find out.
var ErrToken = errors.New("not a token of this instance")

// Layout of a token: g1t_<kind>_ then, all in base 62, the owner's id, the
// random part, the keyed check and the CRC-32 of these three, which secret
// scanners can verify without the key.
const (
	tokenPrefix = "g1t_"
	ownerLen    = 11 // any int64
	randomLen   = 30 // 178 bits
	checkLen    = 8  // 47 bits of HMAC-SHA256
	crcLen      = 6
	bodyLen     = ownerLen + randomLen + checkLen
	headLen     = len(tokenPrefix) + 3 + 1
	// TokenLen is the length of every token in bytes.
	TokenLen = headLen + bodyLen + crcLen
)

// TokenPattern matches tokens, for scanners and for masking logs.
const TokenPattern = `g1t_(?:pat|dep|job|oat|ort|run|ses)_[0-9A-Za-z]{55}`

// Tokens makes and checks tokens under the instance's keys. It is safe for
// concurrent use.
type Tokens struct {
	ring *Ring
}

// NewTokens returns a Tokens over ring.
func NewTokens(ring *Ring) *Tokens { return &Tokens{ring: ring} }

// New makes a token of the given kind for the owner and returns it together
// with its SHA-256, which alone is to be stored. It panics for an unknown kind
// or a negative owner id, which are mistakes of the caller.
func (t *Tokens) New(kind Kind, ownerID int64) (token string, hash [32]byte) {
	if !kind.known() || ownerID < 0 {
		panic("secret: new token of unknown kind or negative owner")
	}
	b := make([]byte, 0, TokenLen)
	b = append(b, tokenPrefix...)
	b = append(b, kind...)
	b = append(b, '_')
	b = appendBase62(b, uint64(ownerID), ownerLen)
	b = appendRandom62(b, randomLen)
	b = appendBase62(b, t.ring.keys[0].check(b), checkLen)
	b = appendBase62(b, uint64(crc32.ChecksumIEEE(b[headLen:])), crcLen)
	return string(b), sha256.Sum256(b)
}

// Parse takes a token apart. It fails with ErrToken when the form, the
// checksum or the keyed check is wrong; whether the token was revoked or has
// expired is for the owner's store to say, found by hash.
func (t *Tokens) Parse(token string) (kind Kind, ownerID int64, hash [32]byte, err error) {
	if len(token) != TokenLen || !strings.HasPrefix(token, tokenPrefix) || token[headLen-1] != '_' {
		return "", 0, hash, ErrToken
	}
	kind = Kind(token[len(tokenPrefix) : headLen-1])
	if !kind.known() {
		return "", 0, hash, ErrToken
	}
	body := token[headLen : headLen+bodyLen]
	crc, ok := parseBase62(token[headLen+bodyLen:])
	if !ok || crc != uint64(crc32.ChecksumIEEE([]byte(body))) {
		return "", 0, hash, ErrToken
	}
	owner, ok := parseBase62(body[:ownerLen])
	if !ok || owner > 1<<63-1 {
		return "", 0, hash, ErrToken
	}
	signed, check := []byte(token[:headLen+ownerLen+randomLen]), body[ownerLen+randomLen:]
	for i := range t.ring.keys {
		want := appendBase62(nil, t.ring.keys[i].check(signed), checkLen)
		if hmac.Equal(want, []byte(check)) {
			return kind, int64(owner), Hash(token), nil
		}
	}
	return "", 0, hash, ErrToken
}

// LooksLikeToken says whether s has a token's form and checksum, without
// asking whose it is: for secret scanning.
func LooksLikeToken(s string) bool {
	if len(s) != TokenLen || !strings.HasPrefix(s, tokenPrefix) || s[headLen-1] != '_' || !Kind(s[len(tokenPrefix):headLen-1]).known() {
		return false
	}
	crc, ok := parseBase62(s[headLen+bodyLen:])
	return ok && crc == uint64(crc32.ChecksumIEEE([]byte(s[headLen:headLen+bodyLen])))
}

// Hash returns the SHA-256 of a token, the form in which tokens are stored.
func Hash(token string) [32]byte { return sha256.Sum256([]byte(token)) }

// Equal compares two hashes in constant time.
func Equal(a, b [32]byte) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

// EqualText compares two texts in a time that depends on neither's content
// nor on where they differ.
func EqualText(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// check returns the keyed check of a token's head, owner and random part.
func (k *ringKey) check(signed []byte) uint64 {
	sum := k.mac("token", signed)
	return binary.BigEndian.Uint64(sum[:]) % (62 * 62 * 62 * 62 * 62 * 62 * 62 * 62)
}

const digits62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// appendBase62 appends n as exactly width digits, the most significant first.
func appendBase62(b []byte, n uint64, width int) []byte {
	start := len(b)
	for range width {
		b = append(b, '0')
	}
	for i := len(b) - 1; i >= start; i-- {
		b[i] = digits62[n%62]
		n /= 62
	}
	return b
}

// parseBase62 reads at most 11 digits; false for other characters and for
// values over 64 bits, so that each number has one form of a given width.
func parseBase62(s string) (n uint64, ok bool) {
	for i := range len(s) {
		var d uint64
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			d = uint64(c - '0')
		case 'A' <= c && c <= 'Z':
			d = uint64(c-'A') + 10
		case 'a' <= c && c <= 'z':
			d = uint64(c-'a') + 36
		default:
			return 0, false
		}
		if n > (1<<64-1-d)/62 {
			return 0, false
		}
		n = n*62 + d
	}
	return n, len(s) > 0
}

// appendRandom62 appends n uniformly random digits.
func appendRandom62(b []byte, n int) []byte {
	var buf [64]byte
	for {
		rand.Read(buf[:])
		for _, c := range buf {
			if n == 0 {
				return b
			}
			if c >= 4*62 { // reject, so that no digit is likelier than another
				continue
			}
			b = append(b, digits62[c%62])
			n--
		}
	}
}
