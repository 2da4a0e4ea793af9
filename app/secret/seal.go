package secret

import (
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// ErrOpen says that sealed bytes were changed, cut, sealed for another purpose
// or sealed under a key that the ring no longer has.
var ErrOpen = errors.New("cannot open sealed value")

// Sealed values are version (1), key id (4), nonce (24), then the ciphertext
// of XChaCha20-Poly1305. The version and key id are authenticated too.
const (
	sealVersion = 1
	headerSize  = 1 + 4
	// Overhead is how many bytes longer a sealed value is than its plaintext.
	Overhead = headerSize + chacha20poly1305.NonceSizeX + chacha20poly1305.Overhead
)

// Seal encrypts plaintext under the current key for purpose. The purpose names
// what the value is and where it belongs ("webhook secret 17"), so that a
// sealed value copied to another place does not open there.
func (r *Ring) Seal(purpose string, plaintext []byte) []byte {
	k := &r.keys[0]
	out := make([]byte, headerSize+chacha20poly1305.NonceSizeX, Overhead+len(plaintext))
	out[0] = sealVersion
	copy(out[1:], k.id[:])
	nonce := out[headerSize:]
	rand.Read(nonce)
	return k.aead(purpose).Seal(out, nonce, plaintext, out[:headerSize])
}

// Open decrypts what Seal made for the same purpose, or fails with ErrOpen.
func (r *Ring) Open(purpose string, sealed []byte) ([]byte, error) {
	if len(sealed) < Overhead {
		return nil, fmt.Errorf("%w: too short", ErrOpen)
	}
	if sealed[0] != sealVersion {
		return nil, fmt.Errorf("%w: unknown version %d", ErrOpen, sealed[0])
	}
	id := [4]byte(sealed[1:headerSize])
	for i := range r.keys {
		if r.keys[i].id != id {
			continue
		}
		body := sealed[headerSize:]
		plain, err := r.keys[i].aead(purpose).Open(nil,
			body[:chacha20poly1305.NonceSizeX], body[chacha20poly1305.NonceSizeX:], sealed[:headerSize])
		if err != nil {
			return nil, fmt.Errorf("%w: wrong purpose or changed bytes", ErrOpen)
		}
		return plain, nil
	}
	return nil, fmt.Errorf("%w: unknown key %x", ErrOpen, id)
}

// Stale says whether sealed was made with an older key than the current one,
// so that it should be sealed again before that key is removed.
func (r *Ring) Stale(sealed []byte) bool {
	return len(sealed) < headerSize || sealed[0] != sealVersion || [4]byte(sealed[1:headerSize]) != r.keys[0].id
}

func (k *ringKey) aead(purpose string) cipher.AEAD {
	aead, err := chacha20poly1305.NewX(k.derive("seal " + purpose))
	if err != nil {
		panic("secret: " + err.Error()) // only for a key of the wrong size
	}
	return aead
}
