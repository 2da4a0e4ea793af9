package secret

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// KeySize is the size of an instance key in bytes.
const KeySize = 32

// maxKeys bounds a key file: rotation keeps old keys only until everything
// they sealed was sealed again.
const maxKeys = 16

// ErrKeyFile says that a key file exists but does not hold keys.
var ErrKeyFile = errors.New("key file is damaged")

// Ring is the instance's keys: the first one seals and signs, all of them
// open and verify. A Ring is immutable and safe for concurrent use.
type Ring struct {
	keys []ringKey
}

type ringKey struct {
	id  [4]byte // public: which key sealed a value
	raw [KeySize]byte
}

// NewRing makes a Ring of the given keys, the current one first.
func NewRing(keys ...[KeySize]byte) (*Ring, error) {
	if len(keys) == 0 || len(keys) > maxKeys {
		return nil, fmt.Errorf("a ring holds 1 to %d keys, not %d", maxKeys, len(keys))
	}
	r := &Ring{keys: make([]ringKey, 0, len(keys))}
	for _, k := range keys {
		sum := sha256.Sum256(append([]byte("gitfor key id\x00"), k[:]...))
		rk := ringKey{raw: k}
		copy(rk.id[:], sum[:])
		for _, other := range r.keys {
			if other.id == rk.id {
				return nil, errors.New("a ring holds each key once")
			}
		}
		r.keys = append(r.keys, rk)
	}
	return r, nil
}

// LoadOrCreateKey reads the key file at path, or makes one with a new random
// key (mode 0600). Two processes that start at the same time end up with the
// same key. The file holds one key a line in hexadecimal, the current first;
// a file of exactly 32 raw bytes is taken as one key.
func LoadOrCreateKey(path string) (*Ring, error) {
	ring, err := LoadKey(path)
	if !errors.Is(err, os.ErrNotExist) {
		return ring, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make folder of key file: %w", err)
	}
	tmp, err := writeTemp(path, encodeKeys([][KeySize]byte{newKey()}))
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(tmp) }()
	// A link, unlike a rename, never replaces the key that another process made.
	if err := os.Link(tmp, path); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("create key file: %w", err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return LoadKey(path)
}

// LoadKey reads an existing key file. The error wraps os.ErrNotExist when
// there is none, and ErrKeyFile when it holds something else.
func LoadKey(path string) (*Ring, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	keys, err := decodeKeys(data)
	if err != nil {
		return nil, fmt.Errorf("read key file %q: %w", path, err)
	}
	return NewRing(keys...)
}

// RotateKey puts a new current key before the ones in the file at path and
// returns the ring with all of them. Running processes use it after a restart.
func RotateKey(path string) (*Ring, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	keys, err := decodeKeys(data)
	if err != nil {
		return nil, fmt.Errorf("read key file %q: %w", path, err)
	}
	keys = append([][KeySize]byte{newKey()}, keys...)
	ring, err := NewRing(keys...)
	if err != nil {
		return nil, err
	}
	tmp, err := writeTemp(path, encodeKeys(keys))
	if err != nil {
		return nil, err
	}
	if err := os.Rename(tmp, path); err != nil {
		_ = os.Remove(tmp)
		return nil, fmt.Errorf("replace key file: %w", err)
	}
	return ring, syncDir(filepath.Dir(path))
}

// MAC returns the HMAC-SHA256 of data under a key derived from the current
// one for purpose.
func (r *Ring) MAC(purpose string, data []byte) [32]byte {
	return r.keys[0].mac(purpose, data)
}

// MACs is MAC under each key of the ring, that of the current one first.
func (r *Ring) MACs(purpose string, data []byte) [][32]byte {
	out := make([][32]byte, len(r.keys))
	for i := range r.keys {
		out[i] = r.keys[i].mac(purpose, data)
	}
	return out
}

// VerifyMAC says, in constant time for each key, whether mac is the MAC of
// data for purpose under any key of the ring.
func (r *Ring) VerifyMAC(purpose string, data []byte, mac [32]byte) bool {
	for i := range r.keys {
		want := r.keys[i].mac(purpose, data)
		if hmac.Equal(want[:], mac[:]) {
			return true
		}
	}
	return false
}

// derive returns the sub-key for purpose (RFC 5869), so that no two uses of
// the instance key can be confused with each other.
func (k *ringKey) derive(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, k.raw[:], nil, "gitfor "+purpose, KeySize)
	if err != nil {
		// hkdf fails only for lengths over 255 hashes or, in FIPS mode, short keys.
		panic("secret: derive key: " + err.Error())
	}
	return key
}

func (k *ringKey) mac(purpose string, data []byte) (sum [32]byte) {
	h := hmac.New(sha256.New, k.derive("mac "+purpose))
	h.Write(data)
	h.Sum(sum[:0])
	return sum
}

func newKey() (k [KeySize]byte) {
	rand.Read(k[:]) // never fails: the runtime stops the program instead
	return k
}

func encodeKeys(keys [][KeySize]byte) []byte {
	var b bytes.Buffer
	for _, k := range keys {
		fmt.Fprintf(&b, "%x\n", k)
	}
	return b.Bytes()
}

func decodeKeys(data []byte) ([][KeySize]byte, error) {
	if len(data) == KeySize {
		return [][KeySize]byte{[KeySize]byte(data)}, nil
	}
	var keys [][KeySize]byte
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		raw, err := hex.DecodeString(string(line))
		// The content stays out of the message: it may be most of a key.
		if err != nil || len(raw) != KeySize {
			return nil, fmt.Errorf("%w: a line is not %d bytes in hexadecimal", ErrKeyFile, KeySize)
		}
		keys = append(keys, [KeySize]byte(raw))
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrKeyFile)
	}
	return keys, nil
}

// writeTemp writes data to a new file beside path (mode 0600), flushed to disk.
func writeTemp(path string, data []byte) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*") // CreateTemp uses mode 0600
	if err != nil {
		return "", fmt.Errorf("create key file: %w", err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("write key file: %w", err)
	}
	return f.Name(), nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the folder of the key file
	if err != nil {
		return fmt.Errorf("flush folder of key file: %w", err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("flush folder of key file: %w", err)
	}
	return nil
}
