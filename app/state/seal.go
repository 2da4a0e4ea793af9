package state

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"slices"

	"golang.org/x/crypto/scrypt"
)

// ErrPassphrase says that a backup's key is sealed and the passphrase is
// missing or another.
var ErrPassphrase = errors.New("the backup's secret key is sealed: give the passphrase with which it was made")

const saltSize = 16

// passphraseCipher derives an AES-256-GCM key from a passphrase by scrypt with
// the parameters that its package recommends for files.
func passphraseCipher(passphrase string, salt []byte) (cipher.AEAD, error) {
	key, err := scrypt.Key([]byte(passphrase), salt, 1<<15, 8, 1, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// sealKey is salt, then nonce and sealed text.
func sealKey(passphrase string, data []byte) ([]byte, error) {
	salt := make([]byte, saltSize)
	if _, err := rand.Read(salt); err != nil {
		return nil, err
	}
	aead, err := passphraseCipher(passphrase, salt)
	if err != nil {
		return nil, err
	}
	return aead.Seal(slices.Clip(salt), nil, data, nil), nil
}

func openKey(passphrase string, sealed []byte) ([]byte, error) {
	if passphrase == "" || len(sealed) < saltSize {
		return nil, ErrPassphrase
	}
	aead, err := passphraseCipher(passphrase, sealed[:saltSize])
	if err != nil {
		return nil, err
	}
	data, err := aead.Open(nil, nil, sealed[saltSize:], nil)
	if err != nil {
		return nil, ErrPassphrase
	}
	return data, nil
}
