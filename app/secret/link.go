package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"
)

// ErrLink says that a link's token was not made here, or for another purpose.
var ErrLink = errors.New("not a valid link")

// ErrLinkExpired says that a link was valid once.
var ErrLinkExpired = errors.New("link has expired")

// A link token is owner (8 bytes), expiry in Unix seconds (8), random (20) and
// 16 bytes of HMAC, in URL-safe base 64.
const (
	linkSigned = 8 + 8 + 20
	linkMAC    = 16
)

// NewLink makes a token for an address that is sent by mail or printed once:
// confirm an address, add a passkey, answer by mail. It is good for purpose
// and until expires only. To make it good for one use, store the hash and
// delete it when the link is followed.
func (t *Tokens) NewLink(purpose string, ownerID int64, expires time.Time) (token string, hash [32]byte) {
	b := make([]byte, linkSigned, linkSigned+linkMAC)
	binary.BigEndian.PutUint64(b, uint64(ownerID))
	binary.BigEndian.PutUint64(b[8:], uint64(expires.Unix()))
	rand.Read(b[16:])
	mac := t.ring.MAC("link "+purpose, b)
	b = append(b, mac[:linkMAC]...)
	token = base64.RawURLEncoding.EncodeToString(b)
	return token, sha256.Sum256([]byte(token))
}

// ParseLink checks a token that NewLink made for the same purpose and returns
// its owner and hash. The error is ErrLink or, after its time, ErrLinkExpired.
func (t *Tokens) ParseLink(purpose, token string, now time.Time) (ownerID int64, hash [32]byte, err error) {
	if len(token) != base64.RawURLEncoding.EncodedLen(linkSigned+linkMAC) {
		return 0, hash, ErrLink
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return 0, hash, ErrLink
	}
	signed, mac := b[:linkSigned], b[linkSigned:]
	valid := false
	for i := range t.ring.keys {
		want := t.ring.keys[i].mac("link "+purpose, signed)
		valid = valid || hmac.Equal(want[:linkMAC], mac)
	}
	if !valid {
		return 0, hash, ErrLink
	}
	if expires := int64(binary.BigEndian.Uint64(b[8:])); now.Unix() >= expires {
		return 0, hash, ErrLinkExpired
	}
	return int64(binary.BigEndian.Uint64(b)), Hash(token), nil
}
