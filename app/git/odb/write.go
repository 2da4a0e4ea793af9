package odb

import (
	"crypto/sha1" //nolint:gosec // git's ids are SHA-1; nothing here relies on it being strong
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zlib"
)

// newHash is the hash of ids of hashLen bytes.
func newHash(hashLen int) hash.Hash {
	if hashLen == sha256.Size {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // see above
}

// Write stores size bytes of r as a loose object and is its id. The object is
// on disk when it returns; one that is there already is not written again.
func (db *Database) Write(typ Type, size int64, r io.Reader) (id string, err error) {
	if err := os.MkdirAll(db.path, 0o777); err != nil {
		return "", err
	}
	tmp, err := os.CreateTemp(db.path, "tmp_obj_")
	if err != nil {
		return "", fmt.Errorf("write object: %w", err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
			err = fmt.Errorf("write object: %w", err)
		}
	}()
	sum := newHash(db.hashLen)
	z, err := zlib.NewWriterLevel(tmp, zlib.BestSpeed)
	if err != nil {
		return "", err
	}
	w := io.MultiWriter(sum, z)
	if _, err := fmt.Fprintf(w, "%s %d\x00", typ, size); err != nil {
		return "", err
	}
	n, err := io.Copy(w, io.LimitReader(r, size+1))
	if err != nil {
		return "", err
	}
	if n != size {
		return "", fmt.Errorf("object of %d bytes was announced with %d", n, size)
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	id = string(sum.Sum(nil))
	if there, err := db.Has(id); err == nil && there {
		tmp.Close()
		return id, os.Remove(tmp.Name())
	}
	return id, db.settle(tmp, id)
}

// settle gives the file of an object its final name.
func (db *Database) settle(tmp *os.File, id string) error {
	if err := tmp.Chmod(0o444); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	name := hex.EncodeToString([]byte(id))
	dir := filepath.Join(db.path, name[:2])
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Rename(tmp.Name(), filepath.Join(dir, name[2:]))
}
